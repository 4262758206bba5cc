// Package find is find, as GNU findutils 4.9 has it.
//
// The entries of a folder are visited in the order of their names. Every file
// belongs to the one user of the sandbox. -ok and -okdir, which ask at a
// terminal, are refused.
package find

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is find.
var Command = &applet.Command{
	Name:     "find",
	Synopsis: "[-H] [-L] [-P] [PATH...] [EXPRESSION]",
	Summary:  "walk folders and test, print or treat what is in them",
	Help: `Options: -H -L -P (symbolic links: of the paths given, all, none followed), -depth -maxdepth N
-mindepth N -daystart -follow -mount -xdev -noleaf -warn -nowarn -regextype TYPE
Tests (N is N, +N or -N): -name GLOB -iname -path -ipath -wholename -iwholename -regex RE -iregex
-lname GLOB -ilname -type [bcdpfls] -xtype -size N[bcwkMG] -empty -perm [-/]MODE -user NAME -group NAME
-uid N -gid N -nouser -nogroup -links N -inum N -samefile FILE -readable -writable -executable
-mtime N -atime N -ctime N -mmin N -amin N -cmin N -newer FILE -anewer -cnewer -newerXY -used N
-true -false
Actions: -print -print0 -printf FORMAT -fprint FILE -fprint0 FILE -fprintf FILE FORMAT -ls -fls FILE
-delete -exec CMD ; -exec CMD {} + -execdir -prune -quit
Operators: ( EXPR )  ! EXPR  -not EXPR  EXPR1 -a EXPR2  EXPR1 -o EXPR2  EXPR1 , EXPR2
`,
	Run: run,
}

type finder struct {
	c      *applet.Ctx
	follow byte // 'P', 'H' or 'L'
	now    time.Time

	maxDepth, minDepth int
	depth, mount       bool
	daystart           bool
	regextype          string
	action             bool // an action was given: nothing is printed by itself

	expr    node
	batches []*execNode
	outputs map[string]*output
	status  int
	quit    bool
	denied  bool     // a command could not be run
	above   []fileID // of the folders above, with -L
	device  uint64
}

func (f *finder) warn(parts ...string) {
	f.c.Flush()
	f.c.Warn(parts...)
	f.status = 1
}

func run(c *applet.Ctx) int {
	f := &finder{c: c, follow: 'P', now: time.Now(), maxDepth: -1, regextype: "findutils-default", outputs: map[string]*output{}}
	args := c.Args
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		switch a := args[0]; {
		case a == "-H" || a == "-L" || a == "-P":
			f.follow = a[1]
		case a == "--":
		case strings.HasPrefix(a, "-O"), a == "-D":
			f.c.Warn("the option ", a[:2], " is not supported")
			return 1
		case a == "--help" || a == "-help":
			io.WriteString(c.Stdout, "Usage: find "+c.Cmd.Synopsis+"\n\n"+c.Cmd.Help)
			return 0
		case a == "--version" || a == "-version":
			c.ShowVersion()
			return 0
		default:
			goto paths
		}
		args = args[1:]
	}
paths:
	var paths []string
	for len(args) > 0 && !startsExpression(args[0]) {
		paths = append(paths, args[0])
		args = args[1:]
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	p := &parser{f: f, args: args}
	expr, err := p.parse()
	if err != nil {
		c.Warn(err.Error())
		return 1
	}
	f.expr = expr
	defer f.closeOutputs()
	for _, path := range paths {
		f.start(path)
		if f.quit {
			break
		}
	}
	for _, e := range f.batches {
		e.flush(f)
	}
	if f.denied {
		return statusDenied
	}
	return f.status
}

// startsExpression tells whether an argument is no path.
func startsExpression(a string) bool {
	return len(a) > 1 && a[0] == '-' || a == "(" || a == "!"
}

type fileID struct{ dev, ino uint64 }

// output is a file of -fprint and the like.
type output struct {
	f *os.File
	w io.Writer
}

func (f *finder) open(name string) (io.Writer, error) {
	switch name {
	case "/dev/stdout":
		return f.c.Stdout, nil
	case "/dev/stderr":
		return f.c.Stderr, nil
	}
	if o := f.outputs[name]; o != nil {
		return o.w, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	f.outputs[name] = &output{f: file, w: file}
	return file, nil
}

func (f *finder) closeOutputs() {
	for _, o := range f.outputs {
		o.f.Close()
	}
}
