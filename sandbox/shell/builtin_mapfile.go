package shell

import (
	"bytes"
	"errors"
	"io"
)

// builtinMapfile is mapfile and readarray.
func builtinMapfile(sh *shell, c call) int {
	name, delim := "MAPFILE", byte('\n')
	var count, skip, fd, origin int64
	every := int64(5000)
	callback, _ := c.arg('C')
	for _, o := range c.opts {
		to := map[byte]*int64{'n': &count, 'O': &origin, 's': &skip, 'u': &fd, 'c': &every}[o.letter]
		if o.letter == 'd' {
			delim = (o.arg + "\x00")[0]
		} else if to != nil {
			n, ok := atoi(o.arg)
			if !ok || n < 0 {
				return c.fail("%s: invalid number", o.arg)
			}
			*to = n
		}
	}
	if len(c.rest) > 0 {
		if name = c.rest[0]; !isName(name) {
			return c.fail("`%s': not a valid identifier", name)
		}
	}
	f := sh.fd(int(fd))
	if f == nil || !f.readable() {
		return c.fail("%d: invalid file descriptor: Bad file descriptor", fd)
	}
	name = sh.resolved(name)
	if sh.lookup(name).has(attrAssoc) {
		return c.fail("%s: not an indexed array", name)
	}
	sh.checkWritable(name)
	if !c.has('O') {
		sh.assignArray(name, nil, false)
	}
	idx := origin
	for n := int64(0); count == 0 || n < count+skip; n++ {
		sh.tick()
		b, err := f.readUntil(sh.ctx, nil, delim, int(sh.run.lim.Expansion))
		if len(b) == 0 {
			if err != nil && !errors.Is(err, io.EOF) && isFatal(err) {
				throw(err)
			}
			break
		}
		sh.wholeLine(b, delim, err)
		if n < skip {
			continue
		}
		if c.has('t') && b[len(b)-1] == delim {
			b = b[:len(b)-1]
		}
		b, _, _ = bytes.Cut(b, []byte{0}) // as bash does here
		s := string(b)
		if callback != "" && (idx-origin+1)%max(every, 1) == 0 {
			sh.runText(sh.newSource("", callback+" "+itoa64(idx)+" "+shellQuote(s)), "mapfile")
			if sh.flow != flowNone {
				return sh.status
			}
		}
		sh.setIndex(name, idx, s, false)
		idx++
	}
	return 0
}
