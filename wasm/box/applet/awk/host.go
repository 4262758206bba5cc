package awk

import (
	"errors"
	"math"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/gnudate"
)

// host is what a program reaches through functions: commands, and what goawk
// lacks.
type host struct {
	c       *applet.Ctx
	reads   map[string]string // command: the file with its output
	writes  map[string]string // command: the file with its input
	order   []string          // of the commands written to
	closing string            // the command whose file is being closed
	status  map[string]int

	iters  map[int]*iterator
	nextID int
	values bool // the order being made asks for values
	groups []int
	text   string
	res    map[string]*regexp.Regexp
}

type iterator struct {
	how  string
	keys []string
	vals []string
	pos  int
	done bool // sorted
}

func newHost(c *applet.Ctx) *host {
	return &host{c: c, reads: map[string]string{}, writes: map[string]string{}, status: map[string]int{}, iters: map[int]*iterator{}, res: map[string]*regexp.Regexp{}}
}

func (h *host) cleanup() {
	for _, m := range []map[string]string{h.reads, h.writes} {
		for _, f := range m {
			os.Remove(f)
		}
	}
}

var errSandbox = errors.New("commands are not available in the sandbox")

// shell runs a line; stdin and stdout may be nil for awk's own.
func (h *host) shell(line string, stdin, stdout *os.File) (int, error) {
	if h.c.Procs == nil {
		return 0, errSandbox
	}
	if stdin == nil {
		stdin = os.Stdin
	}
	return h.c.Spawn(applet.Child{Args: []string{"sh", "-c", line}, Stdin: stdin, Stdout: stdout}), nil
}

// pipe is cmd | getline: the name of a file with the command's output.
func (h *host) pipe(_ float64, cmd string) (string, error) {
	if f, ok := h.reads[cmd]; ok {
		return f, nil
	}
	f, err := os.CreateTemp("", "awk")
	if err != nil {
		return "", err
	}
	defer f.Close()
	status, err := h.shell(cmd, nil, f)
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	h.reads[cmd], h.status[cmd] = f.Name(), status
	return f.Name(), nil
}

// out is print | cmd: the name of a file that collects what is written.
func (h *host) out(cmd string) (string, error) {
	if f, ok := h.writes[cmd]; ok {
		return f, nil
	}
	if h.c.Procs == nil {
		return "", errSandbox
	}
	f, err := os.CreateTemp("", "awk")
	if err != nil {
		return "", err
	}
	f.Close()
	h.writes[cmd] = f.Name()
	h.order = append(h.order, cmd)
	return f.Name(), nil
}

// name is the file that stands for a command, or the name as it is.
func (h *host) name(s string) string {
	h.closing = s
	if f, ok := h.writes[s]; ok {
		return f
	}
	if f, ok := h.reads[s]; ok {
		return f
	}
	return s
}

// closed finishes close(): a command that was written to runs now.
func (h *host) closed(result float64) (float64, error) {
	cmd := h.closing
	if _, ok := h.writes[cmd]; ok {
		status, err := h.feed(cmd)
		return float64(status), err
	}
	if f, ok := h.reads[cmd]; ok {
		os.Remove(f)
		delete(h.reads, cmd)
		return float64(h.status[cmd]), nil
	}
	return result, nil
}

// feed runs a command over what was written to it.
func (h *host) feed(cmd string) (int, error) {
	name := h.writes[cmd]
	delete(h.writes, cmd)
	for i, o := range h.order {
		if o == cmd {
			h.order = append(h.order[:i:i], h.order[i+1:]...)
			break
		}
	}
	defer os.Remove(name)
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return h.shell(cmd, f, nil)
}

// finish runs the commands that were not closed.
func (h *host) finish() int {
	for len(h.order) > 0 {
		if _, err := h.feed(h.order[0]); err != nil {
			h.c.Warn(err.Error())
			return failed
		}
	}
	return 0
}

func (h *host) functions() map[string]interface{} {
	return map[string]interface{}{
		"__system": func(_ float64, cmd string) (float64, error) {
			status, err := h.shell(cmd, nil, nil)
			return float64(status), err
		},
		"__pipe":   h.pipe,
		"__out":    h.out,
		"__name":   h.name,
		"__closed": h.closed,
		"__new":    h.newIter, "__push": h.push, "__more": h.more, "__next": h.next,
		"__sortval": func() bool { return h.values },
		"__groups":  h.submatch, "__gtext": h.groupText, "__gstart": h.groupStart, "__glen": h.groupLen,
		"gensub": h.gensub, "strftime": strftime, "systime": func() float64 { return float64(time.Now().Unix()) }, "mktime": mktime,
		"strtonum": strtonum,
		"and": func(a, b float64, more ...float64) float64 {
			return fold(a, b, more, func(x, y uint64) uint64 { return x & y })
		},
		"or": func(a, b float64, more ...float64) float64 {
			return fold(a, b, more, func(x, y uint64) uint64 { return x | y })
		},
		"xor": func(a, b float64, more ...float64) float64 {
			return fold(a, b, more, func(x, y uint64) uint64 { return x ^ y })
		},
		"lshift": func(a, n float64) float64 { return float64(uint64(a) << uint64(n)) },
		"rshift": func(a, n float64) float64 { return float64(uint64(a) >> uint64(n)) },
		"compl":  func(a float64) float64 { return float64(^uint64(a) & (1<<53 - 1)) },
	}
}

func fold(a, b float64, more []float64, f func(x, y uint64) uint64) float64 {
	r := f(uint64(a), uint64(b))
	for _, m := range more {
		r = f(r, uint64(m))
	}
	return float64(r)
}

// A loop over an array collects the keys, puts them in order and hands them
// out.
func (h *host) newIter(how string) float64 {
	h.nextID++
	h.iters[h.nextID] = &iterator{how: how}
	h.values = strings.HasPrefix(how, "@val")
	return float64(h.nextID)
}

func (h *host) push(id float64, key, val string) {
	if it := h.iters[int(id)]; it != nil {
		it.keys = append(it.keys, key)
		it.vals = append(it.vals, val)
	}
}

func (h *host) more(id float64) (bool, error) {
	it := h.iters[int(id)]
	if it == nil {
		return false, nil
	}
	if !it.done {
		if err := it.sort(); err != nil {
			return false, err
		}
	}
	if it.pos < len(it.keys) {
		return true, nil
	}
	delete(h.iters, int(id))
	return false, nil
}

func (h *host) next(id float64) string {
	it := h.iters[int(id)]
	if it == nil || it.pos >= len(it.keys) {
		return ""
	}
	it.pos++
	return it.keys[it.pos-1]
}

func (it *iterator) Len() int { return len(it.keys) }
func (it *iterator) Swap(i, j int) {
	it.keys[i], it.keys[j] = it.keys[j], it.keys[i]
	it.vals[i], it.vals[j] = it.vals[j], it.vals[i]
}

func (it *iterator) Less(i, j int) bool {
	a, b := it.keys, it.keys
	if strings.HasPrefix(it.how, "@val") {
		a = it.vals
		b = it.vals
	}
	c := 0
	switch {
	case strings.Contains(it.how, "_str_"):
		c = strings.Compare(a[i], b[j])
	default:
		c = mixed(a[i], b[j])
	}
	if c == 0 {
		c = mixed(it.keys[i], it.keys[j])
	}
	if strings.HasSuffix(it.how, "_desc") {
		return c > 0
	}
	return c < 0
}

func (it *iterator) sort() error {
	it.done = true
	switch it.how {
	case "", "@unsorted", "@ind_str_asc", "@ind_str_desc", "@ind_num_asc", "@ind_num_desc", "@val_str_asc", "@val_str_desc",
		"@val_num_asc", "@val_num_desc", "@val_type_asc", "@val_type_desc", "@ind_type_asc", "@ind_type_desc":
	default:
		return errors.New(`PROCINFO["sorted_in"] = "` + it.how + `" is not supported`)
	}
	sort.Sort(it)
	return nil
}

// mixed compares numbers as numbers, and puts them before text.
func mixed(a, b string) int {
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	switch {
	case errA == nil && errB == nil:
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return strings.Compare(a, b)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return strings.Compare(a, b)
}

func (h *host) regex(re string) (*regexp.Regexp, error) {
	r := h.res[re]
	if r == nil {
		var err error
		if r, err = regexp.Compile("(?s:" + wordEdges(re) + ")"); err != nil {
			return nil, err
		}
		r.Longest()
		h.res[re] = r
	}
	return r, nil
}

func (h *host) submatch(s, re string) (float64, error) {
	r, err := h.regex(re)
	if err != nil {
		return 0, err
	}
	h.text, h.groups = s, r.FindStringSubmatchIndex(s)
	return float64(len(h.groups)/2 - 1), nil
}

func (h *host) groupText(i float64) string {
	if k := 2 * int(i); k+1 < len(h.groups) && h.groups[k] >= 0 {
		return h.text[h.groups[k]:h.groups[k+1]]
	}
	return ""
}

func (h *host) groupStart(i float64) float64 {
	if k := 2 * int(i); k+1 < len(h.groups) && h.groups[k] >= 0 {
		return float64(1 + utf8.RuneCountInString(h.text[:h.groups[k]]))
	}
	return 0
}

func (h *host) groupLen(i float64) float64 {
	return float64(utf8.RuneCountInString(h.groupText(i)))
}

// gensub replaces the matches that how names: "g", or the number of one.
func (h *host) gensub(re, rep, how, s string) (string, error) {
	r, err := h.regex(re)
	if err != nil {
		return "", err
	}
	which := 0
	if how == "" || how[0]|0x20 != 'g' {
		f, _ := strconv.ParseFloat(how, 64)
		which = max(1, int(f))
	}
	var b strings.Builder
	pos := 0
	for i, loc := range r.FindAllStringSubmatchIndex(s, -1) {
		if which > 0 && i+1 != which {
			continue
		}
		b.WriteString(s[pos:loc[0]])
		pos = loc[1]
		for k := 0; k < len(rep); k++ {
			c := rep[k]
			g := -1
			if c == '&' {
				g = 0
			} else if c == '\\' && k+1 < len(rep) {
				k++
				if c = rep[k]; '0' <= c && c <= '9' {
					g = int(c - '0')
				} else if c != '&' && c != '\\' {
					b.WriteByte('\\')
				}
			}
			switch {
			case g < 0:
				b.WriteByte(c)
			case 2*g+1 < len(loc) && loc[2*g] >= 0:
				b.WriteString(s[loc[2*g]:loc[2*g+1]])
			}
		}
	}
	b.WriteString(s[pos:])
	return b.String(), nil
}

func zone() *time.Location {
	if l, err := gnudate.Location(os.Getenv("TZ")); err == nil {
		return l
	}
	return time.UTC
}

func strftime(args ...string) (string, error) {
	format, t := "%a %b %e %H:%M:%S %Z %Y", time.Now()
	if len(args) > 0 {
		format = args[0]
	}
	if len(args) > 1 {
		f, _ := strconv.ParseFloat(args[1], 64)
		t = time.Unix(int64(f), 0)
	}
	loc := zone()
	if len(args) > 2 && args[2] != "" && args[2] != "0" {
		loc = time.UTC
	}
	return gnudate.Format(format, t.In(loc)), nil
}

func mktime(spec string) float64 {
	f := strings.Fields(spec)
	if len(f) < 6 {
		return -1
	}
	var n [6]int
	for i := range n {
		v, err := strconv.Atoi(f[i])
		if err != nil {
			return -1
		}
		n[i] = v
	}
	return float64(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, zone()).Unix())
}

func strtonum(s string) float64 {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 0, 64); err == nil && len(s) > 1 && s[0] == '0' {
		return float64(n)
	}
	end := 0
	for i := 1; i <= len(s); i++ {
		if _, err := strconv.ParseFloat(s[:i], 64); err == nil {
			end = i
		}
	}
	f, err := strconv.ParseFloat(s[:end], 64)
	if err != nil || math.IsNaN(f) {
		return 0
	}
	return f
}
