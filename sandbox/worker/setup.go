package worker

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/sandbox/vfs"
)

// Setup is what the server tells a worker before anything else.
type Setup struct {
	Version  int
	Limits   sandbox.Limits
	Env      []string // NAME=VALUE of every shell
	Dir      string   // working folder of lines
	Mounts   []Mount
	RC       string // text that each fresh shell reads first
	RCName   string // what it is called
	Posix    bool   // of sandbox.Config
	Lookup   bool   // the server has programs of its own
	Relay    bool   // the server makes requests to the network, if only to say why not
	Served   bool   // limits are explained to an MCP client rather than to who typed the line
	CacheDir string // where compiled programs are read from; "" means nowhere

	// Added tells the function that opens programs which there are beside its
	// own. This package does not read it.
	Added json.RawMessage `json:",omitempty"`

	// Pagemap is the worker's /proc/PID/pagemap, which it may not open; nil when
	// there is none. It does not come with the rest.
	Pagemap *os.File `json:"-"`

	MemoryLimit int64 // bytes of writable memory
	CPULimit    int64 // seconds
	Procs       int   // threads that may run at a time
}

// Mount is one file system that the server holds for a worker.
type Mount struct {
	Path string
	Mode vfs.MountMode
}

// Programs is what lines can start in a worker.
type Programs struct {
	List []sandbox.Program

	// Load prepares what most lines need, before the worker is ready. Rest
	// prepares all else; after it no new machine code can be made, so nothing
	// may need any. Either may be nil.
	Load, Rest func(context.Context) error

	// Trim gives back memory that is kept for the next line. It is called when
	// none has come for a moment, and may be nil.
	Trim func()

	// Raise is that of sandbox.Config.
	Raise func(flag string, lowered bool) string
}

// namespace lays out what the sandbox sees: programs and devices are the
// worker's own, which costs no question, and all else is the server's.
func (s Setup) namespace(c *conn, programs []sandbox.Program) (*vfs.Mount, error) {
	dev, err := vfs.NewDev(vfs.DevConfig{})
	if err != nil {
		return nil, err
	}
	points := []vfs.MountPoint{{Path: "/dev", FS: dev, Mode: vfs.ReadWrite}}
	if !slices.ContainsFunc(s.Mounts, func(m Mount) bool { return m.Path == "/bin" }) {
		bin, err := vfs.NewStatic(sandbox.BinFiles(programs), 0o755)
		if err != nil {
			return nil, err
		}
		points = append(points, vfs.MountPoint{Path: "/bin", FS: bin, Mode: vfs.ReadOnlyMount})
	}
	for i, m := range s.Mounts {
		points = append(points, vfs.MountPoint{Path: m.Path, FS: &remoteFS{conn: c, mount: i}, Mode: m.Mode})
	}
	return vfs.NewMount(points...)
}
