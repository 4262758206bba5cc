package ls

import (
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/cformat"
	"github.com/donax-sh/donax/wasm/box/applet"
)

// print writes files in the chosen format. dir is "" for operands, else a
// folder whose total may stand before them.
func (l *lister) print(files []file, dir string) {
	if dir != "" && (l.format == long || l.blocks) {
		sum := int64(0)
		for i := range files {
			if files[i].info != nil {
				sum += applet.Blocks(files[i].info)
			}
		}
		l.out = append(append(append(l.out, "total "...), l.sizeOfBlocks(sum)...), l.eol)
	}
	switch l.format {
	case long:
		l.long(files)
	case single:
		w := l.measure(files)
		for i := range files {
			l.out = append(l.name(l.prefix(l.out, &files[i], w), &files[i]), l.eol)
			if len(l.out) >= applet.BufSize && !l.flush() {
				return
			}
		}
	default:
		l.layout(files)
	}
}

func (l *lister) sizeOfBlocks(n int64) string {
	if l.human != 0 {
		return applet.Human(n*512, l.human)
	}
	return strconv.FormatInt((n+1)/2, 10)
}

// widths are those of the columns.
type widths struct{ inode, blocks, links, owner, group, size int }

func (l *lister) measure(files []file) widths {
	w := l.least
	for i := range files {
		f := &files[i]
		if f.info == nil {
			w.inode, w.blocks = max(w.inode, 1), max(w.blocks, 1)
			w.links, w.size = max(w.links, 1), max(w.size, 1)
			continue
		}
		if l.inode {
			w.inode = max(w.inode, len(l.inodeOf(f)))
		}
		if l.blocks {
			w.blocks = max(w.blocks, len(l.sizeOfBlocks(applet.Blocks(f.info))))
		}
		if l.format == long {
			w.links = max(w.links, len(strconv.FormatUint(applet.Stat(f.info).Nlink, 10)))
			w.size = max(w.size, len(l.sizeOf(f)))
		}
	}
	w.owner = len(l.owner())
	return w
}

func (l *lister) inodeOf(f *file) string {
	if f.info == nil {
		return "?"
	}
	return strconv.FormatUint(applet.Stat(f.info).Ino, 10)
}

func (l *lister) sizeOf(f *file) string {
	if l.human != 0 {
		return applet.Human(f.info.Size(), l.human)
	}
	return strconv.FormatInt(f.info.Size(), 10)
}

func (l *lister) owner() string {
	if l.numeric {
		return strconv.Itoa(applet.UserID)
	}
	return applet.UserName
}

// prefix appends inode and blocks.
func (l *lister) prefix(b []byte, f *file, w widths) []byte {
	if l.inode {
		b = append(applet.AppendPad(b, l.inodeOf(f), w.inode), ' ')
	}
	if l.blocks {
		s := "?"
		if f.info != nil {
			s = l.sizeOfBlocks(applet.Blocks(f.info))
		}
		b = append(applet.AppendPad(b, s, w.blocks), ' ')
	}
	return b
}

func (l *lister) long(files []file) {
	w := l.measure(files)
	now := time.Now()
	owner := l.owner()
	for i := range files {
		f := &files[i]
		b := l.prefix(l.out, f, w)
		if f.info == nil {
			b = append(b, unknownMode(f.mode)...)
			b = append(applet.AppendPad(append(b, ' '), "?", w.links), ' ')
			for _, shown := range []bool{!l.noOwner, !l.noGroup, l.author} {
				if shown {
					b = append(b, '?')
					b = append(b, strings.Repeat(" ", w.owner)...)
				}
			}
			b = append(applet.AppendPad(b, "?", w.size), ' ')
			b = append(applet.AppendPad(b, "?", 12), ' ')
			l.out = append(l.name(b, f), l.eol)
			continue
		}
		b = append(b, applet.ModeString(f.mode)...)
		b = applet.AppendPad(append(b, ' '), strconv.FormatUint(applet.Stat(f.info).Nlink, 10), w.links)
		for _, shown := range []bool{!l.noOwner, !l.noGroup, l.author} {
			if shown {
				b = append(append(b, ' '), owner...)
			}
		}
		b = applet.AppendPad(append(b, ' '), l.sizeOf(f), w.size)
		b = l.appendTime(append(b, ' '), l.timeOf(f), now)
		b = l.name(append(b, ' '), f)
		l.out = append(b, l.eol)
		if len(l.out) >= applet.BufSize && !l.flush() {
			return
		}
	}
}

func unknownMode(m fs.FileMode) string { return applet.ModeString(m)[:1] + "?????????" }

// halfYear is the age from which on the year is shown instead of the time.
const halfYear = 31556952 * time.Second / 2

func (l *lister) appendTime(b []byte, t, now time.Time) []byte {
	t = t.In(time.Local)
	recent := t.After(now.Add(-halfYear)) && !t.After(now)
	switch l.timeStyle {
	case "full-iso":
		return cformat.AppendTime(b, "%Y-%m-%d %H:%M:%S.%N %z", t)
	case "long-iso":
		return cformat.AppendTime(b, "%Y-%m-%d %H:%M", t)
	case "iso":
		if recent {
			return cformat.AppendTime(b, "%m-%d %H:%M", t)
		}
		return cformat.AppendTime(b, "%Y-%m-%d ", t)
	case "locale":
		if recent {
			return cformat.AppendTime(b, "%b %e %H:%M", t)
		}
		return cformat.AppendTime(b, "%b %e  %Y", t)
	}
	old, new, two := strings.Cut(l.timeStyle[1:], "\n")
	if two && recent {
		old = new
	}
	return cformat.AppendTime(b, old, t)
}

// name appends the name with its colour, target and mark.
func (l *lister) name(b []byte, f *file) []byte {
	code := ""
	if l.color {
		code = colorOf(f)
	}
	b = l.appendColored(b, l.quoteName(f.name), code)
	if f.mode&fs.ModeSymlink != 0 && l.format == long {
		if f.target == "" {
			return b
		}
		b = append(append(b, " -> "...), l.quoteName(f.target)...)
		if f.broken {
			return b
		}
		if c := l.indicatorOf(f.to); c != 0 && l.indicator != slash {
			b = append(b, c)
		}
		return b
	}
	if c := l.indicatorOf(f.mode); c != 0 {
		b = append(b, c)
	}
	return b
}

// layout writes the formats that put several names in a line.
func (l *lister) layout(files []file) {
	if len(files) == 0 {
		return
	}
	w := l.measure(files)
	if l.format == commas {
		w = widths{}
	}
	cells := make([]string, len(files))
	lengths := make([]int, len(files))
	for i := range files {
		f := &files[i]
		cells[i] = string(l.name(l.prefix(nil, f, w), f))
		lengths[i] = displayWidth(string(l.prefix(nil, f, w))) + displayWidth(l.quoteName(f.name))
		if l.indicatorOf(f.mode) != 0 {
			lengths[i]++
		}
	}
	if l.format == commas {
		pos := 0
		for i, c := range cells {
			if i > 0 {
				l.out = append(l.out, ',')
				if pos+lengths[i]+2 < l.width {
					l.out = append(l.out, ' ')
					pos += 2
				} else {
					l.out = append(l.out, l.eol)
					pos = 0
				}
			}
			l.out = append(l.out, c...)
			pos += lengths[i]
		}
		l.out = append(l.out, l.eol)
		return
	}
	cols, colWidths := fit(lengths, l.width, l.format == columns)
	rows := (len(files) + cols - 1) / cols
	for r := range rows {
		pos := 0
		for c := range cols {
			i := r*cols + c
			if l.format == columns {
				i = c*rows + r
			}
			if i >= len(files) {
				break
			}
			l.out = append(l.out, cells[i]...)
			end := pos + colWidths[c]
			pos += lengths[i]
			last := c == cols-1 || l.format == columns && i+rows >= len(files) || l.format == across && i == len(files)-1
			if !last {
				l.indent(pos, end)
				pos = end
			}
		}
		l.out = append(l.out, l.eol)
	}
}

// indent fills the line from one column to the next one with tabs and spaces.
func (l *lister) indent(from, to int) {
	for from < to {
		if to/8 > (from+1)/8 {
			l.out = append(l.out, '\t')
			from += 8 - from%8
		} else {
			l.out = append(l.out, ' ')
			from++
		}
	}
}

// fit finds the largest number of columns, of at least 3 each, whose widths
// fit in a line.
func fit(lengths []int, width int, byColumns bool) (cols int, widths []int) {
	most := min(len(lengths), max(1, width/3))
	for cols = most; cols > 1; cols-- {
		rows := (len(lengths) + cols - 1) / cols
		widths = make([]int, cols)
		for i := range widths {
			widths[i] = 3
		}
		for i, n := range lengths {
			c := i % cols
			if byColumns {
				c = i / rows
			}
			if c != cols-1 {
				n += 2
			}
			widths[c] = max(widths[c], n)
		}
		sum := 0
		for _, w := range widths {
			sum += w
		}
		if sum < width {
			return cols, widths
		}
	}
	return 1, []int{3}
}
