package wasm

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/donax-sh/donax/wasm/rewrite"
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

	fresh bool // every run has an instance of its own, which nothing is left of
	apart bool // a user's: another process compiles it

	once     sync.Once
	ready    chan struct{} // closed when what follows is set
	compiled wazero.CompiledModule
	held     *os.File // keeps what is in the cache; may be nil
	image    *image   // what memory begins with; nil: what the module says
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
	if err := m.rt.hosts(); err != nil {
		return err
	}
	if m.compiled = m.fromCache(); m.compiled != nil {
		return nil
	}
	bin, err := m.read()
	if err != nil {
		return err
	}
	if m.apart {
		return m.compileApart(bin)
	}
	m.rt.log("preparing the " + m.what + " (first run only)")
	ctx := compileContext(context.Background())
	if m.rt.cache.wz != nil {
		if err := m.rt.cache.fill(ctx, m.rt.config, m.sum, bin); err != nil {
			m.rt.log("the " + m.what + " is not kept: " + err.Error())
		} else if m.compiled = m.fromCache(); m.compiled != nil {
			m.rt.cache.trim()
			return nil
		}
	}
	if m.compiled, err = m.rt.wz.CompileModule(ctx, bin); err != nil {
		return fmt.Errorf("wasm: compiling the %s: %w", m.what, err)
	}
	return nil
}

// fromCache returns the compiled module when its code is in the cache: all
// else is in the hollow form.
func (m *module) fromCache() wazero.CompiledModule {
	held, ok := m.rt.cache.hold(m.sum)
	if !ok {
		return nil
	}
	if bin, img := m.rt.cache.hollow(m.sum); bin != nil {
		if img.size > 0 {
			m.image = img
		}
		c, err := m.rt.wz.CompileModule(compileContext(context.Background()), bin)
		if err == nil && m.probe(c) {
			m.held = held
			return c
		}
		if err == nil {
			c.Close(context.Background())
		}
		m.image.close()
		m.image = nil
		m.rt.cache.dropHollow(m.sum)
	}
	held.Close() // of nothing, perhaps
	return nil
}

// compileApart has another process fill the cache, one at a time. Whatever
// comes of that, this process never compiles a module of a user itself.
func (m *module) compileApart(bin []byte) error {
	select {
	case m.rt.compiling <- struct{}{}:
		defer func() { <-m.rt.compiling }()
	case <-m.rt.life.Done():
		return ErrClosed
	}
	m.rt.log("compiling the " + m.what + " (first run only)")
	if err := m.rt.compile(m.rt.life, bin); err != nil {
		return err
	}
	if m.compiled = m.fromCache(); m.compiled == nil {
		return fmt.Errorf("wasm: compiling the %s left nothing in the cache", m.what)
	}
	m.rt.cache.trim()
	return nil
}

// probe reports whether the code of a hollow module is that of the module
// itself. The cache of another processor, or one that was cleared, has it not;
// the runtime has then compiled functions that do nothing but trap.
func (m *module) probe(c wazero.CompiledModule) bool {
	mc, err := m.start(context.Background(), c, maxMemory, nil)
	if err != nil {
		return false
	}
	if f := mc.mod.ExportedFunction(rewrite.ProbeFunc); f != nil {
		if res, err := f.Call(context.Background()); err == nil && len(res) == 1 && res[0] == 1 {
			if m.fresh {
				mc.close()
			} else {
				m.pool.spare = mc // for whoever comes first
			}
			return true
		}
	}
	mc.close()
	return false
}

// discard frees the code of a module that nobody can run any more.
func (m *module) discard() {
	m.once.Do(func() { close(m.ready) })
	go func() {
		<-m.ready
		if m.compiled != nil {
			m.compiled.Close(context.Background())
		}
		m.letGo()
	}()
}

// letGo closes what the module has open of the cache. Nothing runs it any more.
func (m *module) letGo() {
	m.held.Close() // of nothing, perhaps
	m.image.close()
}
