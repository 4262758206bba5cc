package iconv

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// charset is one encoding.
type charset struct {
	// decode returns the first character of b and its length; -1: there is none
	// of so many bytes, length 0: it goes on behind b.
	decode func(b []byte) (rune, int)
	// encode appends a character; false: the encoding has none for it.
	encode func(b []byte, c rune) ([]byte, bool)
	mark   string // what text begins with
	// sniff looks at how text begins, where that says how it goes on.
	sniff func(b []byte) (decode func([]byte) (rune, int), skip int)
}

// tables are the encodings of one byte a character, by their names.
func tables() []struct {
	names string
	table *charmap.Charmap
} {
	return []struct {
		names string
		table *charmap.Charmap
	}{
		{"ISO-8859-1 LATIN1 L1 ISO_8859-1 ISO_8859-1:1987 ISO8859-1 CP819", charmap.ISO8859_1},
		{"ISO-8859-2 LATIN2 L2 ISO8859-2", charmap.ISO8859_2},
		{"ISO-8859-3 LATIN3 ISO8859-3", charmap.ISO8859_3},
		{"ISO-8859-4 LATIN4 ISO8859-4", charmap.ISO8859_4},
		{"ISO-8859-5 CYRILLIC ISO8859-5", charmap.ISO8859_5},
		{"ISO-8859-6 ARABIC ISO8859-6", charmap.ISO8859_6},
		{"ISO-8859-7 GREEK ISO8859-7", charmap.ISO8859_7},
		{"ISO-8859-8 HEBREW ISO8859-8", charmap.ISO8859_8},
		{"ISO-8859-9 LATIN5 ISO8859-9", charmap.ISO8859_9},
		{"ISO-8859-10 LATIN6 ISO8859-10", charmap.ISO8859_10},
		{"ISO-8859-13 LATIN7 ISO8859-13", charmap.ISO8859_13},
		{"ISO-8859-14 LATIN8 ISO8859-14", charmap.ISO8859_14},
		{"ISO-8859-15 LATIN-9 ISO8859-15", charmap.ISO8859_15},
		{"ISO-8859-16 LATIN10 ISO8859-16", charmap.ISO8859_16},
		{"CP437 IBM437 437", charmap.CodePage437},
		{"CP850 IBM850 850", charmap.CodePage850},
		{"CP852 IBM852 852", charmap.CodePage852},
		{"CP855 IBM855 855", charmap.CodePage855},
		{"CP858", charmap.CodePage858},
		{"CP866 IBM866 866", charmap.CodePage866},
		{"KOI8-R", charmap.KOI8R},
		{"KOI8-U", charmap.KOI8U},
		{"MACINTOSH MAC", charmap.Macintosh},
		{"CP874 WINDOWS-874", charmap.Windows874},
		{"CP1250 WINDOWS-1250 MS-EE", charmap.Windows1250},
		{"CP1251 WINDOWS-1251 MS-CYRL", charmap.Windows1251},
		{"CP1252 WINDOWS-1252 MS-ANSI", charmap.Windows1252},
		{"CP1253 WINDOWS-1253 MS-GREEK", charmap.Windows1253},
		{"CP1254 WINDOWS-1254 MS-TURK", charmap.Windows1254},
		{"CP1255 WINDOWS-1255 MS-HEBR", charmap.Windows1255},
		{"CP1256 WINDOWS-1256 MS-ARAB", charmap.Windows1256},
		{"CP1257 WINDOWS-1257 WINBALTRIM", charmap.Windows1257},
		{"CP1258 WINDOWS-1258", charmap.Windows1258},
	}
}

const others = "ASCII US-ASCII ANSI_X3.4-1968 UTF-8 UTF8 UTF-16 UTF16 UTF-16LE UTF16LE UTF-16BE UTF16BE UCS-2 UCS2 UCS-2LE UCS-2BE " +
	"UTF-32 UTF32 UTF-32LE UTF32LE UTF-32BE UTF32BE UCS-4 UCS4 UCS-4LE UCS-4BE"

// names are those of all encodings.
func names() []string {
	out := strings.Fields(others)
	for _, t := range tables() {
		out = append(out, strings.Fields(t.names)...)
	}
	slices.Sort(out)
	return out
}

func find(name string) (charset, bool) {
	name = strings.ToUpper(name)
	le, be := byteOrder(binary.LittleEndian), byteOrder(binary.BigEndian)
	switch name {
	case "", "UTF-8", "UTF8": // the locale's
		return charset{decode: decodeUTF8, encode: func(b []byte, c rune) ([]byte, bool) { return utf8.AppendRune(b, c), true }}, true
	case "ASCII", "US-ASCII", "ANSI_X3.4-1968":
		return charset{decode: decodeASCII, encode: encodeASCII}, true
	case "UTF-16", "UTF16":
		return wide(16, le, true), true
	case "UTF-16LE", "UTF16LE":
		return wide(16, le, false), true
	case "UTF-16BE", "UTF16BE":
		return wide(16, be, false), true
	case "UCS-2", "UCS2", "UCS-2LE":
		return wide(2, le, false), true
	case "UCS-2BE":
		return wide(2, be, false), true
	case "UTF-32", "UTF32":
		return wide(32, le, true), true
	case "UTF-32LE", "UTF32LE", "UCS-4LE":
		return wide(32, le, false), true
	case "UTF-32BE", "UTF32BE", "UCS-4BE", "UCS-4", "UCS4":
		return wide(32, be, false), true
	}
	for _, t := range tables() {
		if slices.Contains(strings.Fields(t.names), name) {
			return single(t.table), true
		}
	}
	return charset{}, false
}

func decodeUTF8(b []byte) (rune, int) {
	c, n := utf8.DecodeRune(b)
	switch {
	case c != utf8.RuneError || n > 1:
		return c, n
	case !utf8.FullRune(b):
		return -1, 0
	}
	return -1, 1
}

func decodeASCII(b []byte) (rune, int) {
	if b[0] >= utf8.RuneSelf {
		return -1, 1
	}
	return rune(b[0]), 1
}

func encodeASCII(b []byte, c rune) ([]byte, bool) { return append(b, byte(c)), c < utf8.RuneSelf }

func single(t *charmap.Charmap) charset {
	return charset{
		decode: func(b []byte) (rune, int) {
			if c := t.DecodeByte(b[0]); c != utf8.RuneError {
				return c, 1
			}
			return -1, 1
		},
		encode: func(b []byte, c rune) ([]byte, bool) {
			x, ok := t.EncodeRune(c)
			return append(b, x), ok
		},
	}
}
