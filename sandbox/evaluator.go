package sandbox

import (
	"context"
	"io"
)

// An evaluator runs shell text. It sees the outside only through the host it
// is given; everything else in this package does not know which evaluator it
// is.
//
// It returns the script's status; or an error when the script was ended from
// outside: a [*LimitError], a [*ParseError], a [*Fault] or the context's.
// Messages that belong to the script's own stderr are the evaluator's to
// write; those about the returned error are not.
type evaluator interface {
	eval(ctx context.Context, h *host, sc script) (status int, err error)
}

// A script is one shell: of the whole line, or of a sh, bash or script file
// that it started.
type script struct {
	text   string
	name   string   // $0, and the prefix of messages
	params []string // $1, $2, ...
	opts   []string // as set takes them: -e, -o, pipefail
	env    []string // NAME=VALUE
	dir    string

	stdin          io.Reader // nil: empty
	stdout, stderr io.Writer
}

// A host is what one shell sees of the outside. The run behind it is shared
// by all shells of one [Session.Run].
type host struct {
	*run
	depth     int      // programs that led here
	ancestors []string // their canonical names, outermost first
}
