package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/donax-sh/donax/mcp/client"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// Bounds of what is shown.
const (
	spillOver = 64 << 10 // a longer result that would be shown goes to a file
	spillHead = 4 << 10
)

// folder is where a session finds the files of results.
const folder = "/tmp/mcp"

// print writes a result as the command's output.
func (c *command) print(p *sandbox.Proc, res client.Result, asJSON bool) error {
	out, err := c.output(p, res, asJSON)
	if err != nil {
		return c.said(p, err)
	}
	if res.IsError {
		if out == "" {
			out = "the tool failed and does not say why\n"
		}
		_, _ = fmt.Fprint(p.Stderr, c.name+": "+ended(cut(out, spillOver)))
		return sandbox.ExitCode(1)
	}
	if p.Shown && len(out) > spillOver {
		name, err := save(p.FS, c.name, ".txt", []byte(out))
		if err != nil {
			return c.said(p, err)
		}
		head := cut(out, spillHead)
		return write(p.Stdout, ended(head)+fmt.Sprintf("[%d bytes in all: the whole result is in %s]\n", len(out), name))
	}
	return write(p.Stdout, out)
}

// said reports that a result could not be kept.
func (c *command) said(p *sandbox.Proc, err error) error {
	_, _ = fmt.Fprintf(p.Stderr, "%s: the result cannot be written: %v\n", c.name, err)
	return sandbox.ExitCode(1)
}

// output is what a result looks like on stdout: the structured part where it
// is asked for or alone, else the text as it is, and a line for each file.
func (c *command) output(p *sandbox.Proc, res client.Result, asJSON bool) (string, error) {
	text := clean(c.s.hide(res.Text))
	structured := clean(c.s.hide(string(res.JSON)))
	if asJSON {
		if structured != "" {
			return structured + "\n", nil
		}
		if json.Valid([]byte(text)) {
			return ended(text), nil
		}
	}
	var b strings.Builder
	b.WriteString(text)
	for _, block := range res.Content {
		one := ""
		switch block.Kind {
		case client.Text:
			continue
		case client.Link:
			one = line(c.s.hide(block.URI), 1000)
		default:
			data := block.Data
			if s := string(data); block.Kind == client.Resource && isText(block.MIME) {
				data = []byte(clean(c.s.hide(s)))
			}
			var err error
			if one, err = save(p.FS, c.name, extension(block), data); err != nil {
				return "", err
			}
		}
		if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(one + "\n")
	}
	switch {
	case asJSON:
		q, err := json.Marshal(map[string]string{"text": b.String()})
		return string(q) + "\n", err
	case len(res.Content) == 0 && structured != "":
		return structured + "\n", nil
	}
	return b.String(), nil
}

func ended(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}

func isText(mime string) bool {
	return mime == "" || strings.HasPrefix(mime, "text/") || strings.HasPrefix(mime, "application/json")
}

// extension is that of a kind of content which is known, and .bin: the name
// of a file is not for the server to choose.
func extension(b client.Content) string {
	kind, _, _ := strings.Cut(strings.ToLower(b.MIME), ";")
	if ext := extensions[strings.TrimSpace(kind)]; ext != "" {
		return ext
	}
	if b.Kind == client.Resource && isText(b.MIME) {
		return ".txt"
	}
	return ".bin"
}

var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg",
	"application/json": ".json", "application/pdf": ".pdf", "application/zip": ".zip",
	"text/plain": ".txt", "text/markdown": ".md", "text/html": ".html", "text/csv": ".csv", "text/xml": ".xml",
}

// save writes data to a new file of the session and returns its name.
func save(fsys vfs.FS, name, ext string, data []byte) (string, error) {
	if err := fsys.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	for n := 1; n < 100_000; n++ {
		at := path.Join(folder, fmt.Sprintf("%s-%d%s", name, n, ext))
		f, err := fsys.Open(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			_ = fsys.Remove(at)
			return "", err
		}
		return at, nil
	}
	return "", fmt.Errorf("%s is full", folder)
}
