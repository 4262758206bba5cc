package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/donax-sh/donax/policy"
	"github.com/donax-sh/donax/policy/approve"
	"github.com/spf13/cobra"
)

// confirmFlags say what becomes of the asks of a policy.
type confirmFlags struct {
	mode string
	file string
}

func (f *confirmFlags) add(cmd *cobra.Command) {
	var modes []string
	for _, m := range approve.Modes() {
		modes = append(modes, string(m))
	}
	cmd.Flags().StringVar(&f.mode, "confirm", string(approve.AskOnce), "what a policy's ask does, `MODE`: "+strings.Join(modes, ", "))
	cmd.Flags().StringVar(&f.file, "approvals", "", "keep what was approved in `FILE`, to be read and edited; without it approvals end with donax")
}

// book opens the approvals.
func (f *confirmFlags) book(report func(error)) (*approve.Book, error) {
	b, err := approve.New(approve.Config{Mode: approve.Mode(f.mode), File: f.file, Report: report})
	if err != nil {
		return nil, usageError("donax approvals ls --approvals FILE", "%v", err)
	}
	return b, nil
}

func newApprovals(std stdio) *cobra.Command {
	var f confirmFlags
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "Show and revoke what a person has approved",
		Long: `Show and revoke what a person has approved. The file is the one of --approvals: one
approval on a line, as JSON. It may be edited by hand; it is read at each question.`,
		Args: cobra.ArbitraryArgs,
		RunE: needVerb(std),
	}
	cmd.PersistentFlags().StringVar(&f.file, "approvals", "", "the `FILE` of approvals")
	cmd.AddCommand(newApprovalsList(std, &f), newApprovalsRevoke(std, &f))
	return cmd
}

// given fails when no file was named.
func (f *confirmFlags) given() error {
	if f.file == "" {
		return usageError("--approvals FILE", "which file of approvals?")
	}
	return nil
}

func newApprovalsList(std stdio, f *confirmFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the approvals",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.given(); err != nil {
				return err
			}
			list, err := approve.Read(f.file)
			if err != nil {
				return &exitError{exitNo, err}
			}
			type row struct {
				ID string `json:"id"`
				approve.Entry
			}
			rows := []row{}
			for _, e := range list {
				rows = append(rows, row{e.ID(), e})
			}
			if asJSON {
				enc := json.NewEncoder(std.out)
				enc.SetEscapeHTML(false)
				return enc.Encode(rows)
			}
			for _, r := range rows {
				session := r.Session
				if session == approve.AnySession {
					session = "every session"
				}
				fmt.Fprintf(std.out, "%s  %s  %s  %s  %s\n", r.ID, r.At.Format(time.DateOnly), policy.Plain(r.Principal.Sub), policy.Plain(session), r.What())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newApprovalsRevoke(std stdio, f *confirmFlags) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "revoke ID...",
		Short: "Take approvals back; servers that run obey at once",
		RunE: func(_ *cobra.Command, ids []string) error {
			if err := f.given(); err != nil {
				return err
			}
			if all == (len(ids) > 0) {
				return usageError("donax approvals ls", "say which: an ID of `donax approvals ls`, or --all")
			}
			n, err := approve.Revoke(f.file, ids...)
			if err != nil {
				return &exitError{exitNo, err}
			}
			fmt.Fprintf(std.out, "revoked %d\n", n)
			if n < len(ids) {
				return &exitError{exitNo, errors.New("some of these approvals are not in the file")}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all of them")
	return cmd
}
