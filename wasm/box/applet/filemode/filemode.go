// Package filemode reads modes as chmod takes them: 755, u+x, go=, a+rX.
package filemode

import "io/fs"

// A Mode is a list of changes to permission bits.
type Mode []change

// change is one of them: op is one of + - =.
type change struct {
	who  uint32 // bits of those it is for, 0 for all but those of the umask
	op   byte
	bits uint32
	x    bool   // X: execute for folders and what someone may execute already
	copy uint32 // u, g or o: bits 0700, 070 or 07 of the old mode
	// number tells an octal mode; explicit one that names the special bits, so
	// that a folder does not keep its own.
	number, explicit bool
}

// Parse reads a mode.
func Parse(s string) (Mode, bool) {
	if s == "" {
		return nil, false
	}
	if s[0] >= '0' && s[0] <= '7' {
		n := uint32(0)
		for i := range len(s) {
			if s[i] < '0' || s[i] > '7' || n > 0o7777 {
				return nil, false
			}
			n = n*8 + uint32(s[i]-'0')
		}
		return Mode{{op: '=', bits: n, who: 0o7777, number: true, explicit: len(s) > 4 || n > 0o777}}, n <= 0o7777
	}
	var m Mode
	for i := 0; ; {
		who := uint32(0)
	whose:
		for ; i < len(s); i++ {
			switch s[i] {
			case 'u':
				who |= 0o4700
			case 'g':
				who |= 0o2070
			case 'o':
				who |= 0o1007
			case 'a':
				who |= 0o7777
			default:
				break whose
			}
		}
		if i == len(s) || s[i] != '+' && s[i] != '-' && s[i] != '=' {
			return nil, false
		}
		for i < len(s) && (s[i] == '+' || s[i] == '-' || s[i] == '=') {
			c := change{who: who, op: s[i]}
			i++
			start := i
			if i < len(s) && s[i] >= '0' && s[i] <= '7' {
				n := uint32(0)
				for ; i < len(s) && s[i] >= '0' && s[i] <= '7' && n <= 0o7777; i++ {
					n = n*8 + uint32(s[i]-'0')
				}
				if who != 0 || n > 0o7777 || i < len(s) && s[i] != ',' {
					return nil, false
				}
				c.who, c.bits, c.number, c.explicit = 0o7777, n, true, true
				m = append(m, c)
				break
			}
		perms:
			for ; i < len(s); i++ {
				switch s[i] {
				case 'r':
					c.bits |= 0o444
				case 'w':
					c.bits |= 0o222
				case 'x':
					c.bits |= 0o111
				case 'X':
					c.x = true
				case 's':
					c.bits |= 0o6000
				case 't':
					c.bits |= 0o1000
				case 'u', 'g', 'o':
					if i != start {
						return nil, false
					}
					c.copy = map[byte]uint32{'u': 0o700, 'g': 0o070, 'o': 0o007}[s[i]]
					i++
					break perms
				default:
					break perms
				}
			}
			m = append(m, c)
		}
		if i == len(s) {
			return m, true
		}
		if s[i] != ',' {
			return nil, false
		}
		i++
	}
}

// Apply returns what becomes of old, the bits of a file or folder. A change
// that does not say whose bits it is for leaves those of the umask alone.
func (m Mode) Apply(old uint32, dir bool, umask fs.FileMode) uint32 {
	for _, c := range m {
		bits := c.bits
		if c.copy != 0 {
			from := old & c.copy
			for from > 7 {
				from >>= 3
			}
			bits = from | from<<3 | from<<6
		}
		if c.x && (dir || old&0o111 != 0) {
			bits |= 0o111
		}
		who := c.who
		if who == 0 {
			who = 0o7777
			bits &^= uint32(umask)
		}
		bits &= who
		switch c.op {
		case '+':
			old |= bits
		case '-':
			old &^= bits
		default:
			// A folder keeps setuid and setgid but where they are named.
			keep := ^who
			if c.who == 0 {
				keep = 0
			}
			if dir && !c.explicit && c.bits&0o6000 == 0 {
				keep |= 0o6000
			}
			old = old&keep&0o7777 | bits
		}
	}
	return old
}
