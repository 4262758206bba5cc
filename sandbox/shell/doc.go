// Package shell evaluates bash scripts without touching the machine it runs
// on. It walks the tree that mvdan.cc/sh's parser makes and sees the outside
// only through a [Host]: it opens no file, starts no process, reads no clock
// and no environment by itself, and holds no global state.
//
// A script goes through these phases, each in files of its own:
//
//	scan     a coarse scan bounds length and nesting before anything is parsed
//	source   reads and parses one complete line of commands at a time, aliases included
//	lower    turns the parser's tree into this package's: words cut into parts
//	exec     runs statements: lists, compound commands, functions, pipelines, jobs
//	expand   turns words into fields: braces, tilde, parameters, splitting, globs
//	arith    64-bit arithmetic
//	builtins one file a family
//
// Subshells are goroutines over copy-on-write state; pipes, here-documents
// and process substitutions are in memory; process ids and signals are
// virtual. Values are never run as code: a command substitution inside the
// value of a variable stays text in arithmetic and in subscripts.
//
// Every limit ends the whole script with a [LimitError]; nothing is ever cut
// short silently. Inside the package, an error in the middle of an expansion
// unwinds as a private panic that is recovered at the command it belongs to;
// every goroutine also recovers whatever else may come and turns it into a
// [Fault].
package shell
