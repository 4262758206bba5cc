// Package tsort is the command tsort.
package tsort

import (
	"io"
	"slices"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is tsort.
var Command = applet.Command{
	Name:     "tsort",
	Synopsis: "[FILE]",
	Summary:  "write a totally ordered list consistent with the partial ordering in FILE",
	Run:      run,
}

// node is an item with those that come after it, the last one added first.
type node struct {
	name    string
	before  int // how many must come before it
	after   []*node
	written bool
	link    *node
}

func run(c *applet.Ctx) int {
	args, status, ok := c.Bare()
	if !ok {
		return status
	}
	if len(args) > 1 {
		return c.ExtraOperand(args[1])
	}
	name := "-"
	if len(args) == 1 {
		name = args[0]
	}
	r, err := c.Open(name)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(r)
		r.Close()
	}
	if err != nil {
		if len(args) == 1 && strings.Contains(applet.Reason(err), "directory") && applet.Reason(err) != "No such file or directory" {
			c.Warn(applet.Name(name), ": read error: ", applet.Reason(err))
		} else {
			c.WarnName(name, err)
		}
		return 1
	}
	words := strings.FieldsFunc(string(text), func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
	if len(words)%2 != 0 {
		c.Warn(applet.Name(name), ": input contains an odd number of tokens")
		return 1
	}
	nodes := map[string]*node{}
	get := func(w string) *node {
		if nodes[w] == nil {
			nodes[w] = &node{name: w}
		}
		return nodes[w]
	}
	for i := 0; i < len(words); i += 2 {
		a, b := get(words[i]), get(words[i+1])
		if a != b {
			b.before++
			a.after = append(a.after, b)
		}
	}
	all := make([]*node, 0, len(nodes))
	for _, n := range nodes {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	return applet.Status(write(c, all, name))
}

// write writes the nodes in order. A loop is complained about and broken.
func write(c *applet.Ctx, all []*node, file string) bool {
	ok := true
	w := c.Out()
	for left := len(all); left > 0; {
		var queue []*node
		for _, n := range all {
			if n.before == 0 && !n.written {
				queue = append(queue, n)
			}
		}
		for ; len(queue) > 0; queue = queue[1:] {
			n := queue[0]
			w.WriteString(n.name + "\n")
			n.written = true
			left--
			for i := len(n.after) - 1; i >= 0; i-- {
				if a := n.after[i]; !a.written {
					if a.before--; a.before == 0 {
						queue = append(queue, a)
					}
				}
			}
		}
		if left > 0 {
			ok = false
			c.Flush()
			c.Warn(applet.Name(file), ": input contains a loop:")
			breakLoop(c, all)
		}
	}
	return ok
}

// breakLoop finds a loop, writes its nodes to stderr and removes one of its
// edges.
func breakLoop(c *applet.Ctx, all []*node) {
	for _, n := range all {
		n.link = nil
	}
	var loop *node
	for {
		for _, k := range all {
			if k.before == 0 || k.written {
				continue
			}
			if loop == nil {
				loop = k
				continue
			}
			for i := len(k.after) - 1; i >= 0; i-- {
				if k.after[i] != loop {
					continue
				}
				if k.link == nil {
					k.link = loop
					loop = k
					break
				}
				// k has been here: from loop back to it is a loop.
				for loop != nil {
					next := loop.link
					c.Warn(loop.name)
					if loop == k {
						k.after[i].before--
						k.after = slices.Delete(k.after, i, i+1)
						break
					}
					loop.link = nil
					loop = next
				}
				return
			}
		}
	}
}
