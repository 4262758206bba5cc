package mcp

import (
	"net"
	"sync"
)

// LimitConns returns a listener that holds at most total connections at a
// time, and perHost of one remote address; 0 means no such bound. One more is
// accepted and closed at once, so that it costs no place in a queue. A bound
// on hosts makes no sense behind a proxy, which is one host.
func LimitConns(l net.Listener, total, perHost int) net.Listener {
	return &limitedListener{Listener: l, total: total, perHost: perHost, hosts: map[string]int{}}
}

type limitedListener struct {
	net.Listener
	total, perHost int

	mu    sync.Mutex
	open  int
	hosts map[string]int
}

// Accept returns the next connection that has a place.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := hostOf(c.RemoteAddr().String())
		if l.enter(host) {
			return &limitedConn{Conn: c, leave: func() { l.leave(host) }}, nil
		}
		_ = c.Close() // whoever opened it learns so
	}
}

func (l *limitedListener) enter(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total > 0 && l.open >= l.total || l.perHost > 0 && l.hosts[host] >= l.perHost {
		return false
	}
	l.open++
	l.hosts[host]++
	return true
}

func (l *limitedListener) leave(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.hosts[host]--; l.hosts[host] == 0 {
		delete(l.hosts, host)
	}
}

// limitedConn gives its place back once it is closed.
type limitedConn struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	defer c.once.Do(c.leave)
	return c.Conn.Close()
}

// hostOf is the host of a remote address.
func hostOf(addr string) string {
	host, _ := splitHost(addr)
	return host
}
