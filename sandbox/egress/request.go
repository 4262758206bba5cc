package egress

import (
	"strings"

	"github.com/donax-sh/donax/sandbox"
)

// Bounds on the head of a request.
const (
	maxFields = 200
	maxHead   = 64 << 10 // bytes
)

// ours are the fields that belong to the connection, which is not the
// program's, with why nobody may set them.
var ours = map[string]string{
	"connection":        "a connection serves one request",
	"content-length":    "the body decides it",
	"expect":            "it is not supported",
	"keep-alive":        "a connection serves one request",
	"te":                "the body decides it",
	"trailer":           "it is not supported",
	"transfer-encoding": "the body decides it",
	"upgrade":           "only HTTP is spoken",
}

// checkRequest checks method, head and size.
func (c *call) checkRequest() error {
	r := &c.req
	switch {
	case !token(r.Method) || len(r.Method) > 32:
		return invalid("the method is none")
	case r.Method == "CONNECT" || r.Method == "TRACE":
		return invalid("method %s is not supported", r.Method)
	case r.Body != nil && r.Size < -1: // a rule that bounds the size would take it for a small one
		return invalid("the size of the body is none")
	case r.Body != nil && r.Size > c.cfg.Limits.Request:
		return tooLarge("a request may carry %d bytes (raise with --net-limit)", c.cfg.Limits.Request)
	case len(r.Header) > maxFields:
		return tooLarge("a request may have %d header fields", maxFields)
	}
	if r.Body == nil {
		r.Size = 0
	}
	size := 0
	kept := r.Header[:0:0]
	for _, f := range r.Header {
		name := strings.ToLower(f.Name)
		if size += len(f.Name) + len(f.Value); size > maxHead {
			return tooLarge("the head of a request may have %d bytes", maxHead)
		}
		switch why := ours[name]; {
		case !token(name) || !fieldValue(f.Value):
			// The value is not quoted: it may be what another program may not see.
			return invalid("header %q holds a character that may not stand there", name)
		case why != "":
			return invalid("header %s cannot be set: %s", f.Name, why)
		case strings.HasPrefix(name, "proxy-"):
			return invalid("header %s cannot be set: there is no proxy", f.Name)
		case name == "host":
			// Another name than the one that was asked about would reach whatever
			// else lives behind the same address.
			if t := (target{scheme: c.scheme}); t.setHost(f.Value) != nil || t.host != c.host || t.port != c.port {
				return denied("not allowed: header Host names another host than the URL")
			}
			continue
		}
		if len(c.secret) > 0 {
			switch {
			case name == "range" || name == "if-range":
				return denied("not allowed: part of a response of a host with a secret")
			case name == "accept-encoding", c.injected(name):
				continue
			}
		}
		kept = append(kept, f)
	}
	r.Header = kept
	return nil
}

// injected tells whether a secret is sent under a name.
func (c *call) injected(name string) bool {
	for _, s := range c.secret {
		if strings.EqualFold(s.Header, name) {
			return true
		}
	}
	return false
}

// fields is the head that is sent, as net/http wants it.
func (c *call) fields() map[string][]string {
	h := map[string][]string{"User-Agent": {""}} // net/http would give its own
	add := func(f sandbox.HeaderField) {
		name := canonical(f.Name)
		if name == "User-Agent" {
			h[name] = nil
		}
		h[name] = append(h[name], f.Value)
	}
	for _, f := range c.req.Header {
		add(f)
	}
	for _, s := range c.secret {
		add(sandbox.HeaderField{Name: s.Header, Value: s.Value})
	}
	return h
}

// token tells whether s is one (RFC 9110, section 5.6.2).
func token(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// fieldValue tells whether s may be sent as a value: no CR, LF or NUL, which
// would end the field, and no other control character.
func fieldValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}
