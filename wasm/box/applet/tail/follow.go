package tail

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// source is a file that is followed.
type source struct {
	name string
	r    io.ReadCloser
	gone bool // cannot be opened at the moment
}

// followAll polls the followed files and writes what is added to them. It
// ends with the command's death, with a failed write, or when no file is left.
func (t *tailer) followAll() error {
	for {
		if err := t.c.Flush(); err != nil {
			return errWrite
		}
		time.Sleep(t.interval)
		left := 0
		for _, s := range t.followed {
			if t.byName {
				t.reopen(s)
			}
			if s.gone {
				if t.retry {
					left++
				}
				continue
			}
			left++
			if err := t.more(s); err != nil {
				return err
			}
		}
		if left == 0 {
			return errors.New("no files remaining")
		}
	}
}

// reopen notices that another file has taken a followed name.
func (t *tailer) reopen(s *source) {
	fi, err := os.Stat(s.name)
	switch {
	case err != nil && !s.gone:
		t.c.Warn(applet.Quote(s.name), " has become inaccessible: ", applet.Reason(err))
		s.r.Close()
		s.r, s.gone = nil, true
		return
	case err != nil:
		return
	}
	if !s.gone {
		old, err := statOf(s.r)
		if err == nil && os.SameFile(old, fi) {
			return
		}
		t.c.Warn(applet.Quote(s.name), " has been replaced;  following new file")
		s.r.Close()
		s.gone = true
	} else {
		t.c.Warn(applet.Quote(s.name), " has appeared;  following new file")
	}
	if r, err := os.Open(s.name); err == nil {
		s.r, s.gone = r, false
	}
}

func (t *tailer) more(s *source) error {
	if f, ok := s.r.(*os.File); ok {
		fi, err1 := f.Stat()
		pos, err2 := f.Seek(0, io.SeekCurrent)
		if err1 == nil && err2 == nil {
			switch {
			case fi.Size() < pos:
				t.c.Warn(applet.Name(s.name), ": file truncated")
				f.Seek(0, io.SeekStart)
			case fi.Size() == pos:
				return nil
			}
		}
	}
	t.title(s.name)
	return t.copyAll(s.r)
}
