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
	Sub    string         `json:"sub"`    // who it is: the subject of a token, or local
	Tenant string         `json:"tenant"` // of the token; "" without one
	Auth   string         `json:"auth"`   // how that was found out: process, bearer or jwt
	Roles  []string       `json:"roles"`  // of the token
	Scopes []string       `json:"scopes"` // of the token
	Claims map[string]any `json:"claims"` // of the verified token, as they stand in it
}

// Session is the connection or process that a terminal was made through.
type Session struct {
	ID        string `json:"id"`        // unguessable; of donax -c one for each run
	Transport string `json:"transport"` // cli, stdio or http
	Protocol  string `json:"protocol"`  // MCP revision; "" on the command line
	Client    Client `json:"client"`
}

// Client is what an MCP client says of itself; never trust it.
type Client struct {
	Name    string `json:"name"`    // a claim
	Version string `json:"version"` // a claim
}

// Terminal is the terminal that an action belongs to.
type Terminal struct {
	ID     string   `json:"id"`     // names it; cli for a line of donax -c
	Cwd    string   `json:"cwd"`    // at creation
	Grants []string `json:"grants"` // what the server's operator gave it by name
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
