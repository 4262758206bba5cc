package wasm

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// CacheLimit is how many bytes of compiled code the cache keeps unless
// Config.CacheLimit says otherwise.
const CacheLimit = 1 << 30

// unfinished is how old what no entry names must be before it counts as left
// over: somebody may be about to name it. No compilation takes as long.
const unfinished = time.Hour

// entry is one module in the cache: its marker, its hollow form and its code.
// A file that no marker names is an entry without marker.
type entry struct {
	marker string
	files  []string
	size   int64
	used   time.Time // last
}

// hold notes that an entry is used now, and keeps it from being trimmed until
// the file that it returns is closed. That is nil where nobody trims. False
// means that there is no entry.
func (c *cache) hold(sum string) (*os.File, bool) {
	if c.wz == nil {
		return nil, false
	}
	if !c.keeper {
		return nil, true
	}
	name := c.marker(sum)
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	now := time.Now()
	if lockShared(f) != nil || os.Chtimes(name, now, now) != nil || !sameFile(f, name) { // trimmed just now
		f.Close()
		return nil, false
	}
	return f, true
}

// sameFile reports whether name still leads to f.
func sameFile(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}

// trim removes what was used longest ago until the rest fits, but nothing that
// a process holds, and what compilations left that never ended.
func (c *cache) trim() {
	if c.wz == nil || !c.keeper {
		return
	}
	now := time.Now()
	for _, prefix := range []string{tmpPrefix, "hollow-"} { // the latter of earlier versions
		left, _ := filepath.Glob(filepath.Join(c.dir, prefix+"*")) // the pattern is fine
		for _, dir := range left {
			if fi, err := os.Lstat(dir); err == nil && now.Sub(fi.ModTime()) > unfinished {
				os.RemoveAll(dir)
			}
		}
	}
	all := c.entries()
	total := int64(0)
	for _, e := range all {
		total += e.size
	}
	for _, e := range all {
		if total <= c.limit {
			return
		}
		if e.marker == "" && now.Sub(e.used) < unfinished || !c.remove(e) {
			continue
		}
		total -= e.size
	}
}

// remove removes an entry unless somebody holds it. The marker goes first:
// without it the rest counts for nothing.
func (c *cache) remove(e entry) bool {
	if e.marker != "" {
		f, err := os.Open(e.marker)
		if err != nil {
			return false
		}
		defer f.Close()
		if lockAlone(f) != nil || os.Remove(e.marker) != nil {
			return false
		}
	}
	for _, name := range e.files {
		os.Remove(name)
	}
	return true
}

// entries lists the cache, what was used longest ago first.
func (c *cache) entries() (all []entry) {
	unnamed := map[string]bool{}
	for _, pattern := range []string{codePrefix + "*/*", markerPrefix + "*" + hollowSuffix, "wazero-*/*", "ready-*"} { // the latter of earlier versions
		names, _ := filepath.Glob(filepath.Join(c.dir, pattern)) // the pattern is fine
		for _, n := range names {
			unnamed[n] = true
		}
	}
	ents, err := os.ReadDir(c.dir)
	if err != nil {
		return nil
	}
	for _, d := range ents {
		if !strings.HasPrefix(d.Name(), markerPrefix) || strings.HasSuffix(d.Name(), hollowSuffix) {
			continue
		}
		e := entry{marker: filepath.Join(c.dir, d.Name())}
		e.add(e.marker)
		parts := []string{e.marker + hollowSuffix}
		if b, err := os.ReadFile(e.marker); err == nil {
			parts = append(parts, filepath.Join(c.dir, filepath.Clean("/"+string(b))))
		}
		for _, name := range parts {
			if unnamed[name] {
				e.add(name)
				delete(unnamed, name)
			}
		}
		if fi, err := os.Stat(e.marker); err == nil {
			e.used = fi.ModTime()
		}
		all = append(all, e)
	}
	for name := range unnamed {
		var e entry
		if fi := e.add(name); fi != nil {
			e.used = fi.ModTime()
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return a.used.Compare(b.used) })
	return all
}

func (e *entry) add(name string) fs.FileInfo {
	fi, err := os.Lstat(name)
	if err != nil {
		return nil
	}
	e.files = append(e.files, name)
	e.size += fi.Size()
	return fi
}
