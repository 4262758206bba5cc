package wasi_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/donax-sh/donax/sandbox/vfs"
	"github.com/donax-sh/donax/wasm/internal/wasmtest"
	"github.com/donax-sh/donax/wasm/wasi"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Error numbers of preview 1 that the tests name.
const (
	eBADF   = 8
	eFAULT  = 21
	eINVAL  = 28
	eLOOP   = 32
	eMFILE  = 33
	eNAME   = 37
	eNOENT  = 44
	eNOTDIR = 54
	eNOSYS  = 52
	ePERM   = 63
	eSPIPE  = 70
)

// guest calls host functions with whatever arguments a test likes.
type guest struct {
	t   testing.TB
	mod api.Module
	mem api.Memory
	ctx context.Context
	fs  vfs.FS
}

const guestPages = 4

// instance makes a guest without a job.
func instance(t testing.TB) api.Module { return instanceOf(t, wasi.Module) }

// instanceOf makes one of the functions of one of the host's modules.
func instanceOf(t testing.TB, module string) api.Module {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { r.Close(ctx) })
	if err := wasi.Instantiate(ctx, r); err != nil {
		t.Fatal(err)
	}
	var all api.Module
	for _, host := range []string{wasi.Module, wasi.DonaxModule} {
		var defs []api.FunctionDefinition
		for _, d := range r.Module(host).ExportedFunctionDefinitions() {
			defs = append(defs, d)
		}
		mod, err := r.InstantiateWithConfig(ctx, wasmtest.Trampolines(guestPages, defs), wazero.NewModuleConfig().WithName("guest of "+host))
		if err != nil {
			t.Fatal(err)
		}
		if host == module {
			all = mod
		}
	}
	return all
}

func newGuest(t testing.TB, cfg wasi.Config) *guest {
	t.Helper()
	g := &guest{t: t, mod: instance(t)}
	g.job(cfg)
	return g
}

// job gives the guest a new job.
func (g *guest) job(cfg wasi.Config) {
	if cfg.FS == nil {
		cfg.FS = wasmtest.Dir(g.t, g.t.TempDir())
	}
	if cfg.Epoch.IsZero() {
		cfg.Epoch = time.Now()
	}
	j := wasi.NewJob(cfg)
	g.t.Cleanup(j.Close)
	g.mem, g.fs = g.mod.Memory(), cfg.FS
	g.ctx = wasi.With(context.Background(), j)
}

// call calls a function and returns its error number.
func (g *guest) call(name string, args ...uint64) uint64 {
	g.t.Helper()
	n, err := g.try(name, args...)
	if err != nil {
		g.t.Fatalf("%s: %v", name, err)
	}
	return n
}

func (g *guest) try(name string, args ...uint64) (uint64, error) {
	res, err := g.mod.ExportedFunction(name).Call(g.ctx, args...)
	if err != nil || len(res) == 0 {
		return 0, err
	}
	return res[0], nil
}

// put writes a string into memory and returns its place and length.
func (g *guest) put(at uint32, s string) (ptr, n uint64) {
	g.mem.WriteString(at, s)
	return uint64(at), uint64(len(s))
}

func (g *guest) u32(at uint32) uint32 {
	v, _ := g.mem.ReadUint32Le(at)
	return v
}

func (g *guest) u64(at uint32) uint64 {
	v, _ := g.mem.ReadUint64Le(at)
	return v
}

// iovec writes a vector of one buffer.
func (g *guest) iovec(at, ptr, n uint32) uint64 {
	g.mem.WriteUint32Le(at, ptr)
	g.mem.WriteUint32Le(at+4, n)
	return uint64(at)
}

const allRights = 1<<28 - 1

// open opens a path for reading and writing.
func (g *guest) open(p string, oflags uint64) (fd uint64, errno uint64) {
	ptr, n := g.put(1024, p)
	errno = g.call("path_open", 3, 1, ptr, n, oflags, allRights, allRights, 0, 512)
	return uint64(g.u32(512)), errno
}

func TestAllFunctions(t *testing.T) {
	g := newGuest(t, wasi.Config{})
	if n := len(g.mod.ExportedFunctionDefinitions()); n != 46 {
		t.Errorf("%d functions, preview 1 has 46", n)
	}
}

// Security case 055: arguments that lie.
//
// Threats: WA-4.
func TestLies(t *testing.T) {
	g := newGuest(t, wasi.Config{})
	end := uint64(guestPages << 16)
	path := func(s string) (uint64, uint64) { return g.put(2048, s) }
	abs, absN := path("/etc/hostname")
	if got := g.call("path_open", 3, 1, abs, absN, 0, allRights, allRights, 0, 512); got != ePERM {
		t.Errorf("absolute path: %d", got)
	}
	nul, nulN := path("a\x00b")
	if got := g.call("path_open", 3, 1, nul, nulN, 0, allRights, allRights, 0, 512); got != eINVAL {
		t.Errorf("NUL: %d", got)
	}
	for _, c := range []struct {
		name string
		args []uint64
		want uint64
	}{
		{"path_open", []uint64{3, 1, end - 2, 10, 0, 0, 0, 0, 512}, eFAULT},
		{"path_open", []uint64{3, 1, 1024, 1 << 31, 0, 0, 0, 0, 512}, eNAME},
		{"path_open", []uint64{1<<31 - 1, 1, 1024, 1, 0, 0, 0, 0, 512}, eBADF},
		{"path_open", []uint64{1, 1, 1024, 1, 0, 0, 0, 0, 512}, eNOTDIR},
		{"fd_write", []uint64{1, 0, 0xffffffff, 512}, eINVAL},
		{"fd_write", []uint64{1, end - 4, 1, 512}, eFAULT},
		{"fd_read", []uint64{0, 0xfffffff8, 1, 512}, eFAULT},
		{"random_get", []uint64{0, 0xffffffff}, eFAULT},
		{"random_get", []uint64{0xffffffff, 2}, eFAULT},
		{"poll_oneoff", []uint64{0, 0, 1 << 20, 512}, eINVAL},
		{"poll_oneoff", []uint64{0, 0, 0, 512}, eINVAL},
		{"poll_oneoff", []uint64{0, 0, 1 << 16, 512}, eFAULT},
		{"fd_close", []uint64{0xffffffff}, eBADF},
		{"fd_prestat_dir_name", []uint64{3, 0, 0}, eNAME},
		{"fd_prestat_dir_name", []uint64{3, end, 1}, eFAULT},
		{"clock_time_get", []uint64{4, 0, 512}, eINVAL},
		{"clock_time_get", []uint64{0, 0, end - 4}, eFAULT},
		{"fd_seek", []uint64{0, 0, 0, 512}, eSPIPE},
		{"fd_filestat_get", []uint64{3, end - 63}, eFAULT},
		{"fd_readdir", []uint64{3, end - 1, 2, 0, 512}, eFAULT},
		{"fd_renumber", []uint64{3, 77}, eBADF},
		{"args_get", []uint64{end - 2, end - 1}, 0}, // no arguments: nothing to write
		{"args_sizes_get", []uint64{end - 2, 0}, eFAULT},
		{"proc_raise", []uint64{99}, eINVAL},
	} {
		if got := g.call(c.name, c.args...); got != c.want {
			t.Errorf("%s%v: %d, want %d", c.name, c.args, got, c.want)
		}
	}
	for i := range uint64(10001) {
		if got := g.call("fd_prestat_get", i, 512); (got == 0) != (i == 3) {
			t.Fatalf("fd_prestat_get %d: %d", i, got)
		}
	}
	if got := g.call("fd_renumber", 3, 1); got != 0 {
		t.Errorf("fd_renumber of the root: %d", got)
	}
	if got := g.call("fd_write", 1, g.iovec(0, 64, 1), 1, 512); got != eBADF {
		t.Errorf("writing to the root: %d", got)
	}
}

func TestClimbing(t *testing.T) {
	g := newGuest(t, wasi.Config{Preopens: []wasi.Preopen{{Name: "/", Path: "/"}, {Name: "d", Path: "/d"}, {Name: ".", Path: "/d/e"}}})
	for _, d := range []string{"/d", "/d/e", "/x"} {
		if err := g.fs.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.fs.Symlink("../x", "/d/l"); err != nil {
		t.Fatal(err)
	}
	stat := func(fd uint64, p string) uint64 {
		ptr, n := g.put(1024, p)
		return g.call("path_filestat_get", fd, 1, ptr, n, 256)
	}
	for _, c := range []struct {
		fd   uint64
		path string
		want uint64
	}{
		{3, "d/../x", 0},
		{3, "../../../x", 0},
		{3, "d/l/../d", 0}, // the parent of what the link means
		{3, "d/nothing/../e", eNOENT},
		{4, "../x", ePERM},
		{4, "e/../../x", ePERM},
		{4, "e/../e", 0},
		{5, "../../x", 0}, // the working directory has parents
		{5, ".", 0},
		{5, "", eNOENT},
	} {
		if got := stat(c.fd, c.path); got != c.want {
			t.Errorf("%d %q: %d, want %d", c.fd, c.path, got, c.want)
		}
	}
}

func TestOpenFlags(t *testing.T) {
	g := newGuest(t, wasi.Config{})
	if _, e := g.open("f", 1|4); e != 0 {
		t.Fatal(e)
	}
	if err := g.fs.Symlink("f", "/s"); err != nil {
		t.Fatal(err)
	}
	ptr, n := g.put(1024, "s")
	if got := g.call("path_open", 3, 0, ptr, n, 0, 2, 0, 0, 512); got != eLOOP {
		t.Errorf("a link, not followed: %d", got)
	}
	if _, e := g.open("f", 2); e != eNOTDIR {
		t.Errorf("a file as a folder: %d", e)
	}
	if _, e := g.open("f/", 0); e != eNOTDIR {
		t.Errorf("a file with a slash: %d", e)
	}
	if _, e := g.open("new", 1|2); e != eINVAL {
		t.Errorf("creating a folder: %d", e)
	}
	if _, e := g.open("new", 16); e != eINVAL {
		t.Errorf("an unknown flag: %d", e)
	}
	for i := 0; ; i++ {
		if _, e := g.open("f", 0); e != 0 {
			if e != eMFILE || i < 200 || i > 256 {
				t.Errorf("after %d: %d", i, e)
			}
			break
		}
	}
}

func TestReaddir(t *testing.T) {
	g := newGuest(t, wasi.Config{})
	want := map[string]bool{".": true, "..": true}
	for _, n := range []string{"a", "bb", strings.Repeat("c", 200)} {
		if err := g.fs.Mkdir("/"+n, 0o777); err != nil {
			t.Fatal(err)
		}
		want[n] = true
	}
	var cookie uint64
	for {
		if e := g.call("fd_readdir", 3, 4096, 240, cookie, 512); e != 0 {
			t.Fatal(e)
		}
		used := g.u32(512)
		b, _ := g.mem.Read(4096, used)
		for len(b) >= 24 {
			n := binary.LittleEndian.Uint32(b[16:])
			if len(b) < int(24+n) {
				break // cut short: read again from the last cookie
			}
			name := string(b[24 : 24+n])
			if !want[name] {
				t.Errorf("unexpected or twice: %q", name)
			}
			delete(want, name)
			cookie = binary.LittleEndian.Uint64(b)
			b = b[24+n:]
		}
		if used < 240 {
			break
		}
	}
	if len(want) != 0 {
		t.Errorf("missing: %v", want)
	}
}

// sub writes a clock subscription.
func (g *guest) sub(at uint32, user uint64, clock uint32, timeout time.Duration, flags uint16) {
	g.mem.Write(at, make([]byte, 48))
	g.mem.WriteUint64Le(at, user)
	g.mem.WriteUint32Le(at+16, clock)
	g.mem.WriteUint64Le(at+24, uint64(timeout))
	g.mem.WriteUint16Le(at+40, flags)
}

func TestPoll(t *testing.T) {
	g := newGuest(t, wasi.Config{Stdin: strings.NewReader("x")})
	g.call("clock_time_get", 1, 0, 512)
	now := time.Duration(g.u64(512))
	for _, c := range []struct {
		name    string
		clock   uint32
		timeout time.Duration
		flags   uint16
		atLeast time.Duration
	}{
		{"relative", 1, 20 * time.Millisecond, 0, 20 * time.Millisecond},
		{"absolute monotonic", 1, now + 50*time.Millisecond, 1, 0},
		{"absolute, long ago", 0, 1, 1, 0},
		{"absolute real", 0, time.Duration(time.Now().Add(20 * time.Millisecond).UnixNano()), 1, 0},
	} {
		g.sub(1024, 42, c.clock, c.timeout, c.flags)
		g.sub(1024+48, 43, 1, 1<<62, 0)
		start := time.Now()
		if e := g.call("poll_oneoff", 1024, 2048, 2, 512); e != 0 {
			t.Errorf("%s: %d", c.name, e)
		}
		if d := time.Since(start); d < c.atLeast || d > 10*time.Second {
			t.Errorf("%s: took %v", c.name, d)
		}
		if n, user := g.u32(512), g.u64(2048); n != 1 || user != 42 {
			t.Errorf("%s: %d events, first of %d", c.name, n, user)
		}
	}
	g.sub(1024, 7, 9, 0, 0) // no such clock
	g.sub(1024+48, 8, 0, 0, 0)
	g.mem.WriteByte(1024+48+8, 1) // fd_read of descriptor 0
	g.sub(1024+96, 9, 77, 0, 0)
	g.mem.WriteByte(1024+96+8, 2) // fd_write of no descriptor
	if e := g.call("poll_oneoff", 1024, 2048, 3, 512); e != 0 || g.u32(512) != 3 {
		t.Fatalf("%d, %d events", e, g.u32(512))
	}
	for i, want := range []uint16{eINVAL, 0, eBADF} {
		if got, _ := g.mem.ReadUint16Le(2048 + uint32(i)*32 + 8); got != want {
			t.Errorf("event %d: error %d, want %d", i, got, want)
		}
	}
}

func TestPollEndsWithContext(t *testing.T) {
	g := newGuest(t, wasi.Config{})
	cause := errors.New("killed")
	ctx, cancel := context.WithCancelCause(g.ctx)
	g.ctx = ctx
	g.sub(1024, 1, 1, 1<<62, 0)
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	if _, err := g.try("poll_oneoff", 1024, 2048, 1, 512); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if _, err := g.try("sched_yield"); !errors.Is(err, cause) {
		t.Errorf("a later call: %v", err)
	}
}

func TestExit(t *testing.T) {
	g := newGuest(t, wasi.Config{})
	for _, c := range []struct {
		name string
		arg  uint64
		want uint32
	}{{"proc_exit", 7, 7}, {"proc_raise", 15, 143}} {
		_, err := g.try(c.name, c.arg)
		var exit *wasi.Exit
		if !errors.As(err, &exit) || exit.Code != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if e := g.call("sched_yield"); e != 0 { // the instance still works
		t.Error(e)
	}
}

func TestWithoutJob(t *testing.T) {
	g := newGuest(t, wasi.Config{})
	g.ctx = context.Background()
	if _, err := g.try("sched_yield"); err == nil {
		t.Error("no error")
	}
}

func TestScatterGather(t *testing.T) {
	var out bytes.Buffer
	g := newGuest(t, wasi.Config{Stdin: io.MultiReader(strings.NewReader("ab"), strings.NewReader("cd")), Stdout: &out})
	g.put(4096, "hello")
	g.iovec(0, 4096, 2)
	g.iovec(8, 0, 0)
	g.iovec(16, 4098, 3)
	if e := g.call("fd_write", 1, 0, 3, 512); e != 0 || g.u32(512) != 5 || out.String() != "hello" {
		t.Errorf("%d %d %q", e, g.u32(512), out.String())
	}
	if e := g.call("fd_read", 0, 0, 1, 512); e != 0 || g.u32(512) != 2 {
		t.Errorf("%d %d", e, g.u32(512))
	}
	fd, e := g.open("f", 1)
	if e != 0 {
		t.Fatal(e)
	}
	g.call("fd_pwrite", fd, 0, 3, 10, 512)
	if e := g.call("fd_seek", fd, ^uint64(4), 2, 512); e != 0 || g.u64(512) != 10 {
		t.Errorf("seek: %d %d", e, g.u64(512))
	}
	if e := g.call("fd_pread", fd, g.iovec(0, 8192, 100), 1, 12, 512); e != 0 || g.u32(512) != 3 {
		t.Errorf("pread: %d %d", e, g.u32(512))
	}
	if e := g.call("fd_allocate", fd, 0, 100); e != 0 {
		t.Error(e)
	}
	g.call("fd_filestat_get", fd, 8192)
	if n := g.u64(8192 + 32); n != 100 {
		t.Errorf("size %d", n)
	}
	if err := g.fs.Remove("/f"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.fs.Open("/f", os.O_RDONLY, 0); err == nil {
		t.Error("still there")
	}
}

// FuzzCalls makes calls with lying pointers, lengths and descriptors, one
// after the other in one job: the host must answer or trap, and come back.
//
// Threats: WA-4.
func FuzzCalls(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(bytes.Repeat([]byte{0x21, 0x03, 0xff, 0x80, 0x00, 0x41}, 40))
	f.Add(bytes.Repeat([]byte{0x2b, 0x01, 0x00, 0x10, 0x05, 0x91, 0x33}, 50))
	mod := instance(f)
	var names []string
	for n := range mod.ExportedFunctionDefinitions() {
		names = append(names, n)
	}
	slices.Sort(names)
	// Values where things break.
	edges := []uint64{0, 1, 2, 3, 4, 5, 8, 16, 64, 255, 256, 1024, 4096, guestPages<<16 - 1, guestPages << 16,
		1<<31 - 1, 1 << 31, 1<<32 - 8, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	f.Fuzz(func(t *testing.T, in []byte) {
		g := &guest{t: t, mod: mod}
		g.job(wasi.Config{Args: []string{"a", "b"}, Env: []string{"K=v"}, Stdin: bytes.NewReader(in), Stdout: io.Discard})
		g.mem.Write(0, make([]byte, guestPages<<16))
		g.mem.Write(0, in[:min(len(in), guestPages<<16)])
		ctx, cancel := context.WithTimeout(g.ctx, 100*time.Millisecond) // polls and the like
		defer cancel()
		g.ctx = ctx
		for len(in) > 0 {
			fn := mod.ExportedFunction(names[int(in[0])%len(names)])
			in = in[1:]
			args := make([]uint64, len(fn.Definition().ParamTypes()))
			for i := range args {
				if len(in) == 0 {
					break
				}
				if b := in[0]; b < 128 {
					args[i] = uint64(b)
				} else {
					args[i] = edges[int(b)%len(edges)]
				}
				in = in[1:]
			}
			_, err := fn.Call(ctx, args...)
			var exit *wasi.Exit
			var stop *wasi.Stop
			if err != nil && !errors.As(err, &exit) && !errors.As(err, &stop) {
				t.Fatalf("%s%v: %v", fn.Definition().Name(), args, err)
			}
		}
	})
}
