// Package approve remembers what a person has approved, so that the same
// question is not put twice, in a file that the person can read and edit.
//
// A [Book] stands between engines that ask ([policy.Asking], termhost.Spec.Approve,
// an upstream tool's confirmation) and whoever puts the question to a person.
package approve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/donax-sh/donax/policy"
)

// Mode says what becomes of an ask.
type Mode string

// The modes.
const (
	Block     Mode = "block"      // nobody is asked: denied, also what was approved before
	AskOnce   Mode = "ask_once"   // asked, unless exactly the same was approved before
	AskAlways Mode = "ask_always" // asked every time
	Trust     Mode = "trust"      // approved without asking
)

// Modes returns all modes, the most restrictive first.
func Modes() []Mode { return []Mode{Block, AskAlways, AskOnce, Trust} }

// maxKept bounds what a Book keeps in memory; what comes later is asked again.
const maxKept = 10_000

// Config configures a [Book]. The zero value blocks.
type Config struct {
	Mode   Mode        // "" blocks
	File   string      // where approvals for a session and for ever are kept; "" keeps them in memory
	Report func(error) // told why the file could not be used, which is then a no; may be nil
}

// A Book holds what was approved. It is safe for concurrent use.
type Book struct {
	cfg Config
	now func() time.Time

	mu   sync.Mutex
	kept map[string]bool // keys of entries, without a file; guarded by mu
}

// ErrBlocked says that the mode lets nobody be asked.
var ErrBlocked = errors.New("approvals are off")

// New returns a Book. It fails for an unknown mode and for a file that cannot
// be trusted, see [Read]; a file that is not there yet is made when needed.
func New(c Config) (*Book, error) {
	switch c.Mode {
	case "":
		c.Mode = Block
	case Block, AskOnce, AskAlways, Trust:
	default:
		return nil, fmt.Errorf("approvals: unknown mode %q: want one of %v", c.Mode, Modes())
	}
	if c.Report == nil {
		c.Report = func(error) {}
	}
	if c.File != "" {
		if _, err := Read(c.File); err != nil {
			return nil, err
		}
	}
	return &Book{cfg: c, now: time.Now, kept: map[string]bool{}}, nil
}

// Wrap returns an Approver that answers from the book and its mode, and puts
// the rest to ask. A nil ask means that there is nobody, so that only what was
// approved before goes on.
func (b *Book) Wrap(ask policy.Approver) policy.Approver {
	return func(ctx context.Context, a policy.Action, d policy.Decision) (policy.Approval, error) {
		switch b.cfg.Mode {
		case Trust:
			return policy.ApprovedOnce, nil
		case AskOnce, AskAlways:
		default:
			return policy.Refused, ErrBlocked
		}
		e, exact := newEntry(a, d)
		if b.cfg.Mode == AskOnce && exact {
			known, err := b.knows(e)
			if err != nil {
				b.cfg.Report(err)
				return policy.Refused, err
			}
			if known {
				return policy.ApprovedForSession, nil
			}
		}
		if ask == nil {
			return policy.Refused, policy.ErrNobody
		}
		said, err := ask(ctx, a, d)
		if err != nil {
			return policy.Refused, err
		}
		if exact && ctx.Err() == nil && b.cfg.Mode == AskOnce {
			if err := b.keep(e, said); err != nil {
				b.cfg.Report(err) // it was approved all the same, and will be asked again
			}
		}
		return said, nil
	}
}

// knows reports whether e was approved, for its session or for all. The file
// is read at each question: what a person has taken back holds at once.
func (b *Book) knows(e Entry) (bool, error) {
	inAny := e
	inAny.Session = AnySession
	if b.cfg.File == "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.kept[e.key()] || b.kept[inAny.key()], nil
	}
	list, err := Read(b.cfg.File)
	if err != nil {
		return false, err
	}
	for _, old := range list {
		if k := old.key(); k == e.key() || k == inAny.key() {
			return true, nil
		}
	}
	return false, nil
}

func (b *Book) keep(e Entry, said policy.Approval) error {
	switch said {
	case policy.ApprovedForSession:
	case policy.ApprovedAlways:
		e.Session = AnySession
	default:
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cfg.File == "" {
		if len(b.kept) < maxKept {
			b.kept[e.key()] = true
		}
		return nil
	}
	e.At = b.now().UTC().Truncate(time.Second)
	return add(b.cfg.File, e)
}

// End forgets what was approved for a session that is over.
func (b *Book) End(session string) error {
	if session == "" || session == AnySession || b.cfg.File == "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := revoke(b.cfg.File, func(e Entry) bool { return e.Session == session })
	return err
}
