package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// Version is what bash --version says.
const Version = "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)"

// An Invocation is what a command line of sh or bash asks for: a text, a
// script file, or commands from standard input.
type Invocation struct {
	Config  Config // with Name, Params, Script, Path, Posix and Options set
	Text    string // of -c
	File    string // to read the text from; "" means none
	Stdin   bool   // the text is standard input
	Version bool   // print [Version] and nothing else
}

// Parse reads a command line of sh or bash, args[0] being the name. It
// understands what bash does: -c, -s, a script file, the letters of set, -o,
// -O, --posix, --norc and their like. msg says what is wrong with it.
func Parse(c Config, args []string) (v Invocation, msg string) {
	m := invocation{c: c}
	if msg = m.parse(args); msg != "" {
		return v, msg
	}
	v = Invocation{Config: m.c, Version: m.version}
	v.Config.Name = args[0]
	switch {
	case m.version:
	case m.command:
		if len(m.rest) == 0 {
			return v, "-c: option requires an argument"
		}
		v.Text = m.rest[0]
		if len(m.rest) > 1 {
			v.Config.Name, v.Config.Params = m.rest[1], m.rest[2:]
		}
	case !m.stdin && len(m.rest) > 0:
		v.File = m.rest[0]
		v.Config.Name, v.Config.Params, v.Config.Script, v.Config.Path = v.File, m.rest[1:], true, v.File
	default:
		v.Stdin, v.Config.Params, v.Config.fromStdin = true, m.rest, true
	}
	return v, ""
}

// Main runs sh or bash as a command, as [Parse] understands it; what is not
// in args comes from c.
func Main(ctx context.Context, c Config, args []string) (status int, err error) {
	v, msg := Parse(c, args)
	switch {
	case msg != "":
		return complain(&c, args[0]+": "+msg, 2), nil
	case v.Version:
		write(c.Stdout, Version+"\n")
		return 0, nil
	case v.File != "":
		text, st, err := readScript(ctx, &v.Config, v.File)
		if st != 0 || err != nil {
			return st, err
		}
		return Run(ctx, v.Config, text)
	}
	return Run(ctx, v.Config, v.Text)
}

func write(w io.Writer, s string) {
	if w != nil {
		_, _ = io.WriteString(w, s)
	}
}

func complain(c *Config, msg string, status int) int {
	write(c.Stderr, msg+"\n")
	return status
}

// RunFile runs a script file that was started as a command: argv[0] is its
// path. Its first line may name sh or bash; anything else is the host's.
func RunFile(ctx context.Context, c Config, file string, argv []string) (status int, err error) {
	c.Name, c.Params, c.Script, c.Path = argv[0], argv[1:], true, argv[0]
	text, st, err := readScript(ctx, &c, file)
	if st != 0 || err != nil {
		return st, err
	}
	return Run(ctx, c, text)
}

// readScript reads a script file; a status other than 0 means that it was
// refused and the message is out.
func readScript(ctx context.Context, c *Config, name string) (text string, status int, err error) {
	file := name
	if !strings.HasPrefix(file, "/") {
		file = path.Join("/", c.Dir, file)
	}
	f, err := c.Host.Open(ctx, file, syscall.O_RDONLY, 0)
	if err == nil {
		var fi fs.FileInfo
		if fi, err = f.Stat(); err == nil && fi.IsDir() {
			_ = f.Close()
			return "", complain(c, name+": "+name+": Is a directory", 126), nil
		}
	}
	if err != nil {
		if isFatal(err) {
			return "", 0, err
		}
		if errors.Is(err, ErrDenied) {
			return "", complain(c, name+": "+err.Error(), 126), nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", complain(c, "bash: "+name+": No such file or directory", 127), nil
		}
		return "", complain(c, "bash: "+name+": "+errText(err), 126), nil
	}
	defer func() { _ = f.Close() }()
	lim := c.Limits.withDefaults()
	b, err := io.ReadAll(io.LimitReader(f, int64(lim.Source)+1))
	if err != nil {
		return "", 0, err
	}
	if len(b) > lim.Source {
		return "", 0, &LimitError{What: "source text of " + size(int64(lim.Source))}
	}
	head := b[:min(len(b), 80)]
	if i := strings.IndexByte(string(head), '\n'); i >= 0 {
		head = head[:i]
	}
	if strings.IndexByte(string(head), 0) >= 0 {
		return "", complain(c, name+": cannot execute binary file", 126), nil
	}
	return string(b), 0, nil
}

// An invocation is the parsed command line of bash.
type invocation struct {
	c       Config
	command bool
	stdin   bool
	version bool
	rest    []string
}

func (m *invocation) parse(args []string) (msg string) {
	if base := path.Base(args[0]); base == "sh" || base == "-sh" {
		m.c.Posix = true
	}
	opts := append([]string(nil), m.c.Options...)
	i := 1
	for ; i < len(args); i++ {
		a := args[i]
		if a == "--" || a == "-" {
			i++
			break
		}
		if strings.HasPrefix(a, "--") {
			switch a {
			case "--posix":
				m.c.Posix = true
			case "--version":
				m.version = true
			case "--norc", "--noprofile", "--login", "--noediting", "--restricted", "--verbose":
			case "--rcfile", "--init-file":
				i++
			default:
				return a + ": invalid option"
			}
			continue
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		on := ""
		if a[0] == '+' {
			on = "-"
		}
		for k := 1; k < len(a); k++ {
			switch ch := a[k]; ch {
			case 'c':
				m.command = true
			case 's':
				m.stdin = true
			case 'i', 'l', 'r', 'D':
			case 'o', 'O':
				if i+1 >= len(args) {
					return a + ": option requires an argument"
				}
				i++
				if _, ok := findOption(args[i], ch == 'O'); !ok {
					return args[i] + ": invalid option name"
				}
				opts = append(opts, on+args[i])
			default:
				x, ok := optionLetter(ch)
				if !ok {
					return a[:1] + string(rune(ch)) + ": invalid option"
				}
				opts = append(opts, on+x.name)
			}
		}
	}
	m.c.Options = opts
	m.rest = args[min(i, len(args)):]
	return ""
}
