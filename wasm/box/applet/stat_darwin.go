package applet

import (
	"syscall"
	"time"
)

func times(s *syscall.Stat_t) (atime, ctime time.Time) {
	return time.Unix(s.Atimespec.Unix()), time.Unix(s.Ctimespec.Unix())
}
