package xargs

// maxItem bounds one item.
const maxItem = maxChars

// next reads an item. lineEnd tells that a line ended with it, for -L.
func (j *job) next() (item string, lineEnd, ok bool) {
	if j.readDone {
		return "", false, false
	}
	if j.delim >= 0 {
		return j.delimited()
	}
	var b []byte
	quote, any := byte(0), false
	blankEnd := false // the line's last character was a blank: it goes on
	for {
		c, err := j.in.ReadByte()
		if err != nil {
			j.readDone = true
			if quote != 0 {
				j.unmatched(quote)
				return "", false, false
			}
			if len(b) == 0 { // an empty item is none at the very end
				return "", false, false
			}
			return j.finish(b, true)
		}
		if len(b) > maxItem {
			j.c.Warn("argument line too long")
			j.fatal, j.stop = 1, true
			return "", false, false
		}
		switch {
		case quote != 0:
			if c == '\n' {
				j.unmatched(quote)
				return "", false, false
			}
			if c == quote {
				quote = 0
			} else {
				b = append(b, c)
			}
			continue
		case c == '\'' || c == '"':
			quote, any = c, true
			continue
		case c == '\\':
			if c, err = j.in.ReadByte(); err != nil {
				continue
			}
			b, any = append(b, c), true
			continue
		case c == '\n':
			if any {
				return j.finish(b, !blankEnd)
			}
			continue
		case c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r':
			if j.replace != "" {
				if any { // a whole line is one item
					b = append(b, c)
				}
				continue
			}
			if !any {
				continue
			}
			return j.finish(b, j.endsLine())
		}
		b, any = append(b, c), true
	}
}

// endsLine skips blanks after an item and tells whether the line ends there.
// With -L a line that ends in a blank goes on in the next one.
func (j *job) endsLine() bool {
	blank := true
	for {
		c, err := j.in.ReadByte()
		switch {
		case err != nil:
			return true
		case c == ' ' || c == '\t':
			continue
		case c == '\n':
			return !blank
		}
		j.in.UnreadByte()
		return false
	}
}

func (j *job) finish(b []byte, lineEnd bool) (string, bool, bool) {
	s := string(b)
	if j.eofStr != "" && s == j.eofStr {
		j.readDone = true
		return "", false, false
	}
	return s, lineEnd, true
}

func (j *job) delimited() (string, bool, bool) {
	s, err := j.in.ReadString(byte(j.delim))
	if err != nil {
		j.readDone = true
		if s == "" {
			return "", false, false
		}
		return s, true, true
	}
	return s[:len(s)-1], true, true
}

func (j *job) unmatched(quote byte) {
	name := "single"
	if quote == '"' {
		name = "double"
	}
	j.c.Warn("unmatched ", name, " quote; by default quotes are special to xargs unless you use the -0 option")
	j.fatal, j.badInput = 1, true
}
