package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/donax-sh/donax/examples/policies"
	"github.com/donax-sh/donax/policy/rego"
	"github.com/spf13/cobra"
)

func newPolicy(std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Write, check, test and explain policies",
		Long: `Write, check, test and explain policies in Rego. A policy is asked about each command
line, each program it starts and each file it opens or changes.

  donax policy init > rules.rego
  donax policy check rules.rego
  donax policy explain --policy rules.rego 'rm -rf /workspace'`,
		Args: cobra.ArbitraryArgs,
		RunE: needVerb(std),
	}
	cmd.AddCommand(newPolicyInit(std), newPolicyCheck(std), newPolicyTest(std), newPolicyExplain(std), newPolicyFmt(std))
	return cmd
}

func newPolicyInit(std stdio) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "init [DIR|FILE.rego]",
		Short: "Print a policy to start from, or write a folder to work in",
		Long: `Print a policy to start from. With FILE.rego write it to that file. With DIR write it
there with its tests, the schema of the input, and settings that make editors check it.
Nothing that exists is replaced.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := policies.Get(name)
			if err != nil {
				return usageError("donax policy init --example "+policies.Starter, "%v", err)
			}
			if len(args) == 0 {
				fmt.Fprint(std.out, e.Policy)
				return nil
			}
			if filepath.Ext(args[0]) == ".rego" {
				return writePolicy(std, args[0], e)
			}
			written, err := rego.Scaffold(args[0], e.Files)
			if err != nil {
				return &exitError{exitNo, err}
			}
			for _, f := range written {
				fmt.Fprintln(std.out, f)
			}
			fmt.Fprintf(std.err, "next: donax policy test %[1]s; donax policy explain --policy %[1]s 'rm -rf src'; then edit %[1]s/policy.rego\n", args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "example", policies.Starter, "which `NAME`: "+strings.Join(policies.Names(), ", "))
	return cmd
}

// writePolicy writes the policy of an example alone to a new file.
func writePolicy(std stdio, name string, e policies.Example) error {
	for other := range e.Files {
		if filepath.Ext(other) != ".rego" { // it would not load without its data
			return usageError("donax policy init "+strings.TrimSuffix(name, ".rego"), "this example needs %s beside it: name a folder", other)
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &exitError{exitNo, &hint{fmt.Errorf("%s is there already, and nothing is replaced", name), "another name"}}
	}
	if err != nil {
		return &exitError{exitNo, err}
	}
	_, err = f.WriteString(e.Policy)
	if err := errors.Join(err, f.Close()); err != nil {
		return &exitError{exitFault, err}
	}
	fmt.Fprintln(std.out, name)
	fmt.Fprintf(std.err, "next: donax policy explain --policy %[1]s 'rm -rf src'; then edit %[1]s; donax policy check %[1]s\n", name)
	return nil
}

// needs refuses to go on without operands, and says what they would be.
func needs(what, try string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError(try, "%s is missing", what)
		}
		return nil
	}
}

func newPolicyCheck(std stdio) *cobra.Command {
	var asJSON bool
	var entry string
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "Compile policies strictly and say what looks wrong",
		Long: `Compile policies strictly, against the schema of the input, and say what looks wrong.
Each PATH is a layer of its own, as with --policy. Exit status 0: they load; 1: they do not.`,
		Args: needs("the policy, a file or a folder,", "donax policy check rules.rego"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ok, reports := true, []*rego.Report{}
			for _, path := range args {
				r, err := rego.Check(cmd.Context(), rego.Config{Paths: []string{path}, Entrypoint: entry, Enforce: rego.Obligations()})
				if err != nil {
					return &exitError{exitUsage, err}
				}
				ok, reports = ok && r.OK(), append(reports, r)
			}
			if asJSON {
				if err := json.NewEncoder(std.out).Encode(reports); err != nil {
					return err
				}
			} else {
				for _, r := range reports {
					fmt.Fprint(std.out, r)
				}
			}
			if !ok {
				return &exitError{code: exitNo}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&entry, "policy-entrypoint", "", "check that one rule, like `acme/authz/decision`, can be asked")
	return cmd
}

func newPolicyTest(std stdio) *cobra.Command {
	var format, pattern string
	cmd := &cobra.Command{
		Use:   "test PATH...",
		Short: "Run the test_ rules of *_test.rego files",
		Args:  needs("the folder with the policy and its tests", "donax policy test ./rules"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := rego.Test(cmd.Context(), rego.TestConfig{Config: rego.Config{Paths: args, Enforce: rego.Obligations()}, Run: pattern})
			if err != nil {
				return loadError(err)
			}
			switch format {
			case "text":
				fmt.Fprint(std.out, r)
			case "json":
				if err := json.NewEncoder(std.out).Encode(r); err != nil {
					return err
				}
			case "junit":
				report, err := r.JUnit()
				if err != nil {
					return err
				}
				std.out.Write(report)
			default:
				return usageError("--format junit", "--format %q: want text, json or junit", format)
			}
			if !r.OK() {
				return &exitError{code: exitNo}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or junit")
	cmd.Flags().StringVar(&pattern, "run", "", "only tests whose PACKAGE.NAME matches `REGEXP`")
	return cmd
}

func newPolicyFmt(std stdio) *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Format Rego files",
		Args:  needs("the file", "donax policy fmt -w rules.rego"),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				text, err := os.ReadFile(name)
				if err != nil {
					return usageError("", "%v", err)
				}
				out, err := rego.Format(name, text)
				if err != nil {
					return &exitError{exitNo, err}
				}
				if !write {
					std.out.Write(out)
					continue
				}
				if string(out) != string(text) {
					if err := os.WriteFile(name, out, 0o644); err != nil {
						return &exitError{exitFault, err}
					}
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the file instead of printing it")
	return cmd
}

// loadError is a policy that does not load: OPA's words, and what to try.
func loadError(err error) error {
	var le *rego.LoadError
	if errors.As(err, &le) {
		return &exitError{exitUsage, &hint{err, "donax policy check PATH"}}
	}
	return &exitError{exitUsage, err}
}
