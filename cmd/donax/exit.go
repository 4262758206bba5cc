package main

import (
	"errors"
	"fmt"
	"io"
)

// Exit statuses of the verbs other than -c and run, whose status is the
// script's own (see sandbox.StatusTimeout and its neighbours).
const (
	exitOK    = 0
	exitNo    = 1 // the answer is no: a policy denies, a check found something
	exitUsage = 2 // the command line is wrong
	exitFault = 125
)

// An exitError ends a verb with a status. A nil err says nothing more.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// A hint is an error that tells what to try.
type hint struct {
	err error
	try string
}

func (h *hint) Error() string { return h.err.Error() }
func (h *hint) Unwrap() error { return h.err }

// usageError is a mistake in the command line.
func usageError(try, format string, args ...any) error {
	return &exitError{exitUsage, &hint{fmt.Errorf(format, args...), try}}
}

// exitStatus prints what there is to say of err and returns the exit status.
func exitStatus(err error, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	code := exitUsage // cobra's own errors are about flags and verbs
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
		if e.err == nil {
			return code
		}
	}
	fmt.Fprintf(stderr, "donax: %v\n", err)
	var h *hint
	if errors.As(err, &h) && h.try != "" {
		fmt.Fprintf(stderr, "try: %s\n", h.try)
	} else if e == nil {
		fmt.Fprintln(stderr, "try: donax --help")
	}
	return code
}
