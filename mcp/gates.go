package mcp

import (
	"context"
	"sync"
)

// gates lets at most maxBulky requests of each principal through at a time.
// The others wait: they hold a few bytes, and an answer holds many.
type gates struct {
	mu sync.Mutex
	by map[string]*gate
}

type gate struct {
	tokens chan struct{}
	users  int // requests that hold or wait for a token
}

// enter waits for a place; ok is false when ctx ends first.
func (g *gates) enter(ctx context.Context, who string) (leave func(), ok bool) {
	g.mu.Lock()
	if g.by == nil {
		g.by = map[string]*gate{}
	}
	d := g.by[who]
	if d == nil {
		d = &gate{tokens: make(chan struct{}, maxBulky)}
		g.by[who] = d
	}
	d.users++
	g.mu.Unlock()
	forget := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if d.users--; d.users == 0 {
			delete(g.by, who)
		}
	}
	select {
	case d.tokens <- struct{}{}:
		return func() { <-d.tokens; forget() }, true
	case <-ctx.Done():
		forget()
		return nil, false
	}
}
