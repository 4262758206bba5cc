package file

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A language is a kind of text that its beginning tells.
type language struct{ start, text, mime string }

var languages = []language{
	{`^#! ?(/usr)?(/local)?/bin/(env )?bash\b`, "Bourne-Again shell script", "text/x-shellscript"},
	{`^#! ?(/usr)?/bin/(env )?(sh|dash)\b`, "POSIX shell script", "text/x-shellscript"},
	{`^#! ?(/usr)?(/local)?/bin/(env )?python[0-9.]*`, "Python script", "text/x-script.python"},
	{`^#! ?(/usr)?(/local)?/bin/(env )?perl\b`, "Perl script text", "text/x-perl"},
	{`^#! ?(/usr)?(/local)?/bin/(env )?node\b`, "Node.js script", "application/javascript"},
	{`^#! ?(/usr)?(/local)?/bin/(env )?ruby\b`, "Ruby script", "text/x-ruby"},
	{`^#! ?(/usr)?/bin/(env )?[gmn]?awk\b`, "awk script", "text/x-awk"},
	{`(?i)^\s*<!doctype html|^\s*<html|^\s*<head`, "HTML document", "text/html"},
	{`^<\?xml version="([0-9.]+)"`, "XML 1.0 document", "text/xml"},
	{`(?s)\A(Index: .*\n|diff .*\n)?(=+\n)?--- .*\n\+\+\+ .*\n@@ `, "unified diff output", "text/x-diff"},
	{`(?s)\A(diff .*\n)?\*\*\* .*\n--- .*\n\*{15}`, "context diff output", "text/x-diff"},
	{`(?m)^\s*#\s*include\s*[<"]`, "C source", "text/x-c"},
	{`^-----BEGIN CERTIFICATE-----`, "PEM certificate", "text/plain"},
	{`^-----BEGIN (RSA )?PRIVATE KEY-----`, "PEM RSA private key", "text/plain"},
	{`(?m)^(from [\w.]+ import |def \w+\(.*\):)`, "Python script", "text/x-script.python"},
	{`(?m)\A\.PHONY:|^\w[\w-]*:( \w+)*\n\t`, "makefile script", "text/x-makefile"},
}

// text tells what kind of text data is, or that it is none.
func text(data []byte) kind {
	charset, encoding := encodingOf(data)
	if charset == "" {
		return binaryKind("data", "application/octet-stream")
	}
	k := kind{text: encoding, mime: "text/plain", charset: charset}
	if strings.HasPrefix(charset, "utf-16") {
		return kind{text: k.text + " text" + endings(unwiden(data)), mime: k.mime, charset: charset}
	}
	if isJSON(data) {
		return kind{text: "JSON text data", mime: "application/json", charset: charset}
	}
	if isCSV(data) {
		return kind{text: csvWords(charset), mime: "text/csv", charset: charset}
	}
	head := data[:min(len(data), 8<<10)]
	for _, l := range languages {
		if !regexp.MustCompile(l.start).Match(head) {
			continue
		}
		executable := ""
		if bytes.HasPrefix(data, []byte("#!")) || l.text == "Python script" {
			executable = " executable"
		}
		return kind{text: l.text + ", " + k.text + executable + endings(data), mime: l.mime, charset: charset}
	}
	k.text += endings(data)
	return k
}

// csvWords names a CSV text, of ASCII without saying so.
func csvWords(charset string) string {
	if charset == "us-ascii" {
		return "CSV text"
	}
	return "CSV Unicode text, UTF-8 text"
}

// encodingOf names a text's encoding as MIME and in words; "" for what is no text.
func encodingOf(data []byte) (charset, words string) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return "utf-16le", "Unicode text, UTF-16, little-endian"
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "utf-16be", "Unicode text, UTF-16, big-endian"
	}
	ascii, latin := true, true
	for _, b := range data {
		switch {
		case b >= 0x20 && b < 0x7f, b >= 7 && b <= 13, b == 27:
		case b < 0x20 || b == 0x7f:
			return "", ""
		default:
			ascii = false
			latin = latin && b >= 0xa0
		}
	}
	if ascii {
		return "us-ascii", "ASCII text"
	}
	whole := data
	if len(data) == 1<<20 { // the end may be in the middle of a character
		for len(whole) > 0 && !utf8.RuneStart(whole[len(whole)-1]) {
			whole = whole[:len(whole)-1]
		}
		whole = whole[:len(whole)-1]
	}
	switch {
	case utf8.Valid(whole) && bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return "utf-8", "Unicode text, UTF-8 (with BOM) text"
	case utf8.Valid(whole):
		return "utf-8", "Unicode text, UTF-8 text"
	case latin:
		return "iso-8859-1", "ISO-8859 text"
	}
	return "unknown-8bit", "Non-ISO extended-ASCII text"
}

func unwiden(data []byte) []byte { return bytes.ReplaceAll(data, []byte{0}, nil) }

// endings says what is unusual about the lines.
func endings(data []byte) string {
	crlf := bytes.Count(data, []byte("\r\n"))
	cr := bytes.Count(data, []byte("\r")) - crlf
	lf := bytes.Count(data, []byte("\n")) - crlf
	longest, n := 0, 0
	for _, b := range data {
		if b == '\n' || b == '\r' {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	s := ""
	if longest > 300 {
		s = ", with very long lines (" + strconv.Itoa(longest) + ")"
	}
	var kinds []string
	if crlf > 0 {
		kinds = append(kinds, "CRLF")
	}
	if cr > 0 {
		kinds = append(kinds, "CR")
	}
	if lf > 0 && len(kinds) > 0 {
		kinds = append(kinds, "LF")
	}
	switch {
	case len(kinds) > 0:
		s += ", with " + strings.Join(kinds, ", ") + " line terminators"
	case lf == 0:
		s += ", with no line terminators"
	}
	return s
}

func isJSON(data []byte) bool {
	t := bytes.TrimLeft(data, " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[') && json.Valid(data)
}

// isCSV tells whether each of the first lines has as many commas, and some.
func isCSV(data []byte) bool {
	lines := strings.SplitN(string(data), "\n", 12)
	if len(lines) < 3 {
		return false
	}
	lines = lines[:len(lines)-1]
	if len(lines) > 10 {
		lines = lines[:10]
	}
	n := strings.Count(lines[0], ",")
	for _, l := range lines {
		if strings.Count(l, ",") != n {
			return false
		}
	}
	return n > 0
}
