package sort

import (
	"errors"
	"math"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// kind is how keys are compared.
type kind uint8

const (
	byBytes kind = iota
	byNumber
	byGeneral
	byHuman
	byMonth
	byVersion
	byRandom
)

// key is a part of a line and how it is compared.
type key struct {
	field, char       int // where it begins, counted from 0
	endField, endChar int // where it ends; endField math.MaxInt is the line's end
	skip, skipEnd     bool
	kind              kind
	kinds             string // letters of the kinds given, to find conflicts
	dict, print, fold bool
	reverse           bool
}

// set applies an ordering letter. start and end tell to which of the key's
// places -b belongs.
func (k *key) set(letter byte, start, end bool) bool {
	i := strings.IndexByte("ngh MVR", letter)
	switch {
	case letter == 'b':
		k.skip = k.skip || start
		k.skipEnd = k.skipEnd || end
	case letter == 'd':
		k.dict = true
	case letter == 'f':
		k.fold = true
	case letter == 'i':
		k.print = true
	case letter == 'r':
		k.reverse = true
	case i >= 0 && letter != ' ':
		k.kind = [...]kind{byNumber, byGeneral, byHuman, byBytes, byMonth, byVersion, byRandom}[i]
		if strings.IndexByte(k.kinds, letter) < 0 {
			k.kinds += string(rune(letter))
		}
	default:
		return false
	}
	return true
}

func (k *key) isDefault() bool {
	return !k.skip && !k.skipEnd && k.kind == byBytes && !k.dict && !k.print && !k.fold
}

// conflict returns the letters of options that exclude each other, or "".
func (k *key) conflict() string {
	numeric := 0
	for _, l := range k.kinds {
		if l != 'R' && l != 'V' {
			numeric++
		}
	}
	if strings.ContainsAny(k.kinds, "RV") || k.dict || k.print {
		numeric++
	}
	if numeric <= 1 {
		return ""
	}
	letters := ""
	for _, l := range "dfghiMnRV" {
		if strings.ContainsRune(k.kinds, l) || l == 'd' && k.dict || l == 'f' && k.fold || l == 'i' && k.print && !k.dict {
			letters += string(l)
		}
	}
	return letters
}

func parseKey(spec string) (key, error) {
	k := key{endField: math.MaxInt}
	bad := func(what string) (key, error) {
		return k, errors.New(what + ": invalid field specification " + applet.Curly(spec))
	}
	rest := spec
	count := func(where string) (int, error) {
		n, i := 0, 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			if n < math.MaxInt/10-10 {
				n = n*10 + int(rest[i]-'0')
			}
			i++
		}
		if i == 0 {
			return 0, errors.New(where + ": invalid count at start of " + applet.Curly(rest))
		}
		rest = rest[i:]
		return n, nil
	}
	letters := func(start, end bool) {
		for rest != "" && k.set(rest[0], start, end) {
			rest = rest[1:]
		}
	}
	var err error
	if k.field, err = count("invalid number at field start"); err != nil {
		return k, err
	}
	if k.field == 0 {
		return bad("field number is zero")
	}
	k.field--
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		if k.char, err = count("invalid number after '.'"); err != nil {
			return k, err
		}
		if k.char == 0 {
			return bad("character offset is zero")
		}
		k.char--
	}
	letters(true, false)
	if strings.HasPrefix(rest, ",") {
		rest = rest[1:]
		if k.endField, err = count("invalid number after ','"); err != nil {
			return k, err
		}
		if k.endField == 0 {
			return bad("field number is zero")
		}
		k.endField--
		if strings.HasPrefix(rest, ".") {
			rest = rest[1:]
			if k.endChar, err = count("invalid number after '.'"); err != nil {
				return k, err
			}
		}
		letters(false, true)
	}
	if rest != "" {
		return bad("stray character in field spec")
	}
	return k, nil
}

// finishKeys gives the global options to the keys that have none of their own
// and, when there is no key, to one that is the whole line.
func (s *sorter) finishKeys(global key) {
	for i := range s.keys {
		k := &s.keys[i]
		if k.isDefault() && !k.reverse {
			g := global
			g.field, g.char, g.endField, g.endChar = k.field, k.char, k.endField, k.endChar
			*k = g
		}
	}
	s.reverse = global.reverse
	if len(s.keys) == 0 && !global.isDefault() {
		global.endField = math.MaxInt
		s.keys = []key{global}
	}
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// keyOf returns where k begins and ends in text.
func (s *sorter) keyOf(k *key, text []byte) (start, end int) {
	start = s.skipFields(text, k.field, false)
	if k.skip {
		for start < len(text) && isBlank(text[start]) {
			start++
		}
	}
	start += min(k.char, len(text)-start)
	if k.endField == math.MaxInt {
		return start, len(text)
	}
	if k.endChar == 0 {
		end = s.skipFields(text, k.endField+1, true)
	} else {
		end = s.skipFields(text, k.endField, false)
		if k.skipEnd {
			for end < len(text) && isBlank(text[end]) {
				end++
			}
		}
		end += min(k.endChar, len(text)-end)
	}
	return start, max(start, end)
}

// skipFields returns where the n-th field begins, or with toEnd where the one
// before it ends.
func (s *sorter) skipFields(text []byte, n int, toEnd bool) int {
	i := 0
	if s.hasTab {
		for ; n > 0 && i < len(text); n-- {
			for i < len(text) && text[i] != s.tab {
				i++
			}
			if i < len(text) && (!toEnd || n > 1) {
				i++
			}
		}
		return i
	}
	for ; n > 0 && i < len(text); n-- {
		for i < len(text) && isBlank(text[i]) {
			i++
		}
		for i < len(text) && !isBlank(text[i]) {
			i++
		}
	}
	return i
}
