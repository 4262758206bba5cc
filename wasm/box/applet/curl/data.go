package curl

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"io"
	"os"
	"path"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

// maxMemory bounds what is read into memory; the host takes less.
const maxMemory = 64 << 20

// readFile reads a file, or the standard input for "-".
func (s *state) readFile(name string) ([]byte, error) {
	f, err := s.c.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxMemory))
}

// addData adds -d: @FILE is read, and without its line ends when those are
// not wanted.
func (s *state) addData(v string, file, strip bool) error {
	data := []byte(v)
	if name, ok := strings.CutPrefix(v, "@"); ok && file {
		b, err := s.readFile(name)
		if err != nil {
			s.warn("Couldn't read data from file \"" + name + "\", this makes an empty POST.")
		}
		if data = b; strip {
			data = stripBytes(b)
		}
	}
	s.join(data)
	return nil
}

func stripBytes(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c != '\r' && c != '\n' && c != 0 {
			out = append(out, c)
		}
	}
	return out
}

func (s *state) join(data []byte) {
	if s.posts && len(s.data) > 0 {
		s.data = append(s.data, '&')
	}
	s.data, s.posts = append(s.data, data...), true
}

// addJSON adds --json, whose parts are joined as they are.
func (s *state) addJSON(v string) error {
	data := []byte(v)
	if name, ok := strings.CutPrefix(v, "@"); ok {
		b, err := s.readFile(name)
		if err != nil {
			s.warn("Couldn't read data from file \"" + name + "\", this makes an empty POST.")
		}
		data = b
	}
	s.data, s.posts = append(s.data, data...), true
	return nil
}

// encoded is CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE with the
// content percent-encoded.
func (s *state) encoded(v string) (string, error) {
	i := strings.IndexAny(v, "=@")
	name, content := "", v
	switch {
	case i >= 0 && v[i] == '=':
		name, content = v[:i], v[i+1:]
	case i >= 0:
		b, err := s.readFile(v[i+1:])
		if err != nil {
			return "", fatal{26, "Failed to open " + v[i+1:]}
		}
		name, content = v[:i], string(b)
	}
	if content = strings.ReplaceAll(weburl.Percent(content), "%20", "+"); name != "" {
		content = name + "=" + content
	}
	return content, nil
}

func (s *state) addEncoded(v string) error {
	e, err := s.encoded(v)
	if err == nil {
		s.join([]byte(e))
	}
	return err
}

func (s *state) addQuery(v string) error {
	e, plain := strings.CutPrefix(v, "+")
	if !plain {
		var err error
		if e, err = s.encoded(v); err != nil {
			return err
		}
	}
	s.urlQuery = append(s.urlQuery, e)
	return nil
}

// addHeader adds -H, from a file when it begins with @.
func (s *state) addHeader(v string) error {
	name, ok := strings.CutPrefix(v, "@")
	if !ok {
		s.headers = append(s.headers, v)
		return nil
	}
	b, err := s.readFile(name)
	if err != nil {
		return fatal{26, "Failed to open " + name}
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			s.headers = append(s.headers, line)
		}
	}
	return nil
}

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

// openUpload opens the file of -T. Its size is -1 when it is a stream.
func (s *state) openUpload() (f *os.File, size int64, err error) {
	if s.upload == "-" || s.upload == "." {
		f, ok := s.c.Stdin.(*os.File)
		if !ok {
			return nil, 0, fatal{26, "Failed to open/read local data from file/application"}
		}
		return f, -1, nil
	}
	f, err = os.Open(s.upload)
	if err == nil {
		fi, e := f.Stat()
		if e == nil && fi.Mode().IsRegular() {
			return f, fi.Size(), nil
		}
		if e == nil && !fi.IsDir() {
			return f, -1, nil
		}
		f.Close()
	}
	s.note("curl: Can't open " + applet.Quote(s.upload) + "!")
	return nil, 0, fatal{26, "Failed to open/read local data from file/application"}
}
