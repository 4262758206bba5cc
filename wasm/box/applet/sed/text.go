package sed

import "strings"

// text parses the text of a, i and c: after a backslash and a newline, or on
// the same line.
func (p *parser) text(cmd *command) error {
	c := p.nonblank()
	if c == eof {
		return p.bad("expected \\ after `a', `c' or `i'")
	}
	if c == '\\' {
		c = p.nonblank()
		if c == '\n' {
			c = p.next()
			if c == eof {
				return p.continued(cmd)
			}
		} else if c == eof {
			return p.continued(cmd)
		} else {
			// a\text: blanks after the backslash are kept.
			p.back(c)
			for p.chunks[p.at].text[p.pos-1] != '\\' {
				p.pos--
			}
			c = p.next()
		}
	}
	p.back(c)
	return p.lines(cmd)
}

// continued goes on with a text in the next -e, as after a newline.
func (p *parser) continued(cmd *command) error {
	if p.at+1 >= len(p.chunks) {
		return nil
	}
	p.chunks[p.at+1].text = p.chunks[p.at].text + "\n" + p.chunks[p.at+1].text
	p.skip(len(p.chunks[p.at].text) + 1)
	return p.lines(cmd)
}

// skip moves on to the next chunk, at pos.
func (p *parser) skip(pos int) {
	p.at++
	p.pos = pos
}

// lines reads lines up to one that does not end in a backslash.
func (p *parser) lines(cmd *command) error {
	var raw []byte
	for {
		c := p.next()
		if c == eof || c == '\n' {
			break
		}
		if c == '\\' {
			raw = append(raw, '\\')
			if c = p.next(); c == eof {
				raw = raw[:len(raw)-1]
				if p.at+1 < len(p.chunks) {
					raw = append(raw, '\n')
					p.chunks[p.at+1].text = p.chunks[p.at].text + "\n" + p.chunks[p.at+1].text
					p.skip(len(p.chunks[p.at].text) + 1)
					continue
				}
				break
			}
		}
		raw = append(raw, byte(c))
	}
	s := unescape(string(raw), false)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			i++
			if c = s[i]; c == 'n' {
				c = '\n'
			}
		}
		b.WriteByte(c)
	}
	b.WriteByte('\n')
	cmd.text = []byte(b.String())
	return nil
}

// unescape replaces the escapes that stand for one character: \a \f \n \t \v
// \cX \dNNN \oNNN \xHH. In a replacement a backslash and an ampersand that
// they produce stand for themselves; in an expression they are operators. In a regular expression \n was replaced
// before, and \b, \w and the like are left alone.
func unescape(s string, regex bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := byte(0)
		switch s[i] {
		case 'a':
			c = '\a'
		case 'f':
			c = '\f'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'v':
			c = '\v'
		case 'c':
			if i+1 < len(s) {
				i++
				u := s[i]
				if 'a' <= u && u <= 'z' {
					u -= 32
				}
				c = u ^ 0x40
				produced(&b, c, regex)
				continue
			}
		case 'd':
			if n, v := digits(s[i+1:], 10, 3); n > 0 {
				produced(&b, v, regex)
				i += n
				continue
			}
		case 'o':
			if n, v := digits(s[i+1:], 8, 3); n > 0 {
				produced(&b, v, regex)
				i += n
				continue
			}
		case 'x':
			if n, v := digits(s[i+1:], 16, 2); n > 0 {
				produced(&b, v, regex)
				i += n
				continue
			}
		}
		if c != 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('\\')
		b.WriteByte(s[i])
	}
	return b.String()
}

func produced(b *strings.Builder, c byte, regex bool) {
	if !regex && (c == '\\' || c == '&') {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
}

// bracketEscapes replaces escapes inside a bracket expression, where a
// backslash is else an ordinary character.
func bracketEscapes(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if k := strings.IndexByte("nafrtv", s[i+1]); k >= 0 {
				b.WriteByte("\n\a\f\r\t\v"[k])
				i++
				continue
			}
			if s[i+1] == ']' || s[i+1] == '\\' {
				b.WriteByte('\\')
				if s[i+1] == '\\' {
					i++
				}
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func digits(s string, base, most int) (n int, v byte) {
	x := 0
	for n < most && n < len(s) {
		d := strings.IndexByte("0123456789abcdefABCDEF", s[n])
		if d > 15 {
			d -= 6
		}
		if d < 0 || d >= base {
			break
		}
		x = x*base + d
		n++
	}
	return n, byte(x)
}
