// Package audit records what was asked, decided and done, in a way that shows
// when somebody has changed the record.
//
// A log is a file of JSON lines. Each record names the hash of the one before
// it, so that an edit, a deletion, an insertion and another order break the
// chain at a place that [Verify] names; a head file beside it says how far the
// log went, so that a tail that was cut off is missed too. Who can write both
// files can make a new history of them: only a copy of [Recorder.Head] kept
// elsewhere shows that.
//
// A record is written before what it is about takes effect. Decisions about
// commands, connections, upstream tools and modules, and all refusals, are on
// disk (fsync, shared by all that wait) before the answer is given; those
// about single programs are handed to the operating system, which keeps them
// when donax dies, and reach the disk a fifth of a second later at the latest.
//
// Field names are those of OPA's decision log (EventV1) where it has one.
package audit

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
)

// DefaultMaxSize is the size in bytes at which a file is closed and the next
// one begun.
const DefaultMaxSize = 64 << 20

// Config configures a [Recorder]. Only Path is required.
type Config struct {
	Path    string            // the file being written; closed ones get a number behind their name, the head is PATH.head
	MaxSize int64             // bytes; 0 means DefaultMaxSize
	Labels  map[string]string // in every record: which server this is

	// Revision names the policy in force; nil means that it has no name. When it changes, a record
	// says so before the first decision under the new one.
	Revision func() string

	Files   bool     // record the files that programs open and change, too, not only those that are denied
	Mask    []string // regular expressions (RE2) of what must not be recorded, beside the built-in ones
	Secrets []string // texts that must not be recorded

	// AllowOnError lets things happen that cannot be recorded. Without it they are denied.
	AllowOnError bool

	// Report is told when records cannot be written, and with nil when they can be again. It must not block.
	Report func(error)
}

// A Recorder writes one log. It is safe for concurrent use.
type Recorder struct {
	cfg    Config
	chain  *chain
	mask   *masker
	labels labelCache

	revision struct {
		sync.Mutex
		last string
		set  bool
	}
	failing atomic.Bool
	counts  counts
}

// Open opens or begins a log. It refuses a log that is shorter than its head
// says, one that somebody else is writing, and files that others may write.
// What a crash left half written is cut off, and told in a record.
func Open(c Config) (*Recorder, error) {
	if c.Path == "" {
		return nil, errors.New("audit: no file")
	}
	mask, err := newMasker(c.Mask, c.Secrets)
	if err != nil {
		return nil, err
	}
	ch, found, err := openChain(c.Path, cmp.Or(c.MaxSize, DefaultMaxSize))
	if err != nil {
		return nil, err
	}
	r := &Recorder{cfg: c, chain: ch, mask: mask}
	ctx := context.Background()
	if found.unclean {
		err = r.write(ctx, &record{Type: TypeRecovered, Custom: found.custom()}, true)
	}
	if err == nil {
		err = r.write(ctx, &record{Type: TypeOpened}, true)
	}
	if err != nil {
		return nil, errors.Join(err, ch.close())
	}
	return r, nil
}

// Close says in the log that it ends here, and closes it.
func (r *Recorder) Close() error {
	if r.chain.isClosed() {
		return nil
	}
	err := r.write(context.Background(), &record{Type: TypeClosed}, true)
	return errors.Join(err, r.chain.close())
}

// Discard closes the log and removes it. It is for one that was begun for
// something that then did not happen.
func (r *Recorder) Discard() error {
	return errors.Join(r.chain.close(), os.Remove(r.cfg.Path), os.Remove(r.cfg.Path+headSuffix))
}

// An Anchor says how far a log went. Kept where the log's writer cannot reach,
// it shows that records up to Seq were changed or are missing.
type Anchor struct {
	Seq  int64  `json:"seq"`  // of the last record that is on disk
	Hash string `json:"hash"` // of that record: sha256, hex
}

// String returns SEQ:HASH, which [ParseAnchor] reads.
func (a Anchor) String() string { return fmt.Sprintf("%d:%s", a.Seq, a.Hash) }

// ParseAnchor reads what [Anchor.String] returns.
func ParseAnchor(s string) (Anchor, error) {
	var a Anchor
	seq, hash, ok := strings.Cut(s, ":")
	if _, err := fmt.Sscanf(seq, "%d", &a.Seq); !ok || err != nil || a.Seq < 1 || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return a, fmt.Errorf("%q is no anchor: want SEQ:HASH", s)
	}
	a.Hash = hash
	return a, nil
}

// Head returns the anchor of what is on disk.
func (r *Recorder) Head() Anchor { return r.chain.head() }

// Failing reports whether the last record could not be written.
func (r *Recorder) Failing() bool { return r.failing.Load() }

// An Event is something to record that no [policy.Engine] decides.
type Event struct {
	Type   string         // as "brake.on"
	Custom map[string]any // marshals to JSON; texts in it are masked
}

// Record writes an event and waits until it is on disk. ctx gives the
// [policy.Subject] and the [policy.Origin]. An error means that what the event
// is about must not happen, unless Config.AllowOnError is set: then it is nil.
func (r *Recorder) Record(ctx context.Context, e Event) error {
	custom, _ := r.mask.walk(e.Custom, r.mask.known(policy.SubjectFrom(ctx).Terminal.ID), 0).(map[string]any)
	return r.write(ctx, &record{Type: e.Type, Custom: custom}, true)
}

// write completes rec and appends it.
func (r *Recorder) write(ctx context.Context, rec *record, durable bool) error {
	rec.Timestamp = time.Now().UTC()
	o, s := policy.OriginFrom(ctx), policy.SubjectFrom(ctx)
	rec.Labels = r.labels.get(r.cfg.Labels, o)
	rec.trace(o.Trace)
	if rec.RequestedBy == "" {
		rec.RequestedBy = requester(s.Principal)
	}
	body, err := rec.encode()
	if err == nil {
		err = r.chain.append(ctx, body, durable)
	}
	r.counts.add(rec, err)
	if ctx.Err() == nil { // else it is the command that ended, not the log that fails
		r.report(err)
	}
	if err != nil && r.cfg.AllowOnError {
		return nil
	}
	return err
}

func (r *Recorder) report(err error) {
	if failing := err != nil; r.failing.Swap(failing) != failing && r.cfg.Report != nil {
		r.cfg.Report(err)
	}
}

// requester names a principal for people.
func requester(p policy.Principal) string {
	if p.Tenant != "" {
		return p.Tenant + "/" + p.Sub
	}
	return p.Sub
}

// newID names a decision: short, because people and models quote it; random,
// so that nobody can name one before it is made.
func newID() string { return strings.ToLower(rand.Text()[:10]) }
