package mcp

import (
	"context"
	"fmt"
	"time"

	"github.com/donax-sh/donax/termhost"
	"github.com/donax-sh/donax/termhost/filter"
)

const (
	progressBytes = 8 << 10 // of output in one message
	progressBurst = 10      // messages that may go at once; as many follow in each second, so no second has more than 20
	progressEvery = time.Second / progressBurst
	progressTail  = progressBytes - 256 // of them where a note takes room
	progressLag   = 64 << 10            // bytes that the stream may be behind before it skips
)

// follower turns a terminal's output into progress messages. Together they
// are the output, cut at character boundaries, as long as the command writes
// no faster than the messages may go; then a note stands for what is skipped.
type follower struct {
	*terminals
	call   *Call
	term   *termhost.Terminal
	sent   int64     // offset up to which output was sent
	tokens int       // messages that may go now
	last   time.Time // when tokens was brought up to date
}

func newFollower(t *terminals, c *Call, term *termhost.Terminal) *follower {
	return &follower{terminals: t, call: c, term: term, tokens: progressBurst, last: time.Now()}
}

// take reports whether a message may go now, and otherwise when.
func (f *follower) take(now time.Time) (ok bool, wait time.Duration) {
	if n := int(now.Sub(f.last) / progressEvery); n > 0 {
		f.tokens = min(progressBurst, f.tokens+n)
		f.last = f.last.Add(time.Duration(n) * progressEvery)
	}
	if f.tokens > 0 {
		f.tokens--
		return true, 0
	}
	return false, progressEvery - now.Sub(f.last)
}

// step sends what may be sent now. It returns how much output there is, and
// after how long to call again although nothing more is written; 0 means that
// all was sent.
func (f *follower) step(ctx context.Context) (written int64, again time.Duration, err error) {
	for {
		s := f.term.OutputFrom(f.sent, progressBytes)
		data := f.whole(s)
		if len(data) == 0 {
			return s.Written, 0, nil
		}
		ok, wait := f.take(time.Now())
		if !ok {
			return s.Written, wait, nil
		}
		behind, room := s.Written-f.sent, int64(f.tokens+1)*progressBytes
		note := ""
		if s.Offset > f.sent || behind > room && (behind > progressLag || s.Exit != nil) {
			// It would take too long to catch up, or cannot be done: go on near the end.
			from := f.sent
			s = atCharacter(f.term.OutputFrom(max(s.Offset, s.Written-progressTail), progressTail))
			data = f.whole(s)
			note = fmt.Sprintf("\n[%d bytes not shown: terminal_output has what is kept, from offset %d]\n", s.Offset-from, from)
		}
		text, _ := f.text(data)
		if len(text) > progressBytes { // what is no text grows threefold
			data = data[:progressBytes/3]
			text, _ = f.text(data)
		}
		f.sent = s.Offset + int64(len(data))
		if err := f.call.Progress(ctx, f.sent, note+text); err != nil {
			return s.Written, 0, err
		}
	}
}

// whole returns the data of s without what should not be shown before its
// end has come: the start of a character, or of a terminal sequence.
func (t *terminals) whole(s termhost.Snapshot) []byte {
	data := wholeCharacters(s)
	n := 0
	if !t.raw && !(s.Exit != nil && s.Offset+int64(len(s.Data)) == s.Written) {
		n = filter.Unfinished(data)
	}
	if n == len(data) && s.Offset+int64(len(data)) < s.Written {
		n = 0 // it is all that fits, so that waiting for more would never end
	}
	return data[:len(data)-n]
}

// text is how output is shown.
func (t *terminals) text(b []byte) (text string, lossy bool) {
	if !t.raw {
		b = filter.Visible(b)
	}
	return toText(b)
}

// wholeCharacters returns the data of s without the start of a character
// whose end may follow.
func wholeCharacters(s termhost.Snapshot) []byte {
	if s.Exit != nil && s.Offset+int64(len(s.Data)) == s.Written {
		return s.Data // nothing follows
	}
	return s.Data[:len(s.Data)-unfinished(s.Data)]
}

// atCharacter drops the end of a character whose start was cut off from s.
func atCharacter(s termhost.Snapshot) termhost.Snapshot {
	for n := 0; n < 3 && s.Offset > 0 && len(s.Data) > 0 && s.Data[0]&0xC0 == 0x80; n++ {
		s.Data = s.Data[1:]
		s.Offset++
	}
	return s
}
