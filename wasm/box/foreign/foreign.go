// Package foreign lists the commands of the box that others wrote and that
// are compiled from their sources, each to a module and so a tier of its own:
// a command for WASI preview 1, which has an instance for each run.
package foreign

import "github.com/donax-sh/donax/wasm/box/applet"

// Commands returns the commands, sorted by name, without what runs them. Each
// is alone in the tier of its name.
func Commands() []*applet.Command {
	return []*applet.Command{{
		Name:     "sqlite3",
		Synopsis: "[OPTION]... [FILE [SQL]...]",
		Summary:  "the shell of SQLite, a database in a file",
		Help: `  -cmd COMMAND         run COMMAND before reading standard input
  -init FILE           read FILE first
  -bail                stop after an error
  -readonly            open the database for reading only
  -header, -noheader   with or without a line of names
  -csv, -tabs, -list, -line, -column, -table, -box, -markdown, -html, -json, -quote, -ascii
                       how rows are printed; -list is the default
  -separator SEP       between columns; -newline SEP: between rows
  -nullvalue TEXT      what is printed for NULL
  -echo, -stats        print the statements, and statistics
  -safe                no access to files but the database
  -version, -help
Dot-commands (.tables, .schema, .import, .dump, .mode, .help) stand for a statement. Neither
.shell and .system nor pipes start anything; databases have no locks and no write-ahead log.`,
	}}
}
