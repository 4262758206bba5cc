// Package applettest runs the cases of the box's commands. Only tests import
// it.
//
// Cases stand in txtar archives, NAME/testdata/*.txtar beside a command's
// code. The archive's files are what the folder holds at the start; "-- d/ --"
// makes a folder, "-- l -> t --" a symlink, "-- f 0755 --" sets permissions.
// All of them were last changed at 2024-03-05 06:07:08 UTC. The file "cases"
// is not made: it holds the commands, run one after the other in that folder.
//
//	# a name for what follows
//	$ sort -n < numbers | head -n 2
//	|1
//	|2
//	$ sort nofile
//	! sort: cannot read: nofile: No such file or directory
//	? 2
//
// A command line is a pipeline; it may be quoted as in a shell, $'...'
// included, and redirect with <, >, >> and 2>&1. After it stand its output,
// each line after a bar (a last line without a newline after a colon; lines
// that are not plain text as Go strings in double quotes), the first line that
// it wrote to stderr after an exclamation mark, and its status, when that is
// not 0, after a question mark. "@ no gnu" before a command says that a runner
// of that name must not run it: the GNU tool does not do so, or not everywhere.
//
// Each archive is run by every [Runner]: native code in this process, the GNU
// tools, and from the package box the same commands in wasm. All must do what
// stands there. `go test -update` writes down what the GNU tools do.
package applettest
