// Package find is the command find.
//
// The expression is parsed once into closures (parse.go, tests.go, times.go,
// actions.go, exec.go, printf.go) and applied to each file of a walk
// (walk.go). Folders are read in the order of their names, so that the same
// tree always gives the same output; GNU find's order is the disk's.
package find

import (
	"os"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is the command find.
var Command = applet.Command{
	Name:     "find",
	Synopsis: "[-H] [-L] [-P] [STARTING-POINT]... [EXPRESSION]",
	Summary:  "search for files in a directory hierarchy",
	Help: `Operators, in decreasing precedence: ( EXPR )   ! EXPR   EXPR1 [-a] EXPR2   EXPR1 -o EXPR2   EXPR1 , EXPR2
Options: -daystart -depth -d -follow -maxdepth N -mindepth N -mount -noleaf -nowarn -regextype TYPE -warn -xdev
Tests (N can be +N or -N or N): -amin N -anewer FILE -atime N -cmin N -cnewer FILE -ctime N -empty -executable
      -false -gid N -group NAME -ilname PATTERN -iname PATTERN -inum N -ipath PATTERN -iregex PATTERN -links N
      -lname PATTERN -mmin N -mtime N -name PATTERN -newer FILE -newerXY FILE -nogroup -nouser -path PATTERN
      -perm [-/]MODE -readable -regex PATTERN -samefile FILE -size N[bckwMG] -true -type [bcdpflsD] -uid N
      -user NAME -wholename PATTERN -writable -xtype [bcdpfls]
Actions: -delete -print0 -printf FORMAT -fprintf FILE FORMAT -print -fprint0 FILE -fprint FILE -ls -fls FILE
      -prune -quit -exec COMMAND ; -exec COMMAND {} + -execdir COMMAND ; -execdir COMMAND {} +`,
	Run: run,
}

// finder is one run.
type finder struct {
	c      *applet.Ctx
	now    time.Time
	status int

	follow             follow
	daystart           bool
	depthFirst         bool
	minDepth, maxDepth int
	over               bool // -quit

	expr    expr
	batches []*batch            // of -exec +
	files   map[string]*os.File // opened by -fprint and the like
	flush   []func()            // of their buffers
}

// follow says which symlinks are followed.
type follow uint8

const (
	followNever     follow = iota // -P
	followArguments               // -H
	followAll                     // -L
)

func run(c *applet.Ctx) int {
	f := &finder{c: c, now: time.Now(), maxDepth: -1, files: map[string]*os.File{}}
	args, ok := f.options(c.Args)
	if !ok {
		return 1
	}
	var starts []string
	for len(args) > 0 && !isExpression(args[0]) {
		starts, args = append(starts, args[0]), args[1:]
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	if len(args) == 1 && (args[0] == "-help" || args[0] == "--help") {
		h := *c
		h.Args = []string{"--help"}
		_, status, _ := h.Parse(1)
		return status
	}
	if !f.parse(args) {
		return 1
	}
	for _, s := range starts {
		if f.over {
			break
		}
		f.start(s)
	}
	f.finish()
	return f.status
}

// options reads the options that stand before the starting points.
func (f *finder) options(args []string) ([]string, bool) {
	for len(args) > 0 {
		switch a := args[0]; {
		case a == "-H":
			f.follow = followArguments
		case a == "-L":
			f.follow = followAll
		case a == "-P":
			f.follow = followNever
		case a == "--":
			return args[1:], true
		case len(a) > 2 && strings.HasPrefix(a, "-O") && a[2] >= '0' && a[2] <= '9':
			// The level of optimisation changes no output.
		case strings.HasPrefix(a, "-D"):
			f.c.Warn("-D is not supported in the sandbox")
			return nil, false
		default:
			return args, true
		}
		args = args[1:]
	}
	return args, true
}

func isExpression(a string) bool {
	return len(a) > 1 && a[0] == '-' || a == "(" || a == ")" || a == "," || a == "!"
}

// finish runs the batches that are left and writes what is buffered.
func (f *finder) finish() {
	for _, b := range f.batches {
		b.run()
	}
	for _, flush := range f.flush {
		flush()
	}
	for _, file := range f.files {
		if err := file.Close(); err != nil {
			f.warn(file.Name(), err)
		}
	}
}

// warn complains about a file.
func (f *finder) warn(name string, err error) {
	f.c.Flush() // the complaint stands where it happened
	f.c.Warn(applet.Curly(name), ": ", applet.Reason(err))
	f.fail(1)
}

func (f *finder) fail(status int) { f.status = max(f.status, status) }
