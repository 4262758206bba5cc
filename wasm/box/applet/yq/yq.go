// Package yq is yq: jq's language over YAML, with the options of
// mikefarah/yq that are in common use. Comments, anchors and styles are not
// kept, so -i refuses a file that has them.
package yq

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/jqlang"
)

// Command is yq.
var Command = &applet.Command{
	Name:     "yq",
	Synopsis: "[eval] [OPTION]... FILTER [FILE]...",
	Summary:  "transform YAML with a jq filter",
	Help: `  -r, --unwrapScalar        text without quotes (default)
  -o, --output-format=FMT   yaml (default) or json
  -j, --tojson              the same as -o json
  -c, --compact-output      JSON on one line
  -p, --input-format=FMT    yaml (default) or json
  -P, --prettyPrint         block style (which is the only one)
  -I, --indent=N            how to indent
  -i, --inplace             write the result to the file
  -n, --null-input          run once with null for input
  -s, --slurp               run once with all documents in an array
  -e, --exit-status         status 1 when there is no result, or the last is null or false
  -N, --no-doc              no --- between documents
      --arg A V, --argjson A JSON   define $A
  -C, -M                    no effect
`,
	Run: run,
}

type options struct {
	json, compact, inPlace, nullIn, slurp, exitStatus, noDoc, raw bool
	indent                                                        int
}

const failed = 1

func run(c *applet.Ctx) int {
	o := &options{indent: 2, raw: true}
	globals := map[string]any{}
	args, err := variables(c.Args, globals)
	if err != nil {
		c.Warn("Error: ", err.Error())
		return failed
	}
	formats := func(set func(json bool)) func(string) error {
		return func(v string) error {
			switch v {
			case "json", "j":
				set(true)
			case "yaml", "y", "yml", "auto", "a":
				set(false)
			default:
				return errors.New("unknown format '" + v + "'")
			}
			return nil
		}
	}
	sub := *c
	sub.Args = args
	operands, status, ok := sub.Parse(failed,
		applet.Bool(&o.raw, 'r', "unwrapScalar"),
		applet.Bool(&o.raw, 0, "raw-output"),
		applet.Func(formats(func(j bool) { o.json = j }), 'o', "output-format"),
		applet.Func(formats(func(bool) {}), 'p', "input-format"), // JSON is YAML
		applet.Bool(&o.json, 'j', "tojson"),
		applet.Do(func() { o.compact, o.json = true, true }, 'c', "compact-output"),
		applet.Do(func() { o.json = false }, 'y', "yaml-output"),
		applet.Do(func() {}, 'P', "prettyPrint"),
		applet.Func(func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || n > 20 {
				return errors.New("invalid indent '" + v + "'")
			}
			o.indent = n
			return nil
		}, 'I', "indent"),
		applet.Bool(&o.inPlace, 'i', "inplace"),
		applet.Bool(&o.nullIn, 'n', "null-input"),
		applet.Bool(&o.slurp, 's', "slurp"),
		applet.Bool(&o.exitStatus, 'e', "exit-status"),
		applet.Bool(&o.noDoc, 'N', "no-doc"),
		applet.Do(func() {}, 'C', "colors"),
		applet.Do(func() {}, 'M', "no-colors"),
	)
	if !ok {
		return status
	}
	if len(operands) > 0 && (operands[0] == "eval" || operands[0] == "e") {
		operands = operands[1:]
	}
	if len(operands) == 0 {
		return c.Usage("no filter given")
	}
	filter, files := operands[0], operands[1:]
	if len(files) == 0 && !o.inPlace {
		// `yq FILE` prints the file.
		if fi, err := os.Stat(filter); err == nil && fi.Mode().IsRegular() {
			filter, files = ".", []string{filter}
		} else {
			files = []string{"-"}
		}
	}
	prog, err := jqlang.Compile(filter, globals)
	if err != nil {
		c.Warn("Error: ", err.Error())
		return failed
	}
	r := &runner{c: c, o: o, prog: prog}
	return r.all(files)
}

// variables takes --arg and --argjson, which have two arguments, out.
func variables(args []string, globals map[string]any) ([]string, error) {
	var rest []string
	for i := 0; i < len(args); i++ {
		if args[i] != "--arg" && args[i] != "--argjson" {
			rest = append(rest, args[i])
			continue
		}
		if i+2 >= len(args) {
			return nil, errors.New(args[i] + " takes a name and a value")
		}
		var v any = args[i+2]
		if args[i] == "--argjson" {
			var err error
			if v, err = jqlang.ParseJSON(args[i+2]); err != nil {
				return nil, errors.New("invalid JSON text passed to --argjson")
			}
		}
		globals[args[i+1]] = v
		i += 2
	}
	return rest, nil
}

type runner struct {
	c    *applet.Ctx
	o    *options
	prog *jqlang.Program
	out  bytes.Buffer
	any  bool
	last any
}

func (r *runner) all(files []string) int {
	o := r.o
	if o.inPlace && len(files) == 0 {
		return r.c.Usage("-i needs a file")
	}
	var slurped []any
	status := 0
	for _, name := range files {
		docs, lossy, err := r.read(name)
		if err != nil {
			r.c.Flush()
			r.c.Warn("Error: ", err.Error())
			return failed
		}
		if o.slurp {
			slurped = append(slurped, docs...)
			continue
		}
		if o.nullIn {
			break
		}
		if o.inPlace && lossy != "" {
			r.c.Warn("Error: ", name, " has ", lossy, ", which would be lost: not changed")
			return failed
		}
		for _, d := range docs {
			if err := r.one(d); err != nil {
				r.c.Warn("Error: ", err.Error())
				return failed
			}
		}
		if o.inPlace {
			if err := replace(name, r.out.Bytes()); err != nil {
				r.c.Warn("Error: ", name, ": ", applet.Reason(err))
				return failed
			}
			r.out.Reset()
			r.any = false
		}
	}
	if o.slurp || o.nullIn {
		var in any
		if o.slurp {
			in = slurped
			if slurped == nil {
				in = []any{}
			}
		}
		if err := r.one(in); err != nil {
			r.c.Warn("Error: ", err.Error())
			return failed
		}
	}
	r.c.Stdout.Write(r.out.Bytes())
	if o.exitStatus && (!r.any || r.last == nil || r.last == false) {
		status = 1
	}
	return status
}

// replace writes a file anew, whole or not at all.
func replace(name string, data []byte) error {
	fi, err := os.Stat(name)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "yq")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		os.Chmod(f.Name(), fi.Mode().Perm()) // where there are modes
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// read returns the documents of a file, and what of it values do not hold.
func (r *runner) read(name string) (docs []any, lossy string, err error) {
	var in io.Reader = r.c.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, "", errors.New("open " + name + ": " + applet.Reason(err))
		}
		defer f.Close()
		in = f
	}
	dec := yaml.NewDecoder(in)
	for {
		var n yaml.Node
		if err := dec.Decode(&n); err == io.EOF {
			return docs, lossy, nil
		} else if err != nil {
			return nil, "", errors.New(name + ": " + strings.TrimPrefix(err.Error(), "yaml: "))
		}
		v := &valuer{}
		d, err := v.value(&n)
		if err != nil {
			return nil, "", errors.New(name + ": " + err.Error())
		}
		if v.lossy != "" {
			lossy = v.lossy
		}
		docs = append(docs, d)
	}
}

func (r *runner) one(v any) error {
	in := &jqlang.Interp{Stderr: r.c.Stderr, Env: os.Environ()}
	return in.Run(r.prog, v, r.print)
}

func (r *runner) print(v any) error {
	o := r.o
	if o.json {
		s := jqlang.Style{Indent: o.indent}
		if o.compact {
			s.Indent = 0
		}
		r.any, r.last = true, v
		r.out.Write(append(jqlang.Encode(nil, v, s), '\n'))
		return nil
	}
	if r.any && !o.noDoc {
		switch r.last.(type) {
		case []any, *jqlang.Object: // scalars follow each other on lines
			r.out.WriteString("---\n")
		}
	}
	r.any, r.last = true, v
	if s, ok := v.(string); ok && o.raw {
		r.out.WriteString(s + "\n")
		return nil
	}
	enc := yaml.NewEncoder(&r.out)
	enc.SetIndent(max(o.indent, 2))
	if err := enc.Encode(toNode(v)); err != nil {
		return err
	}
	return enc.Close()
}
