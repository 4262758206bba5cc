package mcp

// members calls f for each member of the object raw, which scan has passed,
// and reports whether raw is an object at all. Names are matched as they are:
// "Method" is not "method".
func members(raw []byte, f func(name string, value []byte)) bool {
	s := &scanner{b: raw}
	s.space()
	if s.peek() != '{' {
		return false
	}
	s.i++
	for {
		s.space()
		if s.peek() != '"' {
			return true
		}
		name, err := s.str()
		if err != nil {
			return true
		}
		s.space()
		s.i++ // the colon
		s.space()
		from := min(s.i, len(raw))
		s.skip()
		s.i = min(s.i, len(raw)) // a text that scan gave up on may end anywhere
		f(string(name), raw[from:s.i])
		s.space()
		s.i++ // the comma or brace
	}
}

// skip moves over one value of a text that is known to be JSON.
func (s *scanner) skip() {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			for s.i++; s.i < len(s.b) && s.b[s.i] != '"'; s.i++ {
				if s.b[s.i] == '\\' {
					s.i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
		case ',':
			if depth == 0 {
				return
			}
			s.i++
			continue
		case ' ', '\t', '\r', '\n':
			if depth == 0 {
				return
			}
			s.i++
			continue
		default:
			s.i++
			continue
		}
		s.i++
		if depth == 0 {
			return
		}
	}
}
