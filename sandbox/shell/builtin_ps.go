package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// psOptions is how ps lists the shells, jobs and pipeline stages of a script:
// there are no other processes.
type psOptions struct {
	columns, titles []string
	pids            []int
	chosen          bool // columns, by -o
	some            bool // pids are chosen
	noTitles        bool
}

func builtinPs(sh *shell, c call) int {
	p := &psOptions{}
	p.show("pid tty time ucmd")
	if problem := p.parse(c.args[1:]); problem != "" {
		sh.stderr("error: " + problem + "\n\nUsage:\n ps [-e|-A|ax|aux|-f|-l] [-p PIDS] [-o COLUMNS] [--no-headers]\n")
		return 1
	}
	now := sh.run.host.Now()
	self := &process{pid: sh.run.procs.nextPID(), parent: sh.proc, began: now}
	line := strings.Join(c.args, " ")
	self.text.Store(&line)
	list := append(sh.run.procs.all(), self)
	slices.SortFunc(list, func(a, b *process) int { return cmp.Compare(a.pid, b.pid) })
	var out strings.Builder
	row := func(cell func(column string) (width int, text string)) {
		for i, name := range p.columns {
			width, text := cell(name)
			if i > 0 {
				out.WriteByte(' ')
			}
			if i == len(p.columns)-1 {
				width = max(0, width) // the last column ends where its text does
			}
			fmt.Fprintf(&out, "%*s", width, text)
		}
		out.WriteByte('\n')
	}
	if !p.noTitles && strings.Join(p.titles, "") != "" {
		i := -1
		row(func(column string) (int, string) {
			_, width, _ := list[0].column(column, now)
			i++
			return width, p.titles[i]
		})
	}
	found := false
	for _, q := range list {
		if p.some && !slices.Contains(p.pids, q.pid) {
			continue
		}
		found = true
		row(func(column string) (int, string) {
			_, width, text := q.column(column, now)
			return width, text
		})
	}
	sh.out(out.String())
	if !found {
		return 1
	}
	return 0
}

// show makes columns those that are listed, unless -o has said which.
func (p *psOptions) show(columns string) {
	if p.chosen {
		return
	}
	p.columns, p.titles = strings.Fields(columns), nil
	for _, c := range p.columns {
		title, _, _ := new(process).column(c, time.Time{})
		p.titles = append(p.titles, title)
	}
}

// parse returns what is wrong with the arguments, or "".
func (p *psOptions) parse(args []string) string {
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if name, value, given := strings.Cut(a, "="); strings.HasPrefix(a, "--") {
			switch {
			case name == "--no-headers" || name == "--no-heading":
				p.noTitles = true
				continue
			case name == "--pid" && given:
				a = "-p" + value
			case name == "--format" && given:
				a = "-o" + value
			default:
				return "unknown gnu long option"
			}
		}
		flags := strings.TrimPrefix(a, "-")
		for i, f := range flags {
			switch f {
			case 'p', 'o':
				value := flags[i+1:]
				if value == "" && len(args) > 0 {
					value, args = args[0], args[1:]
				}
				if problem := p.value(f, value); problem != "" {
					return problem
				}
			case 'f':
				p.show("uid pid ppid c stime tty time cmd")
			case 'l':
				p.show("stat user pid ppid tty time ucmd")
			case 'u':
				p.show("user pid %cpu %mem vsz rss tty stat start bsdtime command")
			case 'x':
				if !strings.Contains(a, "u") {
					p.show("pid tty stat bsdtime command")
				}
			case 'e', 'A', 'a', 'w':
			default:
				return "unsupported option " + string(f)
			}
			if f == 'p' || f == 'o' {
				break
			}
		}
	}
	return ""
}

// value takes the value of an option.
func (p *psOptions) value(flag rune, value string) string {
	if value == "" {
		return "option " + string(flag) + " needs a value"
	}
	if flag == 'o' && !p.chosen {
		p.chosen, p.columns, p.titles = true, nil, nil
	}
	p.some = p.some || flag == 'p'
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		if flag == 'p' {
			n, ok := atoi(word)
			if !ok {
				return "process ID list syntax error"
			}
			p.pids = append(p.pids, int(n))
			continue
		}
		name, own, titled := strings.Cut(word, "=")
		title, _, _ := new(process).column(name, time.Time{})
		if title == "" {
			return fmt.Sprintf("unknown user-defined format specifier %q", name)
		}
		if titled {
			title = own
		}
		p.columns, p.titles = append(p.columns, name), append(p.titles, title)
	}
	return ""
}

// column returns a column's title, its width (negative when the text stands
// left) and what it tells of p. The title of an unknown one is "". Sizes and
// the processor's time are not counted by process: they are 0.
func (p *process) column(name string, now time.Time) (title string, width int, text string) {
	age := int(now.Sub(p.began).Seconds())
	line := "bash"
	if t := p.text.Load(); t != nil {
		line = *t
	}
	word, _, _ := strings.Cut(line, " ")
	state := "S"
	if p.began.Equal(now) { // ps itself
		state = "R"
	}
	switch name {
	case "pid":
		return "PID", 5, itoa(p.pid)
	case "ppid":
		parent := 0
		if p.parent != nil {
			parent = p.parent.pid
		}
		return "PPID", 5, itoa(parent)
	case "user", "uid", "ruser", "euser":
		return strings.ToUpper(name), -8, "user"
	case "tty", "tt":
		return "TTY", -8, "?"
	case "%cpu", "pcpu":
		return "%CPU", 4, "0.0"
	case "%mem", "pmem":
		return "%MEM", 4, "0.0"
	case "vsz":
		return "VSZ", 6, "0"
	case "rss":
		return "RSS", 5, "0"
	case "c":
		return "C", 2, "0"
	case "time", "cputime":
		return "TIME", 8, "00:00:00"
	case "bsdtime":
		return "TIME", 6, "0:00"
	case "etime":
		return "ELAPSED", 11, fmt.Sprintf("%02d:%02d", age/60, age%60)
	case "etimes":
		return "ELAPSED", 7, itoa(age)
	case "start", "stime":
		return strings.ToUpper(name), 5, p.began.UTC().Format("15:04")
	case "stat":
		return "STAT", -4, state
	case "state", "s":
		return "S", 1, state
	case "ucmd":
		return "CMD", -15, word
	case "comm":
		return "COMMAND", -15, word
	case "cmd":
		return "CMD", -27, line
	case "args", "command":
		return "COMMAND", -27, line
	}
	return "", 0, ""
}
