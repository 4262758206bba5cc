package main

import "fmt"

// A dialect is what --dialect takes.
type dialect string

const (
	bash  dialect = "bash"
	posix dialect = "posix"
)

func (d *dialect) String() string { return string(*d) }
func (d *dialect) Type() string   { return "dialect" }
func (d *dialect) Set(s string) error {
	if s != string(bash) && s != string(posix) {
		return fmt.Errorf("want bash or posix")
	}
	*d = dialect(s)
	return nil
}
