package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/donax-sh/donax/mcp"
	"github.com/spf13/cobra"
)

// httpFlags are the flags of serve that are about HTTP.
type httpFlags struct {
	addr        string
	tokenFile   string
	cert, key   string
	behindProxy bool
	hosts       []string
	origins     []string
}

func (f *httpFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.addr, "http", "", "serve streamable HTTP at `ADDR`, like 127.0.0.1:8417, path /mcp; needs --token-file")
	fl.StringVar(&f.tokenFile, "token-file", "", "bearer tokens in `FILE`: one bare token, or JSON with several and their principals")
	fl.StringVar(&f.cert, "tls-cert", "", "certificate `FILE` (PEM) for HTTPS")
	fl.StringVar(&f.key, "tls-key", "", "its private key `FILE` (PEM)")
	fl.BoolVar(&f.behindProxy, "behind-proxy", false, "allow an address off loopback without TLS: a proxy in front adds it")
	fl.StringArrayVar(&f.hosts, "allow-host", nil, "`NAME` by which clients may reach the server beside localhost (repeatable)")
	fl.StringArrayVar(&f.origins, "allow-origin", nil, "`ORIGIN` of web pages that may call (repeatable)")
}

// check refuses what would be unsafe by accident.
func (f *httpFlags) check() error {
	if f.addr == "" {
		if f.tokenFile != "" || f.cert != "" || f.key != "" || f.behindProxy || len(f.hosts)+len(f.origins) > 0 {
			return usageError("--http 127.0.0.1:8417", "--token-file and its neighbours are for --http, which was not given")
		}
		return nil
	}
	if f.tokenFile == "" {
		return usageError("(umask 077; openssl rand -hex 32 > token) && donax serve --http "+f.addr+" --token-file token", "--http needs --token-file: nobody is served without a token")
	}
	if (f.cert == "") != (f.key == "") {
		return usageError("--tls-cert cert.pem --tls-key key.pem", "--tls-cert and --tls-key belong together")
	}
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return usageError("--http 127.0.0.1:8417", "--http %q: %v", f.addr, err)
	}
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	if !loopback && f.cert == "" && !f.behindProxy {
		// A bearer token in clear text is anybody's on the way.
		return usageError("--tls-cert cert.pem --tls-key key.pem, or --behind-proxy", "--http %q is not on loopback and has no TLS", f.addr)
	}
	return nil
}

// Times of a shutdown: for requests to end, and for connections to close.
const drainTime = 5 * time.Second

// serve serves until ctx ends, then lets requests finish.
func (f *httpFlags) serve(ctx context.Context, server *mcp.Server, log *slog.Logger) error {
	tokens, err := mcp.OpenTokens(f.tokenFile, func(err error) { log.Error("token file: nobody is let in", "error", err) })
	if err != nil {
		return usageError("chmod 600 "+f.tokenFile, "--token-file: %v", err)
	}
	ln, err := net.Listen("tcp", f.addr)
	if err != nil {
		return &exitError{exitFault, &hint{err, "another port"}}
	}
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	draining := make(chan struct{})
	srv := mcp.NewHTTPServer(server.Handler(base, mcp.HTTPConfig{
		Auth: tokens, AllowedHosts: f.hosts, AllowedOrigins: f.origins, Draining: draining,
	}))
	log.Info("serving MCP", "address", ln.Addr().String(), "path", "/mcp", "tls", f.cert != "")
	ended := make(chan error, 1)
	go func() {
		if f.cert != "" {
			ended <- srv.ServeTLS(ln, f.cert, f.key)
		} else {
			ended <- srv.Serve(ln)
		}
	}()
	select {
	case err := <-ended:
		return &exitError{exitFault, fmt.Errorf("serve: %w", err)}
	case <-ctx.Done():
	}
	close(draining)
	stop, done := context.WithTimeout(base, drainTime)
	defer done()
	if err := srv.Shutdown(stop); err != nil && !errors.Is(err, http.ErrServerClosed) {
		log.Warn("connections were cut", "error", err)
	}
	cancel()
	return server.Close()
}
