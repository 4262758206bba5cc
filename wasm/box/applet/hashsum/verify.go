package hashsum

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// entry is a line of a list of checksums.
type entry struct {
	alg    algorithm
	digest string
	name   string
}

// parseLine reads "digest  name", "digest *name" or "TAG (name) = digest".
// byTag finds the algorithm of a tag; fixed is the one of untagged lines, or
// nil when there is none.
func parseLine(line string, byTag func(string) (algorithm, bool), fixed *algorithm) (e entry, ok bool) {
	line = strings.TrimLeft(line, " \t")
	escaped := strings.HasPrefix(line, `\`)
	if escaped {
		line = line[1:]
	}
	if tag, rest, found := strings.Cut(line, " ("); found && strings.IndexByte(tag, ' ') < 0 {
		if i := strings.LastIndex(rest, ") = "); i >= 0 {
			e.alg, ok = byTag(tag)
			if !ok || e.alg.tag != tag {
				return e, false
			}
			e.name, e.digest = rest[:i], rest[i+4:]
			return finish(e, escaped)
		}
	}
	if fixed == nil {
		return e, false
	}
	e.alg = *fixed
	n := 2 * e.alg.new().Size()
	if strings.HasPrefix(e.alg.tag, blakeTag) { // the digest says its length
		n = len(line) - len(strings.TrimLeft(line, hexDigits))
		if n == 0 || n%2 != 0 || n*4 > maxBits {
			return e, false
		}
		e.alg = algBLAKE2b(n * 4)
	}
	if len(line) < n+2 || line[n] != ' ' {
		return e, false
	}
	e.digest, e.name = line[:n], line[n+1:]
	if e.name[0] == ' ' || e.name[0] == '*' {
		e.name = e.name[1:]
	}
	return finish(e, escaped)
}

const hexDigits = "0123456789abcdefABCDEF"

func finish(e entry, escaped bool) (entry, bool) {
	if len(e.digest) != 2*e.alg.new().Size() || strings.Trim(e.digest, hexDigits) != "" || e.name == "" {
		return e, false
	}
	if escaped {
		var ok bool
		if e.name, ok = unescape(e.name); !ok {
			return e, false
		}
	}
	return e, true
}

func plural(n int, one, many string) string {
	text := string(applet.AppendNum(nil, int64(n), 0))
	if n == 1 {
		return text + one
	}
	return text + many
}

// verify checks the files named in lists of checksums.
func verify(c *applet.Ctx, lists []string, o *options, byTag func(string) (algorithm, bool), fixed *algorithm) int {
	ok := true
	for _, list := range lists {
		ok = verifyList(c, list, o, byTag, fixed) && ok
	}
	return applet.Status(ok)
}

func verifyList(c *applet.Ctx, list string, o *options, byTag func(string) (algorithm, bool), fixed *algorithm) bool {
	title := list
	if list == "-" {
		title = "standard input"
	}
	r, err := c.Open(list)
	if err != nil {
		c.WarnName(list, err)
		return false
	}
	defer r.Close()
	var proper, bad, unread, mismatched, matched, number int
	lines := applet.NewLines(r, '\n')
	for {
		raw, more := lines.Next()
		if !more {
			break
		}
		number++
		line := strings.TrimSuffix(string(raw), "\r")
		if strings.HasPrefix(line, "#") {
			continue
		}
		e, ok := parseLine(line, byTag, fixed)
		if !ok || e.name == "-" && list == "-" {
			bad++
			if o.warns {
				tag := "cksum"
				if fixed != nil {
					tag = fixed.tag
				}
				c.Flush()
				c.Warn(applet.Name(title), ": ", string(applet.AppendNum(nil, int64(number), 0)), ": improperly formatted ", tag, " checksum line")
			}
			continue
		}
		proper++
		shown := e.name
		if strings.ContainsAny(shown, "\n\r") {
			shown, _ = escape(shown)
			shown = `\` + shown
		}
		say := func(result string) {
			if !o.silent {
				c.Out().WriteString(shown + ": " + result + "\n")
			}
		}
		digest, err := sumFile(c, e.name, e.alg)
		switch {
		case err != nil && o.ignoreMissing && errors.Is(err, fs.ErrNotExist):
		case err != nil:
			c.Flush()
			c.WarnName(e.name, err)
			unread++
			say("FAILED open or read")
		case strings.EqualFold(digest, e.digest):
			matched++
			if !o.quiet {
				say("OK")
			}
		default:
			mismatched++
			say("FAILED")
		}
	}
	c.Flush()
	if err := lines.Err(); err != nil {
		c.Warn(applet.Name(title), ": read error: ", applet.Reason(err))
		return false
	}
	if proper == 0 {
		c.Warn(applet.Name(title), ": no properly formatted checksum lines found")
		return false
	}
	if !o.silent {
		if bad > 0 {
			c.Warn("WARNING: ", plural(bad, " line is improperly formatted", " lines are improperly formatted"))
		}
		if unread > 0 {
			c.Warn("WARNING: ", plural(unread, " listed file could not be read", " listed files could not be read"))
		}
		if mismatched > 0 {
			c.Warn("WARNING: ", plural(mismatched, " computed checksum did NOT match", " computed checksums did NOT match"))
		}
		if o.ignoreMissing && matched == 0 {
			c.Warn(applet.Name(title), ": no file was verified")
		}
	}
	return mismatched == 0 && unread == 0 && (!o.ignoreMissing || matched > 0) && (!o.strict || bad == 0)
}
