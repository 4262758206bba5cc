// Package env holds the commands env and printenv.
package env

import (
	"errors"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Env is the command env.
var Env = applet.Command{
	Name:     "env",
	Synopsis: "[OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]",
	Summary:  "set each NAME to VALUE in the environment and run COMMAND",
	Help: `  -i, --ignore-environment  start with an empty environment
  -0, --null           end each output line with NUL, not newline
  -u, --unset=NAME     remove variable from the environment
  -C, --chdir=DIR      change working directory to DIR
  -S, --split-string=S process and split S into separate arguments`,
	Run: env,
}

// Printenv is the command printenv.
var Printenv = applet.Command{
	Name:     "printenv",
	Synopsis: "[OPTION]... [VARIABLE]...",
	Summary:  "print the values of the specified environment VARIABLE(s)",
	Help:     `  -0, --null     end each output line with NUL, not newline`,
	Run:      printenv,
}

func env(c *applet.Ctx) int {
	var empty, null bool
	var unset []string
	dir := ""
	args, err := splitStrings(c.Args)
	if err != nil {
		c.Warn(err.Error())
		return 125
	}
	c.Args = args
	args, status, ok := c.Parse(125,
		applet.StopAtOperand(),
		applet.Bool(&empty, 'i', "ignore-environment"),
		applet.Bool(&null, '0', "null"),
		applet.Func(func(v string) error {
			if v == "" || strings.Contains(v, "=") {
				return errors.New("cannot unset " + applet.Curly(v) + ": Invalid argument")
			}
			unset = append(unset, v)
			return nil
		}, 'u', "unset"),
		applet.String(&dir, 'C', "chdir"),
	)
	if !ok {
		return status
	}
	if len(args) > 0 && args[0] == "-" {
		empty, args = true, args[1:]
	}
	vars := []string{}
	if !empty {
		vars = os.Environ()
	}
	for _, name := range unset {
		if i := find(vars, name); i >= 0 {
			vars = append(vars[:i:i], vars[i+1:]...)
		}
	}
	for len(args) > 0 {
		name, _, found := strings.Cut(args[0], "=")
		if !found {
			break
		}
		if i := find(vars, name); i >= 0 {
			vars[i] = args[0]
		} else {
			vars = append(vars, args[0])
		}
		args = args[1:]
	}
	switch {
	case len(args) > 0 && null:
		c.Usage("cannot specify --null (-0) with command")
		return 125
	case len(args) == 0 && dir != "":
		c.Usage("must specify command with --chdir (-C)")
		return 125
	case len(args) == 0:
		print(c, vars, null)
		return 0
	}
	if dir != "" {
		fi, err := os.Stat(dir)
		if err == nil && !fi.IsDir() {
			err = errors.New("Not a directory")
		}
		if err == nil {
			dir, err = applet.Resolve(dir, applet.MustExist)
		}
		if err != nil {
			c.Warn("cannot change directory to ", applet.Quote(dir), ": ", applet.Reason(err))
			return 125
		}
	}
	return c.Spawn(applet.Child{Args: args, Env: vars, Dir: dir, Stdin: os.Stdin})
}

func find(vars []string, name string) int {
	for i, v := range vars {
		if len(v) > len(name) && v[len(name)] == '=' && v[:len(name)] == name {
			return i
		}
	}
	return -1
}

func print(c *applet.Ctx, lines []string, null bool) {
	end := byte('\n')
	if null {
		end = 0
	}
	var out []byte
	for _, l := range lines {
		out = append(append(out, l...), end)
	}
	c.Stdout.Write(out)
}

func printenv(c *applet.Ctx) int {
	null := false
	names, status, ok := c.Parse(2, applet.StopAtOperand(), applet.Bool(&null, '0', "null"))
	if !ok {
		return status
	}
	if len(names) == 0 {
		print(c, os.Environ(), null)
		return 0
	}
	var values []string
	for _, n := range names {
		v, set := os.LookupEnv(n)
		if set && !strings.Contains(n, "=") {
			values = append(values, v)
		}
	}
	print(c, values, null)
	return applet.Status(len(values) == len(names))
}

// splitStrings replaces -S STRING among the options by the words of STRING.
func splitStrings(args []string) ([]string, error) {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		text := ""
		switch {
		case strings.HasPrefix(a, "--split-string="):
			text = a[len("--split-string="):]
		case a == "--split-string" || a == "-S" || a == "-vS":
			if i++; i == len(args) {
				return append(out, a), nil // the parser complains
			}
			text = args[i]
		case strings.HasPrefix(a, "-S"):
			text = a[2:]
		case strings.HasPrefix(a, "-iS"):
			out = append(out, "-i")
			if text = a[3:]; text == "" {
				if i++; i == len(args) {
					return append(out, "-S"), nil
				}
				text = args[i]
			}
		case a == "-u" || a == "-C" || a == "--unset" || a == "--chdir":
			out = append(out, a)
			if i++; i < len(args) {
				out = append(out, args[i])
			}
			continue
		case a == "--" || !strings.HasPrefix(a, "-"):
			return append(out, args[i:]...), nil
		default:
			out = append(out, a)
			continue
		}
		words, err := words(text)
		if err != nil {
			return nil, err
		}
		return append(append(out, words...), args[i+1:]...), nil
	}
	return out, nil
}

// words splits a string as -S does: at blanks, with quotes, backslashes and
// ${NAME}.
func words(s string) ([]string, error) {
	var out []string
	var cur []byte
	in, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case quote == 0 && (b == ' ' || b >= '\t' && b <= '\r'):
			if in {
				out, cur, in = append(out, string(cur)), nil, false
			}
			continue
		case quote == 0 && b == '#' && !in:
			return out, nil
		case (b == '\'' || b == '"') && (quote == 0 || quote == b):
			in = true
			quote ^= b
			continue
		case b == '\\' && (quote != '\'' || i+1 < len(s) && (s[i+1] == '\'' || s[i+1] == '\\')):
			if i++; i == len(s) {
				return nil, errors.New("invalid backslash at end of string in -S")
			}
			in = true
			switch e := s[i]; {
			case strings.IndexByte(`fnrtv`, e) >= 0:
				cur = append(cur, "\f\n\r\t\v"[strings.IndexByte(`fnrtv`, e)])
			case e == '_' && quote == 0:
				out, cur, in = append(out, string(cur)), nil, false
			case e == '_':
				cur = append(cur, ' ')
			case e == 'c' && quote == 0:
				if len(cur) > 0 {
					out = append(out, string(cur))
				}
				return out, nil
			case strings.IndexByte(`"#$'\`, e) >= 0:
				cur = append(cur, e)
			default:
				return nil, errors.New("invalid sequence '\\" + string(rune(e)) + "' in -S")
			}
			continue
		case b == '$' && quote != '\'':
			end := strings.IndexByte(s[i:], '}')
			if !strings.HasPrefix(s[i:], "${") || end < 3 {
				return nil, errors.New("only ${VARNAME} expansion is supported, error at: " + s[i:])
			}
			cur = append(cur, os.Getenv(s[i+2:i+end])...)
			in = true
			i += end
			continue
		}
		in = true
		cur = append(cur, b)
	}
	if quote != 0 {
		return nil, errors.New("no terminating quote in -S string")
	}
	if in {
		out = append(out, string(cur))
	}
	return out, nil
}
