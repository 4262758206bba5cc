package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/sandbox"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// sandboxFlags are the flags that -c, run and serve share.
type sandboxFlags struct {
	policies []string
	entry    string
	key      string
	mode     policyMode
	confirm  confirmFlags
	mounts   []string
	programs []string
	env      []string
	net      netFlags
	timeout  duration
	memory   size
	output   size
	raw      bool
	dialect  dialect
	rcfile   string
	quiet    bool
	waist    waistFlags
	upstream upstreamFlags

	isolation isolation
	raise     func(flag string, lowered bool) string // of sandbox.Config
	program   []program                              // of run FILE.wasm, beside --program
	explain   bool                                   // nothing will run: nobody is asked
	named     map[string]bool                        // digests of all of them, when no policy was given
}

// add declares the flags. The default of --timeout differs between a line
// and a served terminal.
func (f *sandboxFlags) add(cmd *cobra.Command, timeout time.Duration, memory, output int64) {
	f.timeout, f.memory, f.output = duration(timeout), size(memory), size(output)
	fl := cmd.Flags()
	fl.SortFlags = false
	f.addPolicy(cmd)
	f.mode = enforce
	fl.Var(&f.mode, "policy-mode", "`MODE`: enforce, or dry-run: say what the policy would refuse and let it happen")
	f.confirm.add(cmd)
	fl.StringArrayVar(&f.mounts, "mount", nil, "show a host folder: `SRC[:DST][:MODE]`, MODE cow (default: SRC is never written), ro or rw; DST is /workspace unless given")
	fl.StringArrayVar(&f.programs, "program", nil, "add a WebAssembly program (WASI) as a command: `NAME=FILE[@sha256:HEX]` (repeatable); with --policy an action module is asked")
	fl.StringArrayVar(&f.env, "env", nil, "give the line a variable: `NAME=VALUE`, or NAME to pass on donax's own")
	f.net.add(fl)
	fl.Var(&f.timeout, "timeout", "end a line after `DURATION`, like 90s or 5m; 0 means never")
	fl.Var(&f.memory, "memory", "memory of one program, like 64MiB")
	fl.Var(&f.output, "output", "bytes a line may write in all, like 16MiB")
	f.waist.add(cmd)
	f.upstream.add(cmd)
	fl.BoolVar(&f.raw, "raw", false, "show terminal escape sequences of the line to a terminal or client as they are")
	f.dialect = bash
	fl.Var(&f.dialect, "dialect", "`DIALECT` of the lines: bash, or posix: bash in its POSIX mode, as sh")
	fl.StringVar(&f.rcfile, "rcfile", "", "let each fresh shell read the bash text in `FILE` first, under the same policy and limits")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "say nothing of donax's own on stderr but errors")
}

// addPolicy declares the flags that say which policies are asked.
func (f *sandboxFlags) addPolicy(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.policies, "policy", nil, "admit by the Rego in `PATH`, a file, folder, signed bundle or its https URL (repeatable: the most restrictive answer wins)")
	fl.StringVar(&f.entry, "policy-entrypoint", "", "ask one rule, like `acme/authz/decision`, instead of those of package donax")
	fl.StringVar(&f.key, "policy-key", "", "verify bundles with the public key in `[ID=]FILE`")
}

// defaults sets what add would have, for who parses no flags.
func (f *sandboxFlags) defaults() {
	f.waist.audit, f.waist.onError = "off", "deny"
	f.memory, f.output = size(sandbox.DefaultLimits.Memory), size(sandbox.DefaultLimits.Output)
}

// readRC reads the file of --rcfile.
func (f *sandboxFlags) readRC() (string, error) {
	if f.rcfile == "" {
		return "", nil
	}
	file, err := os.Open(f.rcfile)
	if err != nil {
		return "", usageError("ls "+f.rcfile, "--rcfile: %v", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, sandbox.DefaultLimits.Source+1))
	switch {
	case err != nil:
		return "", usageError("--rcfile FILE", "--rcfile: %v", err)
	case int64(len(text)) > sandbox.DefaultLimits.Source:
		return "", usageError("a shorter file", "--rcfile %s: longer than %d bytes", f.rcfile, sandbox.DefaultLimits.Source)
	case bytes.IndexByte(text, 0) >= 0:
		return "", usageError("a text file", "--rcfile %s: holds a NUL byte", f.rcfile)
	}
	return string(text), nil
}

// fromEnvironment sets flags that were not given from DONAX_ variables:
// --mount is DONAX_MOUNT. A flag that may be repeated takes one value a line.
func fromEnvironment(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "DONAX_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || f.Name == "help" || failed != nil {
			return
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(strings.TrimSpace(value), "\n")
		}
		for _, v := range values {
			if err := flags.Set(f.Name, v); err != nil {
				failed = usageError("unset "+name, "the variable %s is no value for --%s: %v", name, f.Name, err)
				return
			}
		}
	})
	return failed
}

// environ resolves the --env flags to NAME=VALUE.
func environ(flags []string) ([]string, error) {
	var env []string
	for _, f := range flags {
		name, value, ok := strings.Cut(f, "=")
		if !validName(name) {
			return nil, usageError("--env NAME=VALUE", "--env %q: not a variable name", f)
		}
		if !ok {
			if value, ok = os.LookupEnv(name); !ok {
				return nil, usageError("--env "+name+"=VALUE", "--env %s: donax itself has no such variable", name)
			}
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

func validName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// duration is a time limit: Go's notation, or a bare number of seconds.
type duration time.Duration

func (d *duration) String() string {
	if *d == 0 {
		return "0"
	}
	return time.Duration(*d).String()
}
func (d *duration) Type() string { return "duration" }
func (d *duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if secs, ferr := strconv.ParseFloat(s, 64); ferr == nil && secs < math.MaxInt64/1e9 {
		v, err = time.Duration(secs*float64(time.Second)), nil
	}
	if err != nil || v < 0 {
		return fmt.Errorf("want a time like 500ms, 90s, 5m or 2h")
	}
	*d = duration(v)
	return nil
}

// size is a number of bytes: 4096, 64K, 64MiB, 1G. Units are powers of 1024.
type size int64

// minMemory is the least that a command of the box can start with.
const minMemory = 16 << 20

func (n *size) String() string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if shift := 30 - 10*i; *n != 0 && *n%(1<<shift) == 0 {
			return strconv.FormatInt(int64(*n)>>shift, 10) + unit
		}
	}
	return strconv.FormatInt(int64(*n), 10)
}
func (n *size) Type() string { return "size" }
func (n *size) Set(s string) error {
	digits := strings.TrimRight(s, "KMGTiBkb")
	v, err := strconv.ParseInt(digits, 10, 64)
	shift, ok := map[string]int{"": 0, "B": 0, "K": 10, "KiB": 10, "KB": 10, "M": 20, "MiB": 20, "MB": 20, "G": 30, "GiB": 30, "GB": 30}[s[len(digits):]]
	if err != nil || !ok || v <= 0 || v > math.MaxInt64>>shift {
		return fmt.Errorf("want a size like 4096, 64KiB, 16MiB or 1GiB")
	}
	*n = size(v << shift)
	return nil
}
