package egress

import (
	"context"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
)

// A call is one request under way.
type call struct {
	*Egress
	target
	req    sandbox.Request // checked
	secret []*Secret       // that are added
	start  time.Time
	times  sandbox.NetTimes
	end    func() // gives back what the call holds
}

// prepare checks a request and asks the operator's list.
func (e *Egress) prepare(r sandbox.Request) (*call, error) {
	t, err := parseTarget(r.URL)
	if err != nil {
		return nil, err
	}
	c := &call{Egress: e, target: t, req: r, start: time.Now()}
	c.req.Method = strings.ToUpper(r.Method)
	if err := c.allowed(); err != nil {
		return nil, err
	}
	for i := range e.cfg.Secrets {
		if s := &e.cfg.Secrets[i]; s.fits(t) {
			c.secret = append(c.secret, s)
		}
	}
	if err := c.checkRequest(); err != nil {
		return nil, err
	}
	return c, nil
}

// allowed asks the operator's list.
func (c *call) allowed() error {
	if len(c.cfg.Allow) == 0 {
		return nil
	}
	// From https to http only where the operator has named that very door:
	// whoever allowed a host did not mean its pages to fall back to plain text.
	explicit := c.scheme == "http" && strings.HasPrefix(strings.ToLower(c.req.From), "https:")
	found := false
	for _, r := range c.cfg.Allow {
		if r.names(c.target) {
			if !explicit || r.explicit() {
				return nil
			}
			found = true
		}
	}
	if found {
		return denied("a redirect from https to http is not followed: start donax with --allow-net http://%s", c.address())
	}
	return denied("not allowed: start donax with --allow-net %s", c.address())
}

// admit asks the policy, by name when ip is "".
func (c *call) admit(ctx context.Context, admit sandbox.Admit, ip string) error {
	if admit == nil {
		return denied("not allowed: nobody was asked")
	}
	n := policy.Net{Scheme: c.scheme, Host: c.host, Port: int(c.port), Method: c.req.Method, Path: c.path, IP: ip}
	if c.req.Body != nil {
		n.Bytes = c.req.Size
	}
	return admit(ctx, n)
}

// bound is d where it lowers max.
func bound(d, max time.Duration) time.Duration {
	if d > 0 && d < max {
		return d
	}
	return max
}
