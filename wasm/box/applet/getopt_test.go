package applet_test

import (
	"bufio"
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// parsed is what a command of the test's own makes of its arguments.
type parsed struct {
	operands []string
	all      bool
	number   string
	suffix   string
	order    string
	status   int
	ok       bool
	stdout   string
	stderr   string
}

func parse(usageStatus int, stop bool, args ...string) parsed {
	var p parsed
	var out, errs bytes.Buffer
	w := bufio.NewWriter(&out)
	c := &applet.Ctx{
		Cmd:  &applet.Command{Name: "cmd", Synopsis: "[FILE]", Summary: "do it", Help: "  -a  all"},
		Args: args, Stdout: w, Stderr: &errs,
	}
	opts := []applet.Opt{
		applet.Bool(&p.all, 'a', "all"),
		applet.String(&p.number, 'n', "number"),
		applet.Func(func(v string) error {
			if v == "bad" {
				return errors.New("invalid width: " + applet.Curly(v))
			}
			if v == "usage" {
				return applet.UsageError("invalid width")
			}
			return nil
		}, 'w', "width"),
		applet.Func(func(v string) error {
			_, err := applet.Choose("--when", v, []string{"always", "yes"}, []string{"never"}, []string{"auto"})
			return err
		}, 0, "when"),
		applet.Optional(func(v string, given bool) error {
			p.suffix = v
			if !given {
				p.suffix = "none"
			}
			return nil
		}, 'i', "in-place"),
		applet.Do(func() { p.order += "x" }, 'x', "exclude"),
		applet.Do(func() { p.order += "y" }, 'y', "exclude-from"),
	}
	if stop {
		opts = append(opts, applet.StopAtOperand())
	}
	p.operands, p.status, p.ok = c.Parse(usageStatus, opts...)
	w.Flush()
	p.stdout, p.stderr = out.String(), errs.String()
	return p
}

func TestParse(t *testing.T) {
	const try = "\nTry 'cmd --help' for more information.\n"
	for _, tc := range []struct {
		args []string
		want parsed
	}{
		{nil, parsed{}},
		{[]string{"f", "-a", "g"}, parsed{operands: []string{"f", "g"}, all: true}},
		{[]string{"-an5", "f"}, parsed{operands: []string{"f"}, all: true, number: "5"}},
		{[]string{"-n", "-a"}, parsed{number: "-a"}},
		{[]string{"--number=5"}, parsed{number: "5"}},
		{[]string{"--number", "5"}, parsed{number: "5"}},
		{[]string{"--num=5", "--al"}, parsed{number: "5", all: true}},
		{[]string{"--number="}, parsed{}},
		{[]string{"-a", "--", "-n", "--x"}, parsed{operands: []string{"-n", "--x"}, all: true}},
		{[]string{"-", "-a"}, parsed{operands: []string{"-"}, all: true}},
		{[]string{"-i", "f"}, parsed{operands: []string{"f"}, suffix: "none"}},
		{[]string{"-i.bak"}, parsed{suffix: ".bak"}},
		{[]string{"--in-place=.b"}, parsed{suffix: ".b"}},
		{[]string{"--in-place", "f"}, parsed{operands: []string{"f"}, suffix: "none"}},
		{[]string{"-xyx", "--exclude"}, parsed{order: "xyxx"}},
		{[]string{""}, parsed{operands: []string{""}}},
		{[]string{"-a", "-q"}, parsed{all: true, stderr: "cmd: invalid option -- 'q'" + try}},
		{[]string{"-é"}, parsed{stderr: "cmd: invalid option -- '\xc3'" + try}},
		{[]string{"-n"}, parsed{stderr: "cmd: option requires an argument -- 'n'" + try}},
		{[]string{"--number"}, parsed{stderr: "cmd: option '--number' requires an argument" + try}},
		{[]string{"--all=3"}, parsed{stderr: "cmd: option '--all' doesn't allow an argument" + try}},
		{[]string{"--nope=3"}, parsed{stderr: "cmd: unrecognized option '--nope=3'" + try}},
		{[]string{"--exc"}, parsed{stderr: "cmd: option '--exc' is ambiguous; possibilities: '--exclude' '--exclude-from'" + try}},
		{[]string{"--help=x"}, parsed{stderr: "cmd: option '--help' doesn't allow an argument" + try}},
		{[]string{"-wbad"}, parsed{stderr: "cmd: invalid width: ‘bad’\n"}},
		{[]string{"-wusage"}, parsed{stderr: "cmd: invalid width" + try}},
	} {
		got := parse(2, false, tc.args...)
		want := tc.want
		want.ok = want.stderr == ""
		if !want.ok {
			want.status = 2
		}
		if !got.ok {
			got.operands = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", tc.args, got, want)
		}
	}
}

func TestParseStopsAtOperand(t *testing.T) {
	p := parse(125, true, "-a", "cmd", "-n", "--", "-q")
	if want := []string{"cmd", "-n", "--", "-q"}; !p.ok || !p.all || !reflect.DeepEqual(p.operands, want) {
		t.Errorf("got %+v", p)
	}
}

func TestChoose(t *testing.T) {
	p := parse(2, false, "--when=sometimes")
	if p.ok || p.status != 1 || !strings.HasPrefix(p.stderr, "cmd: invalid argument ‘sometimes’ for ‘--when’\nValid arguments are:\n  - ‘always’, ‘yes’\n  - ‘never’\n") {
		t.Errorf("got %+v", p)
	}
	p = parse(2, false, "--when=a")
	if p.ok || !strings.HasPrefix(p.stderr, "cmd: ambiguous argument ‘a’ for ‘--when’") {
		t.Errorf("got %+v", p)
	}
	if p = parse(2, false, "--when=ne"); !p.ok {
		t.Errorf("got %+v", p)
	}
}

func TestHelpAndVersion(t *testing.T) {
	p := parse(2, false, "-a", "--help", "--nope")
	if p.ok || p.status != 0 || p.stdout != "Usage: cmd [FILE]\nDo it.\n\n  -a  all\n" {
		t.Errorf("--help: %+v", p)
	}
	if p = parse(2, false, "--vers"); p.ok || p.status != 0 || !strings.HasPrefix(p.stdout, "cmd (donax") {
		t.Errorf("--version: %+v", p)
	}
}
