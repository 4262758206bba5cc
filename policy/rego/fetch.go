package rego

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	fetchLimit = 30 * time.Second
	maxHops    = 3 // redirects
)

// isURL reports whether a path names a bundle on a server.
func isURL(path string) bool {
	return strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://")
}

// fetched keeps what servers have sent, so that an unchanged bundle is not
// sent again.
type fetched struct {
	mu   sync.Mutex
	last map[string]response // guarded by mu
}

type response struct {
	etag string
	text []byte
}

// get fetches a bundle. It is verified by its signature afterwards; https is
// asked for because an old bundle is signed too.
func (f *fetched) get(client *http.Client, at string) ([]byte, error) {
	u, err := url.Parse(at)
	if err != nil || !safeURL(u) {
		return nil, fmt.Errorf("policy: %s: bundles come over https, or over http from this machine", at)
	}
	if client == nil {
		client = &http.Client{}
	}
	own := *client
	own.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxHops || !safeURL(r.URL) {
			return errors.New("redirected too often, or away from https")
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last, known := f.last[at]
	if known && last.etag != "" {
		req.Header.Set("If-None-Match", last.etag)
	}
	resp, err := own.Do(req)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && known:
		return last.text, nil
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("policy: %s: the server answers %s", at, resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("larger than 16 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("policy: %s: %w", at, err)
	}
	if f.last == nil {
		f.last = map[string]response{}
	}
	f.last[at] = response{resp.Header.Get("ETag"), text}
	return text, nil
}

func safeURL(u *url.URL) bool {
	if u.Scheme == "https" {
		return u.Hostname() != ""
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}
