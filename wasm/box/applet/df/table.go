package df

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
)

func (o *options) setUnit(v string) error {
	n, err := applet.ParseSize(v, "KMGTPEZYkm")
	if err != nil || n == 0 {
		return errors.New("invalid --block-size argument " + applet.Quote(v))
	}
	o.unit, o.human = n, 0
	return nil
}

// fields are the columns that --output knows, in the order of --output alone.
var fields = []string{"source", "fstype", "itotal", "iused", "iavail", "ipcent", "size", "used", "avail", "pcent", "file", "target"}

func (o *options) setColumns(list string, given bool) error {
	if !given {
		o.columns = fields
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		switch {
		case !slices.Contains(fields, name):
			return applet.UsageError("option --output: field " + applet.Curly(name) + " unknown")
		case slices.Contains(o.columns, name):
			return applet.UsageError("option --output: field " + applet.Curly(name) + " used more than once")
		}
		o.columns = append(o.columns, name)
	}
	return nil
}

// cell is a text and the least width of its column, negative for the left.
type cell struct {
	text  string
	width int
}

// rows are the titles and a row for each file system. Those that nothing can
// be written to are left out unless they were named.
func (o *options) rows(f facts, list []mount, named bool) [][]cell {
	columns := o.columns
	if columns == nil {
		columns = []string{"source", "size", "used", "avail", "pcent", "target"}
		if o.inodes {
			columns = []string{"source", "itotal", "iused", "iavail", "ipcent", "target"}
		}
		if o.kind {
			columns = slices.Insert(columns, 1, "fstype")
		}
	}
	row := func(of func(string) cell) []cell {
		var r []cell
		for _, name := range columns {
			r = append(r, of(name))
		}
		return r
	}
	rows := [][]cell{row(o.title)}
	for _, m := range list {
		if !named && !m.writable && !o.all || o.only != nil && !slices.Contains(o.only, m.kind) || slices.Contains(o.without, m.kind) {
			continue
		}
		rows = append(rows, row(func(name string) cell { return o.value(name, m, f) }))
	}
	if o.total && len(rows) > 1 {
		all := mount{source: "total", target: "-", kind: "-", writable: true}
		if !slices.Contains(columns, "source") {
			all.target = "total"
		}
		rows = append(rows, row(func(name string) cell { return o.value(name, all, f) }))
	}
	return rows
}

func (o *options) title(name string) cell {
	switch name {
	case "source":
		return cell{"Filesystem", -14}
	case "fstype":
		return cell{"Type", -4}
	case "file":
		return cell{"File", -4}
	case "target":
		return cell{"Mounted on", -1}
	case "itotal":
		return cell{"Inodes", 5}
	case "iused":
		return cell{"IUsed", 5}
	case "iavail":
		return cell{"IFree", 5}
	case "ipcent":
		return cell{"IUse%", 4}
	case "size":
		return cell{o.sizeTitle(), 5}
	case "used":
		return cell{"Used", 5}
	case "avail":
		if o.human > 0 && !o.posix || o.columns != nil {
			return cell{"Avail", 5}
		}
		return cell{"Available", 5}
	}
	if o.posix && o.human == 0 {
		return cell{"Capacity", 4}
	}
	return cell{"Use%", 4}
}

func (o *options) sizeTitle() string {
	switch {
	case o.human > 0:
		return "Size"
	case o.posix:
		return strconv.FormatInt(o.unit, 10) + "-blocks"
	}
	for _, step := range []int64{1024, 1000} {
		n, power := o.unit, 0
		for n%step == 0 && power < 6 {
			n /= step
			power++
		}
		if power > 0 && n < step {
			unit := "KMGTPE"[power-1 : power]
			if step == 1000 {
				unit = "kMGTPE"[power-1:power] + "B"
			}
			return strconv.FormatInt(n, 10) + unit + "-blocks"
		}
	}
	return strconv.FormatInt(o.unit, 10) + "B-blocks"
}

func (o *options) value(name string, m mount, f facts) cell {
	title := o.title(name)
	n := f.bytes
	if name[0] == 'i' {
		n = f.names
	}
	if !m.writable {
		n = counted{}
	}
	amount := func(v int64) string {
		switch {
		case n.most < 0: // there is no bound
			return "-"
		case name[0] == 'i' && o.human == 0:
			return strconv.FormatInt(v, 10)
		case o.human > 0:
			return applet.Human(v, o.human)
		}
		return strconv.FormatInt((v+o.unit-1)/o.unit, 10)
	}
	switch name {
	case "source":
		title.text = m.source
	case "fstype":
		title.text = m.kind
	case "file":
		if title.text = m.file; m.file == "" {
			title.text = "-"
		}
	case "target":
		title.text = m.target
	case "size", "itotal":
		title.text = amount(n.most)
	case "used", "iused":
		title.text = amount(n.used)
	case "avail", "iavail":
		title.text = amount(max(0, n.most-n.used))
	default:
		title.text = "-"
		if n.most > 0 {
			title.text = strconv.FormatInt((100*n.used+n.most-1)/n.most, 10) + "%"
		}
	}
	return title
}

// align sets columns under each other; the last one ends where its text does.
func align(rows [][]cell) string {
	var b []byte
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c.text), c.width, -c.width)
		}
	}
	for _, r := range rows {
		for i, c := range r {
			if i > 0 {
				b = append(b, ' ')
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c.text))
			switch {
			case c.width > 0:
				b = append(append(b, pad...), c.text...)
			case i == len(r)-1:
				b = append(b, c.text...)
			default:
				b = append(append(b, c.text...), pad...)
			}
		}
		b = append(b, '\n')
	}
	return string(b)
}
