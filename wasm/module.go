package wasm

import (
	"context"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
)

// module is a module that is compiled when it is first used, once, whoever
// asks first.
type module struct {
	rt   *Runtime
	sum  string // hex digest
	what string // for messages
	read func() ([]byte, error)
	pool pool

	once     sync.Once
	ready    chan struct{} // closed when what follows is set
	compiled wazero.CompiledModule
	err      error
}

func newModule(r *Runtime, sum, what string, read func() ([]byte, error)) *module {
	m := &module{rt: r, sum: sum, what: what, read: read, ready: make(chan struct{})}
	m.pool.m = m
	return m
}

// load compiles the module or waits until somebody has. When ctx ends the
// compilation goes on for the others.
func (m *module) load(ctx context.Context) error {
	m.once.Do(func() {
		if m.err = m.rt.enter(); m.err != nil {
			close(m.ready)
			return
		}
		go func() {
			defer m.rt.active.Done()
			defer close(m.ready)
			m.err = m.compile()
		}()
	})
	select {
	case <-m.ready:
		return m.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *module) compile() (err error) {
	defer func() {
		if p := recover(); p != nil { // wazero panics on some of what it cannot compile
			err = fmt.Errorf("wasm: compiling the %s: panic: %v", m.what, p)
		}
	}()
	bin, err := m.read()
	if err != nil {
		return err
	}
	if !m.rt.cache.has(m.sum) {
		m.rt.log("preparing the " + m.what + " (first run only)")
	}
	if m.compiled, err = m.rt.wz.CompileModule(compileContext(), bin); err != nil {
		return fmt.Errorf("wasm: compiling the %s: %w", m.what, err)
	}
	m.rt.cache.mark(m.sum)
	return nil
}
