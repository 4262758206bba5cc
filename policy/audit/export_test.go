package audit

import "os"

// Faulty makes what is done to the file of r fail as fault says: it is given
// "write", "sync" or "truncate".
func (r *Recorder) Faulty(fault func(op string) error) {
	r.chain.mu.Lock()
	defer r.chain.mu.Unlock()
	r.chain.f = faulty{r.chain.f.(*os.File), fault}
}

type faulty struct {
	*os.File
	fault func(string) error
}

func (f faulty) Write(p []byte) (int, error) {
	if err := f.fault("write"); err != nil {
		n, _ := f.File.Write(p[:len(p)/2]) // as a disk that becomes full does
		return n, err
	}
	return f.File.Write(p)
}

func (f faulty) Sync() error {
	if err := f.fault("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f faulty) Truncate(n int64) error {
	if err := f.fault("truncate"); err != nil {
		return err
	}
	return f.File.Truncate(n)
}
