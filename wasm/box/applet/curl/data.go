package curl

import (
	"io"
	"os"
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
