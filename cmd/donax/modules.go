package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/sandbox"
	"github.com/donax-sh/donax/wasm"
)

// A program is one --program flag: NAME=FILE.wasm[@sha256:HEX].
type program struct {
	name, file, sha256 string
	preopens           []wasm.Preopen
}

const tryProgram = "--program tool=tool.wasm@sha256:DIGEST"

// parseProgram reads one flag. The digest pins what the file must hold;
// without it, it may hold anything at the start of each donax.
func parseProgram(flag string) (program, error) {
	name, file, ok := strings.Cut(flag, "=")
	p := program{name: name, file: file}
	if at := strings.LastIndex(file, "@"); at >= 0 {
		sum, isSum := strings.CutPrefix(file[at+1:], "sha256:")
		if raw, err := hex.DecodeString(sum); isSum && (err != nil || len(raw) != sha256.Size) {
			return p, usageError(tryProgram, "--program %q: a sha256 has 64 hex digits", flag)
		} else if isSum {
			p.file, p.sha256 = file[:at], strings.ToLower(sum)
		}
	}
	switch {
	case !ok || p.file == "":
		return p, usageError(tryProgram, "--program %q: want NAME=FILE.wasm or NAME=FILE.wasm@sha256:HEX", flag)
	case !validProgram(name):
		return p, usageError(tryProgram, "--program %q: %q cannot be the name of a command", flag, name)
	}
	return p, nil
}

// validProgram takes names that neither the shell nor a policy can mistake
// for something else.
func validProgram(name string) bool {
	for i, r := range name {
		if r > 'z' || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-", r) || i == 0 && (r == '-' || r == '.') {
			return false
		}
	}
	return name != ""
}

// modules loads the programs of the flags and returns them behind those of
// the box.
func (f *sandboxFlags) modules(ctx context.Context, rt *wasm.Runtime, engine policy.Engine, subject policy.Subject) ([]sandbox.Program, error) {
	programs := rt.Programs()
	taken := map[string]bool{}
	for name := range sandbox.BinFiles(programs) {
		taken[name] = true
	}
	list := f.program
	for _, flag := range f.programs {
		p, err := parseProgram(flag)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	for _, p := range list {
		if taken[p.name] {
			return nil, usageError("another name", "--program %s: the sandbox has a command of that name already", p.name)
		}
		taken[p.name] = true
		loaded, err := f.loadProgram(ctx, p, rt, engine, subject)
		if err != nil {
			return nil, err
		}
		programs = append(programs, loaded)
	}
	return programs, nil
}

// loadProgram loads a program of the command line.
func (f *sandboxFlags) loadProgram(ctx context.Context, p program, rt *wasm.Runtime, engine policy.Engine, subject policy.Subject) (sandbox.Program, error) {
	bin, err := readModule(p.file)
	if err != nil {
		return nil, usageError("ls "+p.file, "--program %s: %v", p.name, err)
	}
	if f.named != nil {
		f.named[sumOf(bin)] = true
	}
	subject.Terminal = policy.Terminal{ID: "start", Cwd: "/workspace", Grants: []string{}}
	source, err := filepath.Abs(p.file)
	if err != nil {
		return nil, &exitError{exitFault, err}
	}
	loaded, err := rt.Load(ctx, wasm.UserModule{
		Usage:    sandbox.Usage{Name: p.name, Synopsis: "[ARG]...", Summary: "added by --program"},
		SHA256:   cmp.Or(p.sha256, sumOf(bin)),
		Read:     func() ([]byte, error) { return bin, nil },
		Source:   source,
		Preopens: p.preopens,
		Admit: func(ctx context.Context, m policy.Module) error {
			_, err := policy.Check(ctx, engine, policy.Action{Kind: policy.KindModule, Subject: subject, Module: &m})
			return err
		},
	})
	switch {
	case err == nil:
		return loaded, nil
	case errors.Is(err, policy.ErrDenied):
		return nil, &exitError{sandbox.StatusDenied, &hint{fmt.Errorf("--program %s: %w", p.name, err), `a rule in the policy: allow if input.module.sha256 == "` + sumOf(bin) + `"`}}
	case errors.Is(err, wasm.ErrNotPinned):
		return nil, &exitError{exitFault, &hint{err, "the file that the digest was taken from"}}
	}
	return nil, &exitError{exitFault, err}
}

// noPolicy decides when no policy was given: as policy.Default does, but whoever
// named a program on the command line has allowed its module.
type noPolicy struct {
	policy.Default
	named map[string]bool // by digest; not changed once anything runs
}

func (e noPolicy) Decide(ctx context.Context, a policy.Action) (policy.Decision, error) {
	if a.Kind == policy.KindModule && a.Module != nil && e.named[a.Module.SHA256] {
		return policy.Decision{Effect: policy.Allow}, nil
	}
	return e.Default.Decide(ctx, a)
}

func (e noPolicy) Constant(k policy.Kind) (policy.Decision, bool) {
	if k == policy.KindModule {
		return policy.Decision{}, false
	}
	return e.Default.Constant(k)
}

// fromFiles returns what loads a module that lies in the session's files. The
// policy is asked each time; without policies the answer is no.
func fromFiles(rt *wasm.Runtime) func(context.Context, sandbox.Module) (sandbox.Program, error) {
	return func(ctx context.Context, m sandbox.Module) (sandbox.Program, error) {
		return rt.Load(ctx, wasm.UserModule{
			Usage:  sandbox.Usage{Name: m.Name, Summary: "a module in the files"},
			SHA256: sumOf(m.Code),
			Read:   func() ([]byte, error) { return m.Code, nil },
			Source: "files",
			Admit:  m.Admit,
		})
	}
}

const wasmMagic = "\x00asm"

// moduleFile returns the program that FILE of `donax run FILE` is, if it is
// a module and not a script.
func moduleFile(file string, preopens []string) (*program, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil // whoever reads it as a script says so
	}
	defer f.Close()
	head := make([]byte, len(wasmMagic))
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte(wasmMagic)) {
		if len(preopens) > 0 {
			return nil, usageError("--mount SRC:/workspace/NAME", "--preopen is for WebAssembly programs: %s is a script", file)
		}
		return nil, nil
	}
	p := &program{name: filepath.Base(file), file: file}
	if !validProgram(p.name) || !strings.Contains(p.name, ".") {
		p.name = "program.wasm" // a name with a dot is none of the box's
	}
	if slices.Equal(preopens, []string{"none"}) {
		p.preopens = []wasm.Preopen{} // nil would be the usual ones
		return p, nil
	}
	for _, o := range preopens {
		name, at, ok := strings.Cut(o, "=")
		if !ok {
			at = path.Join("/workspace", name)
		}
		if name == "" || !path.IsAbs(at) {
			return nil, usageError("--preopen data=/workspace/data", "--preopen %q: want NAME or NAME=/PATH", o)
		}
		p.preopens = append(p.preopens, wasm.Preopen{Name: name, Path: path.Clean(at)})
	}
	return p, nil
}

// maxModule is how many bytes are read of a module.
const maxModule = 64 << 20

func readModule(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	bin, err := io.ReadAll(io.LimitReader(f, maxModule+1))
	if err == nil && len(bin) > maxModule {
		err = fmt.Errorf("%s has more than %d MiB", file, maxModule>>20)
	}
	return bin, err
}

func sumOf(bin []byte) string {
	sum := sha256.Sum256(bin)
	return hex.EncodeToString(sum[:])
}
