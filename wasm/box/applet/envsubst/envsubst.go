// Package envsubst is the command envsubst.
package envsubst

import (
	"io"
	"os"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is envsubst.
var Command = applet.Command{
	Name:     "envsubst",
	Synopsis: "[OPTION] [SHELL-FORMAT]",
	Summary:  "substitute the values of environment variables",
	Help: `  -v, --variables  output the variables occurring in SHELL-FORMAT
With SHELL-FORMAT only the variables that are referenced in it are substituted.`,
	Run: run,
}

func run(c *applet.Ctx) int {
	list := false
	args, status, ok := c.Parse(1, applet.Bool(&list, 'v', "variables"))
	switch {
	case !ok:
		return status
	case list && len(args) == 0:
		c.Warn("missing arguments")
		return 1
	case len(args) > 1:
		c.Warn("too many arguments")
		return 1
	}
	var known map[string]bool // nil: all variables
	if len(args) == 1 {
		known = map[string]bool{}
		replace(args[0], func(name string) (string, bool) {
			if list {
				io.WriteString(c.Stdout, name+"\n")
			}
			known[name] = true
			return "", false
		})
	}
	if list {
		return 0
	}
	lines := applet.NewLines(c.Stdin, '\n')
	for line, more := lines.Next(); more; line, more = lines.Next() {
		text := replace(string(line), func(name string) (string, bool) {
			return os.Getenv(name), known == nil || known[name]
		})
		if lines.Full() {
			text += "\n"
		}
		if _, err := io.WriteString(c.Stdout, text); err != nil {
			return 1
		}
	}
	if err := lines.Err(); err != nil {
		c.Warn("error while reading \"standard input\": ", applet.Reason(err))
		return 1
	}
	return 0
}

// replace puts the values of $NAME and ${NAME} in their places. A reference
// that value does not know stays as it is.
func replace(text string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i:]
		rest := strings.TrimPrefix(text[1:], "{")
		braced := len(rest) < len(text)-1
		n := nameLen(rest)
		end := len(text) - len(rest) + n // behind the reference
		if braced {
			end++
		}
		if n == 0 || braced && !strings.HasPrefix(rest[n:], "}") {
			b.WriteByte('$')
			text = text[1:]
			continue
		}
		if v, ok := value(rest[:n]); ok {
			b.WriteString(v)
		} else {
			b.WriteString(text[:end])
		}
		text = text[end:]
	}
}

// nameLen returns how long the variable's name at the start of s is.
func nameLen(s string) int {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]|32 >= 'a' && s[n]|32 <= 'z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return n
}
