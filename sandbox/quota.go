package sandbox

import (
	"io"
	"sync/atomic"
)

// A quota is the output that a decision leaves to one program.
type quota struct {
	h     *host
	used  atomic.Int64
	limit int64
}

type quotaWriter struct {
	q *quota
	w io.Writer
}

func (w quotaWriter) Write(p []byte) (int, error) {
	if w.q.used.Add(int64(len(p))) > w.q.limit {
		return 0, w.q.h.stop(&LimitError{What: "output of " + bytesText(w.q.limit) + ", set by policy"})
	}
	return w.w.Write(p)
}
