package html2md

import (
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

type options struct {
	base              string
	noLinks, noImages bool
}

// writer builds Markdown. Inline text collects until a block ends.
type writer struct {
	o      options
	base   weburl.URL
	quoted int // quotes of the block before
	out    strings.Builder
	line   strings.Builder // the block at hand
	space  bool            // white space is due before the next word

	lists   []list
	quotes  int
	pre     int    // inside <pre>
	code    int    // inside <code>
	marker  string // of the list item that begins
	heading int
	links   []link
	loose   bool // an empty line is due before the next block
	rows    [][]string
	row     []string
	tables  int // depth
}

type list struct {
	ordered bool
	next    int
}

type link struct {
	href string
	at   int // where its text begins in line
}

var blocks = map[string]bool{
	"p": true, "div": true, "section": true, "article": true, "header": true, "footer": true, "main": true, "aside": true, "nav": true, "figure": true,
	"figcaption": true, "address": true, "form": true, "fieldset": true, "details": true, "summary": true, "dl": true, "dt": true, "dd": true, "body": true, "html": true,
}

// convert turns a page into Markdown.
func convert(s string, o options) []byte {
	w := &writer{o: o}
	w.base, _ = weburl.Parse(o.base) // run has checked it
	for s != "" {
		var t token
		t, s = next(s)
		switch {
		case t.name == "":
			w.text(t.text)
			continue
		case !t.end && raw[t.name]:
			end := indexFold(s, "</"+t.name)
			content := s[:end]
			if s = s[end:]; s != "" {
				_, s = next(s)
			}
			if t.name == "title" {
				if title := strings.Join(strings.Fields(unescape(content)), " "); title != "" {
					w.flush()
					w.block("# " + title)
					w.flush()
				}
			}
			continue
		}
		w.tag(t)
	}
	w.flush()
	return []byte(w.out.String())
}

// indexFold finds lower-case ASCII text in any case; at the end if it is not
// there.
func indexFold(s, low string) int {
	for i := 0; i+len(low) <= len(s); i++ {
		j := strings.IndexByte(s[i:], low[0])
		if j < 0 {
			break
		}
		if i += j; i+len(low) <= len(s) && strings.EqualFold(s[i:i+len(low)], low) {
			return i
		}
	}
	return len(s)
}

func (w *writer) text(s string) {
	if w.pre > 0 {
		w.line.WriteString(s)
		return
	}
	if w.tables > 0 && w.row == nil { // white space between cells
		return
	}
	for s != "" {
		n := strings.IndexAny(s, " \t\r\n\f")
		if n == 0 {
			w.space = true
			s = strings.TrimLeft(s, " \t\r\n\f")
			continue
		}
		if n < 0 {
			n = len(s)
		}
		w.word(s[:n])
		s = s[n:]
	}
}

var escaper = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", `\<`)

func (w *writer) word(s string) {
	w.gap()
	if w.code == 0 {
		s = escaper.Replace(s)
	}
	w.line.WriteString(s)
}

// gap writes the white space that is due.
func (w *writer) gap() {
	if w.space && w.line.Len() > 0 && !strings.HasSuffix(w.line.String()[max(0, w.line.Len()-1):], "\n") {
		w.line.WriteByte(' ')
	}
	w.space = false
}

// mark writes a mark round inline text: before it after the white space, after
// it without.
func (w *writer) mark(s string, end bool) {
	if w.pre > 0 {
		return
	}
	if end {
		w.line.WriteString(s)
		return
	}
	w.gap()
	w.line.WriteString(s)
}

func (w *writer) tag(t token) {
	switch t.name {
	case "br":
		if w.pre > 0 {
			w.line.WriteByte('\n')
		} else if w.row == nil && w.line.Len() > 0 {
			w.line.WriteString("  \n")
		} else {
			w.space = true
		}
	case "hr":
		w.flush()
		w.block("---")
		w.flush()
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.flush()
		if w.heading = int(t.name[1] - '0'); t.end {
			w.heading = 0
		}
	case "strong", "b":
		w.mark("**", t.end)
	case "em", "i":
		w.mark("*", t.end)
	case "del", "s", "strike":
		w.mark("~~", t.end)
	case "code", "kbd", "samp", "tt":
		w.mark("`", t.end)
		w.code = max(0, w.code+step(t))
	case "pre":
		w.flush()
		w.pre = max(0, w.pre+step(t))
	case "blockquote":
		w.flush()
		w.quotes = max(0, w.quotes+step(t))
	case "a":
		w.anchor(t)
	case "img":
		if src, ok := t.value("src"); ok && !w.o.noImages {
			alt, _ := t.value("alt")
			w.gap()
			w.line.WriteString("![" + strings.Join(strings.Fields(alt), " ") + "](" + w.target(src) + ")")
		}
	case "ul", "ol":
		w.flush()
		if !t.end {
			l := list{ordered: t.name == "ol", next: 1}
			if n, err := strconv.Atoi(first(t.value("start"))); err == nil {
				l.next = n
			}
			w.lists = append(w.lists, l)
		} else if len(w.lists) > 0 {
			w.lists = w.lists[:len(w.lists)-1]
		}
		w.loose = w.loose || len(w.lists) == 0
	case "li":
		w.flush()
		if !t.end {
			w.item()
		}
	case "table", "tr", "td", "th":
		w.table(t)
	default:
		if blocks[t.name] && w.row == nil {
			w.flush()
			w.loose = w.loose || len(w.lists) == 0
		}
	}
}

func first(s string, _ bool) string { return s }

func step(t token) int {
	if t.end {
		return -1
	}
	return 1
}

func (w *writer) item() {
	if len(w.lists) == 0 {
		w.lists = append(w.lists, list{})
	}
	l := &w.lists[len(w.lists)-1]
	w.marker = "- "
	if l.ordered {
		w.marker = strconv.Itoa(l.next) + ". "
		l.next++
	}
}

func (w *writer) anchor(t token) {
	if w.o.noLinks || w.pre > 0 {
		return
	}
	if !t.end {
		href, ok := t.value("href")
		if ok {
			w.gap()
		} else {
			href = ""
		}
		w.links = append(w.links, link{href, w.line.Len()})
		return
	}
	if len(w.links) == 0 {
		return
	}
	l := w.links[len(w.links)-1]
	w.links = w.links[:len(w.links)-1]
	whole := w.line.String()
	if l.href == "" || l.at > len(whole) || strings.TrimSpace(whole[l.at:]) == "" {
		return
	}
	w.line.Reset()
	w.line.WriteString(whole[:l.at] + "[" + strings.TrimSpace(whole[l.at:]) + "](" + w.target(l.href) + ")")
}

// target resolves a link and makes it one word.
func (w *writer) target(href string) string {
	href = strings.TrimSpace(href)
	if w.o.base != "" && !strings.HasPrefix(href, "#") && !hasScheme(href) {
		if u, err := w.base.Follow(href); err == nil {
			href = u.String()
		}
	}
	return strings.NewReplacer(" ", "%20", "\n", "", "\t", "", "(", "%28", ")", "%29").Replace(href)
}

// hasScheme tells whether a link stands for itself: mailto:x, https://x.
func hasScheme(href string) bool {
	scheme, _, ok := strings.Cut(href, ":")
	return ok && scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

func (w *writer) table(t token) {
	switch t.name {
	case "table":
		if t.end && w.tables == 1 {
			w.endRow()
			w.printTable()
		} else if !t.end && w.tables == 0 {
			w.flush()
		}
		w.tables = max(0, w.tables+step(t))
	case "tr":
		if w.tables == 1 {
			w.endRow()
		}
	default:
		if w.tables != 1 { // a table in a cell is text
			w.space = true
			return
		}
		w.endCell()
		if !t.end {
			w.row = append(w.row, "")
		}
	}
}

func (w *writer) endCell() {
	if len(w.row) > 0 && w.line.Len() > 0 {
		w.row[len(w.row)-1] = strings.ReplaceAll(strings.TrimSpace(w.line.String()), "|", `\|`)
	}
	w.line.Reset()
	w.space = false
}

func (w *writer) endRow() {
	w.endCell()
	if len(w.row) > 0 {
		w.rows = append(w.rows, w.row)
	}
	w.row = nil
}

func (w *writer) printTable() {
	columns := 0
	for _, r := range w.rows {
		columns = max(columns, len(r))
	}
	var b strings.Builder
	for i, r := range w.rows {
		for len(r) < columns {
			r = append(r, "")
		}
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", columns) + "\n")
		}
	}
	w.rows = nil
	if b.Len() > 0 {
		w.block(strings.TrimSuffix(b.String(), "\n"))
	}
}

// flush ends the block at hand.
func (w *writer) flush() {
	text := w.line.String()
	w.line.Reset()
	w.space, w.links = false, nil
	if w.pre > 0 {
		if text = strings.Trim(text, "\n"); text != "" {
			fence := "```"
			for strings.Contains(text, fence) {
				fence += "`"
			}
			w.block(fence + "\n" + text + "\n" + fence)
		}
		return
	}
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if w.heading > 0 {
		text = strings.Repeat("#", w.heading) + " " + strings.ReplaceAll(text, "\n", " ")
	}
	w.block(text)
}

// block writes lines with what quotes and lists put before them.
func (w *writer) block(text string) {
	prefix := strings.Repeat("> ", w.quotes)
	indent := ""
	for i := range w.lists {
		if i < len(w.lists)-1 || w.marker == "" {
			indent += "  "
			if w.lists[i].ordered {
				indent += " "
			}
		}
	}
	if w.out.Len() > 0 && (w.marker == "" || w.loose) {
		w.out.WriteString(strings.TrimRight(strings.Repeat("> ", min(w.quotes, w.quoted)), " ") + "\n")
	}
	w.loose, w.quoted = false, w.quotes
	marker := w.marker
	w.marker = ""
	for l := range strings.SplitSeq(text, "\n") {
		w.out.WriteString(strings.TrimRight(prefix+indent+marker+strings.TrimRight(l, "\r"), " ") + lineEnd(l) + "\n")
		if marker != "" {
			indent, marker = indent+strings.Repeat(" ", len(marker)), ""
		}
	}
}

// lineEnd keeps the two spaces that break a line.
func lineEnd(l string) string {
	if strings.HasSuffix(l, "  ") && strings.TrimSpace(l) != "" {
		return "  "
	}
	return ""
}
