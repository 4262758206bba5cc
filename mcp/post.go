package mcp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func (h *httpHandler) servePost(w http.ResponseWriter, r *http.Request, sid string, who Identity) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		// A page can send other types without asking; this one it cannot.
		writeFault(w, http.StatusUnsupportedMediaType, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "Content-Type must be application/json"))
		return
	}
	if r.Header.Get("Accept") == "" { // which means anything
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	body, ok := h.readBody(w, r)
	if !ok {
		return
	}
	e, f := parseEnvelope(body)
	if f != nil {
		writeFault(w, http.StatusBadRequest, f)
		return
	}
	if e == nil { // a notification of the wrong shape
		writeFault(w, http.StatusBadRequest, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "malformed notification"))
		return
	}
	version := r.Header.Get("MCP-Protocol-Version")
	modern := version >= modernRevision || e.modern()
	if f := h.checkHeaders(r, e, version); f != nil {
		writeFault(w, http.StatusBadRequest, f)
		return
	}
	if e.kind == kindRequest {
		if f := e.check(h.s.served); f != nil {
			writeFault(w, statusOf(f, modern), f)
			return
		}
	}
	if e.bulky() {
		leave, ok := h.bulky.enter(r.Context(), userID(who.Principal))
		if !ok {
			return // the client is gone
		}
		defer leave()
	}
	switch {
	case modern:
		h.stream(w, withBody(r, body), h.modern, e.method == "tools/call")
	case e.method == "initialize" && sid == "":
		if e.kind == kindRequest && !h.sessions.room(userID(who.Principal), time.Now()) {
			writeFault(w, http.StatusTooManyRequests, faultOf(e.id, jsonrpc.CodeInternalError, "too many sessions; end one with DELETE"))
			return
		}
		if e.kind == kindRequest && e.rewritten {
			if body, ok = h.encode(w, e); !ok {
				return
			}
		}
		h.stream(&sessionWriter{ResponseWriter: w, h: h, owner: userID(who.Principal)}, withBody(r, body), h.legacy, false)
	case sid == "":
		writeFault(w, http.StatusBadRequest, faultOf(e.id, jsonrpc.CodeInvalidParams,
			"open with initialize and send its Mcp-Session-Id, or send MCP-Protocol-Version and _meta of "+modernRevision))
	default:
		h.stream(w, withBody(r, body), h.legacy, e.method == "tools/call")
	}
}

func (h *httpHandler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(h.c.ReadLimit)) // not every server can: then the body limit has to do
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.s.limits.Message)))
	_ = rc.SetReadDeadline(time.Time{}) // the connection is watched for its end from now on
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		writeFault(w, http.StatusRequestEntityTooLarge, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("body longer than %d bytes", h.s.limits.Message)))
		return nil, false
	case err != nil:
		writeFault(w, http.StatusBadRequest, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the body did not arrive"))
		return nil, false
	}
	if body = bytes.TrimSpace(body); len(body) == 0 {
		writeFault(w, http.StatusBadRequest, faultOf(jsonrpc.ID{}, jsonrpc.CodeParseError, "parse error: the body is empty"))
		return nil, false
	}
	return body, true
}

// encode returns the body of a message that was changed.
func (h *httpHandler) encode(w http.ResponseWriter, e *envelope) ([]byte, bool) {
	b, err := jsonrpc.EncodeMessage(e.msg)
	if err != nil {
		writeFault(w, http.StatusBadRequest, faultOf(e.id, jsonrpc.CodeInvalidParams, "invalid params"))
		return nil, false
	}
	return b, true
}

func withBody(r *http.Request, body []byte) *http.Request {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return r
}

// checkHeaders holds the headers against the body where the SDK does not.
func (h *httpHandler) checkHeaders(r *http.Request, e *envelope, version string) *fault {
	switch {
	case version != "" && e.kind == kindRequest && e.hasMeta && e.version != version:
		return faultOf(e.id, sdk.CodeHeaderMismatch, "MCP-Protocol-Version is not the _meta "+metaVersion)
	case version != "" && !slices.Contains(sdk.SupportedProtocolVersions(), version):
		return unsupported(e.id, version)
	}
	// The protocol lets clients write a name in base64; the SDK compares it as it stands.
	if n := r.Header.Get("Mcp-Name"); strings.HasPrefix(n, "=?base64?") && strings.HasSuffix(n, "?=") && len(n) >= 11 {
		name, err := base64.StdEncoding.DecodeString(n[9 : len(n)-2])
		if err != nil {
			return faultOf(e.id, sdk.CodeHeaderMismatch, "Mcp-Name is not valid base64")
		}
		r.Header.Set("Mcp-Name", string(name))
	}
	return nil
}

// statusOf is the status of an answer that is an error: the era of
// 2026-07-28 says it in HTTP too.
func statusOf(f *fault, modern bool) int {
	switch {
	case f.err.Code == jsonrpc.CodeMethodNotFound && modern:
		return http.StatusNotFound
	case f.err.Code == jsonrpc.CodeMethodNotFound:
		return http.StatusOK
	}
	return http.StatusBadRequest
}

func writeFault(w http.ResponseWriter, status int, f *fault) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(f.bytes()) // a client that is gone needs no answer
}
