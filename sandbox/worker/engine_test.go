package worker

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/policy"
)

// BenchmarkKept is a decision that a worker keeps: of the facts, and of their
// kind.
func BenchmarkKept(b *testing.B) {
	a := policy.Action{Kind: policy.KindExec, Exec: &policy.Exec{
		Name: "sort", Args: []string{"-u", "names.txt"}, Kind: "box", SHA256: strings.Repeat("0123456789abcdef", 4), Cwd: "/workspace",
	}}
	r := newInsideRun(nil, 7)
	for name, hold := range map[string]byte{"facts": holdFacts, "constant": holdConstant} {
		b.Run(name, func(b *testing.B) {
			e := &engine{conn: newConn(wire{strings.NewReader(""), io.Discard})}
			m := newEncoder(256)
			m.action(&a)
			e.keep(a.Kind, r.id, string(m.b[headSize:]), policy.Decision{Effect: policy.Allow}, hold, 0)
			for b.Loop() {
				if d, err := e.Decide(r, a); err != nil || d.Effect != policy.Allow {
					b.Fatal(d, err)
				}
			}
		})
	}
}

// sink keeps what is written to it.
type sink struct {
	io.Reader
	writes chan string
}

func (s sink) Write(p []byte) (int, error) { s.writes <- string(p); return len(p), nil }
func (sink) Close() error                  { return nil }

// TestPost: what is posted goes with what is sent next, in order, and by itself
// when nothing comes.
func TestPost(t *testing.T) {
	s := sink{strings.NewReader(""), make(chan string, 10)}
	c := newConn(s)
	frame := func(id uint32, text string) string {
		return string(frameOf(kindOutput, id, func(e *encoder) { e.b = append(e.b, text...) }))
	}
	put := func(send func(kind, uint32, *encoder) error, id uint32, text string) string {
		e := newEncoder(0)
		e.b = append(e.b, text...)
		if err := send(kindOutput, id, e); err != nil {
			t.Error(err)
		}
		return frame(id, text)
	}
	var sent string
	gather := func(want string) {
		t.Helper()
		for sent = ""; len(sent) < len(want); {
			select {
			case w := <-s.writes:
				sent += w
			case <-time.After(time.Minute):
				t.Fatalf("%q is not sent", want[len(sent):])
			}
		}
		if sent != want {
			t.Errorf("sent %q, want %q", sent, want)
		}
	}
	gather(put(c.post, 1, "a") + put(c.post, 2, "b") + put(c.send, 3, "c"))
	gather(put(c.post, 4, "alone"))
	gather(put(c.post, 5, strings.Repeat("x", maxPosted)) + put(c.post, 6, "y"))
	if want := put(c.post, 7, "before a program"); c.sendPosted(true) == nil {
		gather(want)
	}
	begun := func(id uint32) string {
		if err := c.post(kindBegun, id, newEncoder(0)); err != nil {
			t.Error(err)
		}
		return string(frameOf(kindBegun, id, func(*encoder) {}))
	}
	gather(begun(9))
	gather(begun(10) + put(c.post, 11, "sooner"))
	gather(put(c.post, 8, strings.Repeat("z", 3*maxPosted)))
	c.write.Lock()
	defer c.write.Unlock()
	if cap(c.posted) > 2*maxPosted {
		t.Errorf("%d bytes are kept", cap(c.posted))
	}
}
