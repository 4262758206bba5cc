package upstream

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/donax-sh/donax/mcp/client"
)

// known is what is kept of a server between runs.
type known struct {
	Tools        []client.Tool `json:"tools"`
	Instructions string        `json:"instructions"`
	Revision     string        `json:"revision"`
}

// maxCache bounds a file of the cache.
const maxCache = 64 << 20

// cacheFile is where what is known of the server is kept. Its name depends on
// everything that could make it another server: also on the credentials,
// whose hash cannot be told from the rest.
func (s *server) cacheFile() string {
	if s.m.cfg.CacheDir == "" || s.cfg.Err != nil {
		return ""
	}
	c := s.cfg
	id, err := json.Marshal([]any{"1", c.Name, c.Command, c.Env, c.Dir, c.URL, c.Header})
	if err != nil {
		return ""
	}
	return filepath.Join(s.m.cfg.CacheDir, "upstream", hash(id)+".json")
}

// load takes over what the cache has. Whatever is wrong with it only means
// that the server will be asked.
func (s *server) load() {
	name := s.cacheFile()
	if name == "" || s.cfg.Disabled {
		return
	}
	fi, err := os.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() || fi.Mode().Perm()&0o077 != 0 || fi.Size() > maxCache {
		return // what others could have written is not believed
	}
	b, err := os.ReadFile(name)
	var k known
	if err == nil && json.Unmarshal(b, &k) == nil && k.Tools != nil {
		s.adopt(k, true)
	}
}

// store keeps what is known, for the user alone, whole or not at all.
func (s *server) store(k known) {
	name := s.cacheFile()
	if name == "" {
		return
	}
	if err := store(name, k); err != nil {
		s.m.cfg.Logf("upstream server %s: its tools cannot be kept: %v", s.name, err)
	}
}

func store(name string, k known) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
