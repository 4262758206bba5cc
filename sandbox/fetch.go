package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"

	"github.com/donax-sh/donax/policy"
)

// fetch makes a request for the program by.
func (h *host) fetch(ctx context.Context, by string, stderr io.Writer, r Request) (*Response, error) {
	if err := h.cause(); err != nil {
		return nil, err
	}
	if relay := h.session.cfg.Relay; relay != nil {
		res, err := relay(ctx, Fetch{Request: r, By: by, Used: h.usage(), Stderr: stderr})
		if cause := h.cause(); cause != nil && err != nil {
			return nil, cause
		}
		return res, err
	}
	return h.fetchHere(ctx, Fetch{Request: r, By: by, Stderr: stderr}, h.usage)
}

// fetchHere makes a request that this session admits. usage is what was used so
// far whenever the policy is asked.
func (h *host) fetchHere(ctx context.Context, f Fetch, usage func() policy.Usage) (*Response, error) {
	r := f.Request
	network := h.session.cfg.Network
	if network == nil {
		return nil, &NetError{Kind: NetDenied, Msg: "not allowed: start donax with --allow-net " + hostOf(r.URL)}
	}
	if h.net.Load() > h.limits.Net {
		return nil, h.netLimit()
	}
	if r.Body != nil {
		r.Body = &counted{r: boundReader(ctx, r.Body), run: h.run}
	}
	res, err := network.Do(ctx, r, func(ctx context.Context, n policy.Net) error {
		n.By = f.By
		return h.admitNet(ctx, n, usage(), f.Stderr)
	})
	var de *policy.DeniedError
	switch {
	case h.cause() != nil: // it was the end of the script that spoke
		if err == nil {
			_ = res.Body.Close()
		}
		return nil, h.cause()
	case errors.As(err, &de):
		return nil, &NetError{Kind: NetDenied, Msg: de.Error()}
	case err != nil:
		return nil, err
	}
	res.Body = &counted{r: res.Body, c: res.Body, run: h.run}
	return res, nil
}

// admitNet asks the policy about a connection and shows what it warns of.
func (h *host) admitNet(ctx context.Context, n policy.Net, used policy.Usage, stderr io.Writer) error {
	a := policy.Action{Kind: policy.KindNet, Subject: policy.SubjectFrom(h.caller), Net: &n}
	a.Usage = used
	d, err := policy.Check(ctx, h.policy, a)
	if err != nil {
		return err
	}
	for _, w := range d.Warnings {
		if key := "net " + n.By + " " + n.Host + " " + w.Msg; stderr != nil {
			if _, again := h.said.LoadOrStore(key, true); !again {
				_, _ = fmt.Fprintf(stderr, "donax: warning: %s: %s\n", n.By, w.Msg)
			}
		}
	}
	return nil
}

// hostOf is what --allow-net would have to name.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || strings.ContainsFunc(u.Host, func(r rune) bool { return r < '!' || r > '~' }) {
		return "HOST"
	}
	return u.Host
}

// netLimit is the error of a line that has used up what its requests may
// carry.
func (r *run) netLimit() error {
	return &NetError{Kind: NetTooLarge, Msg: "all requests of a line may carry " + bytesText(r.limits.Net) + " (" + r.raise("--net-limit") + ")"}
}

// counted counts what is read, and ends at the limit.
type counted struct {
	r    io.Reader
	c    io.Closer
	run  *run
	once sync.Once
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.run.meter.Net(int64(n))
	if c.run.net.Add(int64(n)) > c.run.limits.Net {
		return 0, c.run.netLimit()
	}
	return n, err
}

func (c *counted) Close() (err error) {
	c.once.Do(func() { err = c.c.Close() })
	return err
}
