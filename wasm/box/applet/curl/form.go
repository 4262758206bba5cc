package curl

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"path"
	"strings"
)

// part is one part of a form.
type part struct {
	name, filename, kind string
	hasFilename          bool
	file                 string // read when the request is made; "" means value
	value                string
}

// addForm adds -F NAME=CONTENT, NAME=@FILE or NAME=<FILE, with ;type= and
// ;filename=.
func (s *state) addForm(v string, literal bool) error {
	name, content, ok := strings.Cut(v, "=")
	if !ok {
		s.warn("Illegally formatted input field!")
		return badOption{text: badlyUsed}
	}
	p := part{name: name, value: content}
	if literal {
		s.form = append(s.form, p)
		return nil
	}
	content, params := formWord(content)
	p.value = content
	if content != "" && (content[0] == '@' || content[0] == '<') {
		if p.file = content[1:]; p.file == "" {
			return badOption{text: badlyUsed}
		}
		if content[0] == '@' {
			p.filename, p.hasFilename = path.Base(p.file), true
			p.kind = typeOf(p.file)
		}
	}
	for params != "" {
		key, rest, _ := strings.Cut(params, "=")
		value, more := formWord(rest)
		switch strings.TrimSpace(key) {
		case "type":
			p.kind = value
		case "filename":
			p.filename, p.hasFilename = value, true
		default:
			return badOption{text: badlyUsed}
		}
		params = more
	}
	s.form = append(s.form, p)
	return nil
}

// formWord cuts a word, quoted or not, off a list separated by semicolons.
func formWord(v string) (word, rest string) {
	marker := ""
	if v != "" && (v[0] == '@' || v[0] == '<') {
		marker, v = v[:1], v[1:]
	}
	if strings.HasPrefix(v, `"`) {
		var b strings.Builder
		for i := 1; i < len(v); i++ {
			switch {
			case v[i] == '\\' && i+1 < len(v):
				i++
				b.WriteByte(v[i])
			case v[i] == '"':
				_, rest, _ = strings.Cut(v[i+1:], ";")
				return marker + b.String(), rest
			default:
				b.WriteByte(v[i])
			}
		}
	}
	word, rest, _ = strings.Cut(v, ";")
	return marker + word, rest
}

// typeOf is the type that curl gives a file by its name.
func typeOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".gif":
		return "image/gif"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".png":
		return "image/png"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain"
	case ".htm", ".html":
		return "text/html"
	case ".pdf":
		return "application/pdf"
	case ".xml":
		return "application/xml"
	}
	return "application/octet-stream"
}

// multipart encodes a form.
func (s *state) multipart() (body []byte, contentType string, err error) {
	var mark [8]byte
	_, _ = rand.Read(mark[:]) // it never fails
	boundary := strings.Repeat("-", 24) + hex.EncodeToString(mark[:])
	var b bytes.Buffer
	quote := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")
	for _, p := range s.form {
		value := []byte(p.value)
		if p.file != "" {
			if value, err = s.readFile(p.file); err != nil {
				return nil, "", fatal{26, "Failed to open/read local data from file/application"}
			}
		}
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + quote.Replace(p.name) + `"`)
		if p.hasFilename {
			b.WriteString("; filename=\"" + quote.Replace(p.filename) + `"`)
		}
		if p.kind != "" {
			b.WriteString("\r\nContent-Type: " + p.kind)
		}
		b.WriteString("\r\n\r\n")
		b.Write(value)
		b.WriteString("\r\n")
	}
	b.WriteString("--" + boundary + "--\r\n")
	return b.Bytes(), "multipart/form-data; boundary=" + boundary, nil
}
