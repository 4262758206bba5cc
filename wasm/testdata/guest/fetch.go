//go:build wasip1

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// fetch makes the request that its arguments say: METHOD URL [DATA|@FILE].
func fetch(c *applet.Ctx) int {
	r := applet.WebRequest{Method: c.Args[0], URL: c.Args[1], From: "http://from/", Header: []string{"A", "1", "A", ""}, Connect: time.Second, Timeout: 1500 * time.Microsecond}
	if len(c.Args) > 2 {
		r.Data = []byte(c.Args[2])
		if name := c.Args[2]; name[0] == '@' {
			f, err := os.Open(name[1:])
			if err != nil {
				return 9
			}
			r.Data, r.File, r.Size = nil, f, 1<<33
		}
	}
	res, err := c.Fetch(r)
	var we *applet.WebError
	if errors.As(err, &we) {
		fmt.Fprintln(c.Stderr, we.Kind, we.Msg)
		return 1
	}
	fmt.Fprintf(c.Stdout, "%s %d %s %q %s %v %v\n", res.Proto, res.Status, res.Reason, res.Header, res.Remote, res.Resolved, res.Answered)
	b, err := io.ReadAll(res.Body)
	fmt.Fprintf(c.Stdout, "%d %.20q %v\n", len(b), b, err)
	res.Body.Close()
	res.Body.Close()
	if c.Args[1] == "many" {
		for range 300 {
			if _, err := c.Fetch(r); err != nil {
				fmt.Fprintln(c.Stdout, err)
				return 0
			}
		}
	}
	return 0
}
