package egress

import (
	"bytes"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/donax-sh/donax/sandbox"
)

// headReader keeps the head of an HTTP/1 response as it came: net/http forgets
// the order and the spelling of its fields. The transport may still be reading
// when a request has failed, so what was read is under a lock.
type headReader struct {
	net.Conn
	mu   sync.Mutex
	head []byte
	done bool
}

func (h *headReader) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.done {
		h.head = append(h.head, p[:n]...)
		h.scan()
	}
	return n, err
}

// scan looks for the end of the head. Heads of status 1xx come before it.
func (h *headReader) scan() {
	for {
		end, size := headEnd(h.head)
		switch {
		case end < 0:
			h.done = len(h.head) > maxResponseHead
			return
		case bytes.HasPrefix(h.head, []byte("HTTP/1.")) && len(h.head) > 9 && h.head[9] == '1':
			h.head = h.head[end+size:]
		default:
			h.head, h.done = h.head[:end], true
			return
		}
	}
}

// headEnd returns where the empty line after a head begins, and how long its
// line ends are.
func headEnd(b []byte) (at, size int) {
	if i := bytes.Index(b, []byte("\n\r\n")); i >= 0 {
		at, size = i+1, 2
	} else {
		at = -1
	}
	if i := bytes.Index(b, []byte("\n\n")); i >= 0 && (at < 0 || i+1 < at) {
		at, size = i+1, 1
	}
	return at, size
}

// none tells whether nothing came at all.
func (h *headReader) none() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.head) == 0 && !h.done
}

// fields returns the lines of the head.
func (h *headReader) fields() (list []sandbox.HeaderField) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.done {
		return nil
	}
	_, rest, _ := strings.Cut(string(h.head), "\n")
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\r\n")
		if n := len(list); n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
			list[n-1].Value += " " + strings.TrimSpace(line) // folded
			continue
		}
		if name, value, ok := strings.Cut(line, ":"); ok {
			list = append(list, sandbox.HeaderField{Name: name, Value: strings.TrimSpace(value)})
		}
	}
	return list
}

// shown is the head of a response as a program sees it.
func (c *call) shown(res *http.Response, head *headReader) []sandbox.HeaderField {
	list := head.fields()
	if list == nil { // HTTP/2, whose names are in lower case
		for name, values := range res.Header {
			for _, v := range values {
				list = append(list, sandbox.HeaderField{Name: strings.ToLower(name), Value: v})
			}
		}
		slices.SortStableFunc(list, func(a, b sandbox.HeaderField) int { return strings.Compare(a.Name, b.Name) })
	}
	if len(c.secret) == 0 {
		return list
	}
	out := list[:0]
	for _, f := range list {
		switch strings.ToLower(f.Name) {
		case "content-length", "content-encoding", "etag", "content-md5", "digest": // of what was not shown
			continue
		}
		out = append(out, sandbox.HeaderField{Name: c.hide(f.Name), Value: c.hide(f.Value)})
	}
	return out
}
