package wasm

import (
	"slices"
	"sync"

	"github.com/donax-sh/donax/wasm/rewrite"
)

// userCode is the code of a module of a user, which several programs may
// share. It is freed when the last of them, and users, have let it go.
type userCode struct {
	*module
	calls   []string // exports to call, in order
	imports []string
	size    int // bytes of the rewritten module
}

// userKey says which code it is: the digest of the module, and what it was
// allowed to declare.
type userKey struct {
	sha256 string
	limits rewrite.Limits
}

// users keeps the code of the modules that were loaded last.
type users struct {
	mu    sync.Mutex
	codes []userEntry // last used last
}

type userEntry struct {
	key  userKey
	code *userCode
}

// What users may keep: a script that writes modules must not fill the memory
// of the process with them.
const (
	maxCodes     = 32
	maxCodeBytes = 128 << 20
)

// get returns the code of a key, and makes it when it is not there: one at a
// time, since that takes some times the memory of the module.
func (u *users) get(k userKey, rewrite func() (*userCode, error)) (*userCode, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i := u.find(k); i >= 0 {
		e := u.codes[i]
		u.codes = append(slices.Delete(u.codes, i, i+1), e)
		return e.code, nil
	}
	c, err := rewrite()
	if err != nil {
		return nil, err
	}
	u.codes = append(u.codes, userEntry{k, c})
	bytes := 0
	for i := len(u.codes) - 1; i >= 0; i-- {
		bytes += u.codes[i].code.size
		if i < len(u.codes)-1 && (bytes > maxCodeBytes || len(u.codes)-i > maxCodes) {
			u.codes = slices.Delete(u.codes, 0, i+1)
			break
		}
	}
	return c, nil
}

// forget drops the code of a key.
func (u *users) forget(k userKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i := u.find(k); i >= 0 {
		u.codes = slices.Delete(u.codes, i, i+1)
	}
}

// close lets go of what the cache holds for them. None runs any more.
func (u *users) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range u.codes {
		e.code.once.Do(func() { close(e.code.ready) })
		<-e.code.ready
		e.code.letGo()
	}
	u.codes = nil
}

func (u *users) find(k userKey) int {
	return slices.IndexFunc(u.codes, func(e userEntry) bool { return e.key == k })
}
