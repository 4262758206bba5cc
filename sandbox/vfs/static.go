package vfs

import (
	"io/fs"
	"time"
)

// NewStatic returns a read-only folder of files: name without slash to
// content, all with permission bits perm and the epoch as their time. It is
// what the virtual /bin is made of.
func NewStatic(files map[string]string, perm fs.FileMode) (*ReadOnly, error) {
	m := NewMem(MemConfig{
		Quota: NewQuota(QuotaConfig{MaxBytes: -1, MaxFiles: -1}),
		Now:   func() time.Time { return time.Unix(0, 0) },
	})
	for name, text := range files {
		f, err := m.open("/"+name, flagNew, perm&fs.ModePerm)
		if err == 0 {
			_, e := f.Write([]byte(text))
			err = errnoOf(e)
			f.Close()
		}
		if err != 0 {
			return nil, pathErr("static", name, err)
		}
	}
	return NewReadOnly(m), nil
}
