package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// NewOver puts the layers round any server of the SDK, so that a conformance
// suite can judge them with all that the protocol has.
func NewOver(c Config, over *sdk.Server, served ...string) *Server {
	s := newBare(c)
	s.sdk = over
	s.served = append(s.served, served...)
	s.sdk.AddReceivingMiddleware(s.guard)
	return s
}
