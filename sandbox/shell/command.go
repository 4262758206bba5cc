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
	v.Config = c
	v.Config.Name = args[0]
	rest, command, msg := v.options(args[1:])
	switch {
	case msg != "" || v.Version:
	case command && len(rest) == 0:
		msg = "-c: option requires an argument"
	case command:
		v.Text = rest[0]
		if len(rest) > 1 {
			v.Config.Name, v.Config.Params = rest[1], rest[2:]
		}
	case !v.Stdin && len(rest) > 0:
		v.File = rest[0]
		v.Config.Name, v.Config.Params, v.Config.Script, v.Config.Path = v.File, rest[1:], true, v.File
	default:
		v.Stdin, v.Config.Params, v.Config.fromStdin = true, rest, true
	}
	return v, msg
}

// options reads the options of sh or bash; command says that -c was there.
func (v *Invocation) options(args []string) (rest []string, command bool, msg string) {
	c := &v.Config
	if base := path.Base(c.Name); base == "sh" || base == "-sh" {
		c.Posix = true
	}
	c.Options = append([]string(nil), c.Options...)
	for len(args) > 0 && len(args[0]) > 0 && (args[0][0] == '-' || args[0][0] == '+' && len(args[0]) > 1) {
		a := args[0]
		args = args[1:]
		if a == "--" || a == "-" {
			break
		}
		if strings.HasPrefix(a, "--") {
			switch a {
			case "--posix":
				c.Posix = true
			case "--version":
				v.Version = true
			case "--norc", "--noprofile", "--login", "--noediting", "--restricted", "--verbose":
			case "--rcfile", "--init-file":
				args = args[min(1, len(args)):]
			default:
				return nil, false, a + ": invalid option"
			}
			continue
		}
		off := ""
		if a[0] == '+' {
			off = "-"
		}
		for _, letter := range []byte(a[1:]) {
			switch letter {
			case 'c':
				command = true
			case 's':
				v.Stdin = true
			case 'i', 'l', 'r', 'D':
			case 'o', 'O':
				if len(args) == 0 {
					return nil, false, a + ": option requires an argument"
				}
				if _, ok := findOption(args[0], letter == 'O'); !ok {
					return nil, false, args[0] + ": invalid option name"
				}
				c.Options = append(c.Options, off+args[0])
				args = args[1:]
			default:
				x, ok := optionLetter(letter)
				if !ok {
					return nil, false, a[:1] + string(rune(letter)) + ": invalid option"
				}
				c.Options = append(c.Options, off+x.name)
			}
		}
	}
	return args, command, ""
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
