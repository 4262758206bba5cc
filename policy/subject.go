package policy

import "context"

// Subject is who asks: it is the same for every action of one terminal.
type Subject struct {
	Principal Principal `json:"principal"`
	Session   Session   `json:"session"`
	Terminal  Terminal  `json:"terminal"`
}

// Principal is the authenticated party behind a session. On stdio and on the
// command line it is {Sub: "local", Auth: "process"}.
type Principal struct {
	Sub    string         `json:"sub"`
	Tenant string         `json:"tenant"`
	Auth   string         `json:"auth"`
	Roles  []string       `json:"roles"`
	Scopes []string       `json:"scopes"`
	Claims map[string]any `json:"claims"`
}

// Session is the connection or process that a terminal was made through.
type Session struct {
	ID        string `json:"id"`
	Transport string `json:"transport"` // cli, stdio or http
	Protocol  string `json:"protocol"`  // MCP revision; "" on the command line
	Client    Client `json:"client"`
}

// Client is what an MCP client says of itself; never trust it.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Terminal is the terminal that an action belongs to.
type Terminal struct {
	ID     string   `json:"id"`
	Cwd    string   `json:"cwd"` // at creation
	Grants []string `json:"grants"`
}

type subjectKey struct{}

// WithSubject returns a context that carries s down to whoever builds
// actions.
func WithSubject(ctx context.Context, s Subject) context.Context {
	return context.WithValue(ctx, subjectKey{}, s)
}

// SubjectFrom returns the subject that ctx carries, or the zero Subject.
func SubjectFrom(ctx context.Context) Subject {
	s, _ := ctx.Value(subjectKey{}).(Subject)
	return s
}
