package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// A section is one part of what doctor reports. A new one is a line in
// sections and a function, in a file of its own if it is long.
type section struct {
	name  string
	check func(context.Context, *report)
}

// sections are checked and printed in this order.
func sections() []section {
	return []section{
		{"platform", checkPlatform},
		{"cache", checkCache},
		{"machines", checkMachines},
		{"isolation", checkIsolation},
		{"limits", checkLimits},
	}
}

// A finding is one line of the report.
type finding struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	State string `json:"state"`          // ok, warn (works, but not as well as it could) or fail (something required does not)
	Hint  string `json:"hint,omitempty"` // what to try
}

// report collects the findings of one section.
type report struct {
	Name     string    `json:"name"`
	Findings []finding `json:"findings"`
}

func (r *report) ok(name, format string, args ...any) {
	r.Findings = append(r.Findings, finding{name, fmt.Sprintf(format, args...), "ok", ""})
}

func (r *report) warn(name, hint, format string, args ...any) {
	r.Findings = append(r.Findings, finding{name, fmt.Sprintf(format, args...), "warn", hint})
}

func (r *report) fail(name, hint, format string, args ...any) {
	r.Findings = append(r.Findings, finding{name, fmt.Sprintf(format, args...), "fail", hint})
}

func newDoctor(std stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what holds on this machine, and what does not",
		Long: `Say what holds on this machine: the platform, the cache of compiled code, the machines
that commands run in and what they cost, and the limits in force. The status is 0 when
all that is required works, and 1 when something does not.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctor(cmd.Context(), std.out, sections(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: {ok, sections: [{name, findings: [{name, value, state, hint}]}]}")
	return cmd
}

// doctor checks the sections and prints what it found.
func doctor(ctx context.Context, w io.Writer, list []section, asJSON bool) error {
	ok := true
	var all []report
	for _, s := range list {
		r := report{Name: s.name, Findings: []finding{}}
		s.check(ctx, &r)
		for _, f := range r.Findings {
			ok = ok && f.State != "fail"
		}
		all = append(all, r)
	}
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]any{"ok": ok, "sections": all}); err != nil {
			return &exitError{exitFault, err}
		}
	} else {
		printReports(w, all)
	}
	if !ok {
		return &exitError{code: exitNo}
	}
	return nil
}

func printReports(w io.Writer, all []report) {
	paint := painter(w)
	for _, r := range all {
		fmt.Fprintln(w, paint(bold, r.Name))
		for _, f := range r.Findings {
			state := f.State
			if state == "ok" {
				state = paint(green, state)
			}
			fmt.Fprintf(w, "  %s%s %-18s %s\n", state, strings.Repeat(" ", max(0, 4-len(f.State))), f.Name, f.Value)
			if f.Hint != "" {
				fmt.Fprintf(w, "       %-18s try: %s\n", "", f.Hint)
			}
		}
	}
}
