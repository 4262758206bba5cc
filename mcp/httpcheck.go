package mcp

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// checked refuses requests that a web page could make somebody's browser
// send: to a name that was made to point here (DNS rebinding), or from a page
// that was not invited.
func (h *httpHandler) checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// An earlier request of the connection may have left its own.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		w = &countingWriter{ResponseWriter: w, m: &h.s.metrics}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !h.hostAllowed(r.Host) {
			writeFault(w, http.StatusForbidden, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "host not allowed"))
			return
		}
		// A browser says so when a page elsewhere made it send this. Without an Origin there is no page to have invited.
		if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") && r.Header.Get("Origin") == "" {
			writeFault(w, http.StatusForbidden, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "requests of other sites' pages are not served"))
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if !h.originAllowed(origin, r.Host) {
				writeFault(w, http.StatusForbidden, faultOf(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "origin not allowed"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// splitHost takes a host apart; the port is "" when there is none.
func splitHost(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ""
}

func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// hostAllowed reports whether clients may call the server by this name.
func (h *httpHandler) hostAllowed(host string) bool {
	name, _ := splitHost(host)
	return isLoopback(name) || slices.ContainsFunc(h.c.AllowedHosts, func(a string) bool { return strings.EqualFold(a, name) })
}

// originAllowed reports whether a page of this origin may call: one that is
// listed, or one that the server's own address names.
func (h *httpHandler) originAllowed(origin, host string) bool {
	if slices.Contains(h.c.AllowedOrigins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" {
		return false // "null" is such an origin: sandboxed frames and files have it
	}
	if strings.EqualFold(u.Host, host) {
		return true
	}
	// localhost and 127.0.0.1 are one machine; another port is another program.
	name, port := splitHost(u.Host)
	own, ownPort := splitHost(host)
	return isLoopback(name) && isLoopback(own) && port == ownPort
}
