package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/donax-sh/donax/wasm/rewrite"
	"github.com/donax-sh/donax/wasm/wasi"
)

// What sqlite3 is made of: the source as its authors gave it out, which Debian
// keeps as sqlite3_3.40.1.orig.tar.xz, and Debian's clang.
const (
	sqliteSource = "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655"
	llvm         = "/usr/lib/llvm-16"
	clangVersion = "Debian clang version 16.0.6"
)

// SourceVariable names the file that holds the source of sqlite3.
const SourceVariable = "DONAX_SQLITE_SOURCE"

// ErrNoSource is the error of [SQLite] where its source or compiler is not at
// hand.
var ErrNoSource = errors.New("set " + SourceVariable + " to sqlite3_3.40.1.orig.tar.xz (apt-get source --download-only sqlite3), " +
	"and install clang-16, lld-16, wasi-libc, libclang-rt-16-dev-wasm32, gcc, make and tcl")

// SQLite compiles the shell of SQLite to a command for WASI preview 1 that is
// ready for package wasm. include is the folder of that name beside this file.
func SQLite(ctx context.Context, include string) ([]byte, error) {
	source := os.Getenv(SourceVariable)
	version, err := exec.CommandContext(ctx, llvm+"/bin/clang", "--version").Output()
	if source == "" || err != nil || !strings.HasPrefix(string(version), clangVersion) {
		return nil, fmt.Errorf("%w, of %s (%v)", ErrNoSource, clangVersion, err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(text)); sum != sqliteSource {
		return nil, fmt.Errorf("build: %s is %s, not the source of sqlite3, %s", source, sum, sqliteSource)
	}
	if include, err = filepath.Abs(include); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "donax-sqlite3-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	in := func(name string, args ...string) error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = tmp
		// clang runs any wasm-opt that it finds; its linker is beside it.
		cmd.Env = append(os.Environ(), "PATH="+llvm+"/bin:/usr/bin:/bin", "LC_ALL=C", "SOURCE_DATE_EPOCH=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %s: %w\n%s", name, err, bytes.TrimSpace(out))
		}
		return nil
	}
	flags := []string{
		"--target=wasm32-wasi", "-nostdinc", "-isystem", include, "-isystem", llvm + "/lib/clang/16/include", "-isystem", "/usr/include/wasm32-wasi",
		"-O2", "-w", "-include", "wasi.h",
		"-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_PROCESS_CLOCKS", "-D_WASI_EMULATED_MMAN", "-D_WASI_EMULATED_GETPID",
		// Neither threads nor locks nor shared memory are there.
		"-DSQLITE_THREADSAFE=0", `-DSQLITE_DEFAULT_UNIX_VFS="unix-none"`, "-DSQLITE_OMIT_WAL", "-DSQLITE_MAX_MMAP_SIZE=0", "-DSQLITE_OMIT_LOAD_EXTENSION",
		"-DSQLITE_ENABLE_FTS5", "-DSQLITE_ENABLE_RTREE", "-DSQLITE_ENABLE_MATH_FUNCTIONS", "-DSQLITE_ENABLE_DBSTAT_VTAB", "-DSQLITE_ENABLE_COLUMN_METADATA",
		"-o", "sqlite3.wasm", "sqlite3.c", "shell.c",
		"-lwasi-emulated-signal", "-lwasi-emulated-process-clocks", "-lwasi-emulated-mman", "-lwasi-emulated-getpid",
		"-Wl,--strip-all", "-Wl,-z,stack-size=1048576",
	}
	err = in("tar", "-xf", source, "--strip-components=1")
	for _, step := range [][]string{{"./configure", "--disable-tcl", "--disable-readline"}, {"make", "sqlite3.c", "shell.c"}, append([]string{llvm + "/bin/clang"}, flags...)} {
		if err == nil {
			err = in(step[0], step[1:]...)
		}
	}
	if err != nil {
		return nil, err
	}
	bin, err := os.ReadFile(filepath.Join(tmp, "sqlite3.wasm"))
	if err != nil {
		return nil, err
	}
	o := Options()
	o.ExportGlobals = false // each run has an instance of its own
	o.Import = func(module, name string) bool { return module == wasi.Module && wasi.Serves(module, name) }
	bin, _, err = rewrite.Module(bin, o)
	return bin, err
}
