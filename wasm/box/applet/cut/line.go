package cut

import (
	"bytes"
	"io"
)

func (k *cutter) cutBytes(out, line []byte) []byte {
	for i, s := range k.ranges {
		if s.lo > len(line) {
			break
		}
		if i > 0 && k.hasJoint {
			out = append(out, k.joint...)
		}
		out = append(out, line[s.lo-1:min(s.hi, len(line))]...)
	}
	return out
}

func (k *cutter) cutFields(out, line []byte) []byte {
	// The position of the first delimiter tells the lines without any.
	end := bytes.IndexByte(line, k.delim)
	if end < 0 {
		if k.only {
			return out
		}
		return append(append(out, line...), k.end)
	}
	plain := len(k.joint) == 1 && k.joint[0] == k.delim
	field, start := 1, 0 // the field that begins at start and ends at end
	wrote := false
	for _, s := range k.ranges {
		// Skip to the range's first field.
		for field < s.lo {
			if end < 0 {
				return append(out, k.end)
			}
			start = end + 1
			end = index(line, start, k.delim)
			field++
		}
		if wrote {
			out = append(out, k.joint...)
		}
		wrote = true
		if s.hi == maxInt && plain {
			return append(append(out, line[start:]...), k.end)
		}
		for {
			if end < 0 {
				return append(append(out, line[start:]...), k.end)
			}
			out = append(out, line[start:end]...)
			if field == s.hi {
				break
			}
			out = append(out, k.joint...)
			start = end + 1
			end = index(line, start, k.delim)
			field++
		}
		start = end + 1
		end = index(line, start, k.delim)
		field++
		if start > len(line) {
			break
		}
	}
	return append(out, k.end)
}

const maxInt = int(^uint(0) >> 1)

// index returns where delim stands in line at or after start, or -1. Fields
// are short: looking at the bytes here costs less than a call.
func index(line []byte, start int, delim byte) int {
	for i := start; i < len(line); i++ {
		if line[i] == delim {
			return i
		}
		if i == start+32 {
			if n := bytes.IndexByte(line[i:], delim); n >= 0 {
				return i + n
			}
			return -1
		}
	}
	return -1
}

// lineFields is for a delimiter that is also what ends lines: then the lines
// are the fields of one record, the whole input.
func (k *cutter) lineFields(r io.Reader, w io.Writer) error {
	text, err := io.ReadAll(r)
	if err != nil || len(text) == 0 {
		return err
	}
	text = bytes.TrimSuffix(text, []byte{k.end})
	w.Write(k.cutFields(nil, text))
	return nil
}
