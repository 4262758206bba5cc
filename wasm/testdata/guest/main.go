//go:build wasip1

// Command guest is a box for the tests of package wasm: each command tries
// one thing.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/guest"
)

var _ = guest.Use([]*applet.Command{
	{Name: "args", Run: func(c *applet.Ctx) int {
		wd, err := os.Getwd()
		fmt.Fprintf(c.Stdout, "%q %q %v\n", c.Args, wd, err)
		return 0
	}},
	{Name: "env", Run: func(c *applet.Ctx) int {
		fmt.Fprintf(c.Stdout, "%q %q\n", os.Environ(), os.Getenv("K"))
		return 0
	}},
	{Name: "fetch", Run: fetch},
	{Name: "exit", Run: func(c *applet.Ctx) int {
		n, _ := strconv.Atoi(c.Args[0])
		return n
	}},
	{Name: "osexit", Run: func(c *applet.Ctx) int {
		n, _ := strconv.Atoi(c.Args[0])
		os.Exit(n)
		return 0
	}},
	{Name: "panic", Run: func(c *applet.Ctx) int { panic(c.Args[0]) }},
	{Name: "gopanic", Run: func(c *applet.Ctx) int {
		go panic("elsewhere")
		time.Sleep(time.Hour)
		return 0
	}},
	{Name: "cat", Run: func(c *applet.Ctx) int {
		in := c.Stdin
		if len(c.Args) > 0 {
			f, err := os.Open(c.Args[0])
			if err != nil {
				c.Warn(c.Args[0], ": ", applet.Reason(err))
				return 1
			}
			defer f.Close()
			in = f
		}
		if _, err := io.Copy(c.Stdout, in); err != nil {
			c.Warn(applet.Reason(err))
			return 1
		}
		return 0
	}},
	{Name: "yes", Run: func(c *applet.Ctx) int {
		for {
			if _, err := io.WriteString(c.Stdout, "y\n"); err != nil {
				return 3
			}
		}
	}},
	{Name: "sleep", Run: func(c *applet.Ctx) int {
		d, _ := time.ParseDuration(c.Args[0])
		time.Sleep(d)
		return 0
	}},
	{Name: "linger", Run: func(c *applet.Ctx) int {
		d, _ := time.ParseDuration(c.Args[0])
		c.Linger(d)
		_, _ = io.WriteString(c.Stdout, "lingers")
		return len(c.Args) - 1
	}},
	{Name: "alloc", Run: func(c *applet.Ctx) int {
		n, _ := strconv.Atoi(c.Args[0])
		for b := [][]byte{}; n > 0; n-- {
			b = append(b, make([]byte, 1<<20))
			b[len(b)-1][0] = 1
		}
		return 0
	}},
	{Name: "rand", Run: func(c *applet.Ctx) int {
		b := make([]byte, 16)
		rand.Read(b)
		m := map[int]int{}
		for i := range 64 {
			m[i] = i
		}
		order := ""
		for k := range m {
			order += strconv.Itoa(k) + " "
		}
		fmt.Fprintln(c.Stdout, hex.EncodeToString(b), order)
		return 0
	}},
	{Name: "clock", Run: func(c *applet.Ctx) int {
		a := time.Now()
		time.Sleep(20 * time.Millisecond)
		fmt.Fprintln(c.Stdout, time.Since(a) >= 20*time.Millisecond, a.Unix())
		return 0
	}},
	{Name: "files", Run: files},
	{Name: "errno", Run: errno},
	{Name: "stat", Run: func(c *applet.Ctx) int {
		for _, n := range c.Args {
			fi, err := os.Lstat(n)
			if err != nil {
				fmt.Fprintln(c.Stdout, n, applet.Reason(err))
				continue
			}
			fmt.Fprintln(c.Stdout, n, fi.Mode(), fi.Size())
		}
		for i, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
			fi, err := f.Stat()
			if err != nil {
				fmt.Fprintln(c.Stdout, i, err)
				continue
			}
			fmt.Fprintln(c.Stdout, i, fi.Mode().Type(), fi.Mode().IsRegular())
		}
		return 0
	}},
	{Name: "spawn", Run: spawn},
	{Name: "leak", Run: leak},
	{Name: "hunt", Run: hunt},
	{Name: "fds", Run: func(c *applet.Ctx) int {
		for {
			if _, err := os.Open("/"); err != nil {
				fmt.Fprintln(c.Stdout, applet.Reason(err))
				return 0
			}
		}
	}},
})

func main() {}

// files does what programs do with files, and says what went wrong.
func files(c *applet.Ctx) int {
	step := func(what string, err error) {
		if err != nil {
			fmt.Fprintln(c.Stdout, what, err)
		}
	}
	step("mkdir", os.MkdirAll("d/e/f", 0o750))
	step("write", os.WriteFile("d/a", []byte("hello"), 0o640))
	step("append", appendTo("d/a", " world"))
	b, err := os.ReadFile("d/a")
	step("read", err)
	fmt.Fprintf(c.Stdout, "%s\n", b)
	step("symlink", os.Symlink("a", "d/s"))
	step("link", os.Link("d/a", "d/l"))
	step("rename", os.Rename("d/l", "d/m"))
	step("chmod", os.Chmod("d/m", 0o600))
	step("truncate", os.Truncate("d/m", 3))
	t := time.Unix(1e9, 5000)
	step("chtimes", os.Chtimes("d/m", t, t))
	fi, err := os.Stat("d/s")
	step("stat", err)
	if err == nil {
		fmt.Fprintln(c.Stdout, fi.Name(), fi.Mode(), fi.Size(), fi.ModTime().Unix())
	}
	target, err := os.Readlink("d/s")
	step("readlink", err)
	fmt.Fprintln(c.Stdout, target)
	step("walk", fs.WalkDir(os.DirFS("."), "d", func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := e.Info()
		fmt.Fprintln(c.Stdout, p, i.Mode())
		return err
	}))
	f, err := os.OpenFile("d/a", os.O_RDWR, 0)
	step("open", err)
	if err == nil {
		_, err = f.Seek(1, io.SeekStart)
		step("seek", err)
		_, err = f.WriteAt([]byte("X"), 0)
		step("writeat", err)
		b, err := io.ReadAll(f)
		step("readall", err)
		fmt.Fprintf(c.Stdout, "%s\n", b)
		step("fchmod", f.Chmod(0o400))
		step("sync", f.Sync())
		step("close", f.Close())
	}
	step("remove", os.Remove("d/s"))
	step("removeall", os.RemoveAll("d"))
	_, err = os.Stat("d")
	fmt.Fprintln(c.Stdout, os.IsNotExist(err))
	return 0
}

func appendTo(name, s string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(s)
	return err
}

// errno tries an operation on names and prints the error number.
func errno(c *applet.Ctx) int {
	var err error
	a := append(c.Args, "", "")
	switch a[0] {
	case "read":
		_, err = os.ReadFile(a[1])
	case "write":
		err = os.WriteFile(a[1], []byte("x"), 0o666)
	case "symlink":
		err = os.Symlink(a[1], a[2])
	case "link":
		err = os.Link(a[1], a[2])
	case "rename":
		err = syscall.Rename(a[1], a[2])
	case "unlink":
		err = syscall.Unlink(a[1])
	case "rmdir":
		err = syscall.Rmdir(a[1])
	case "mkdir":
		err = os.Mkdir(a[1], 0o777)
	case "stdout":
		_, err = syscall.Write(1, []byte("x"))
	case "seek":
		_, err = os.Stdin.Seek(1, io.SeekCurrent)
	}
	reason := "ok"
	if err != nil {
		reason = applet.Reason(err)
	}
	io.WriteString(c.Stderr, reason+"\n")
	return 0
}

// spawn starts its arguments: "spawn MODE ARGV...".
func spawn(c *applet.Ctx) int {
	ch := applet.Child{Args: c.Args[1:], Stdin: os.Stdin}
	switch c.Args[0] {
	case "run":
		return c.Spawn(ch)
	case "env":
		ch.Env = []string{"K=child"}
		ch.Dir = "sub"
		return c.Spawn(ch)
	case "out":
		f, err := os.Create("out")
		if err != nil {
			return 9
		}
		ch.Stdout = f
		n := c.Spawn(ch)
		f.Close()
		return n
	case "timeout":
		pid, err := c.Procs.Start(ch)
		if err != nil {
			return 9
		}
		if _, _, err = c.Procs.Wait(pid, int64(10*time.Millisecond)); err != syscall.ETIMEDOUT {
			fmt.Fprintln(c.Stdout, "wait:", err)
		}
		c.Procs.Kill(pid, 15)
		_, status, err := c.Procs.Wait(-1, 0)
		fmt.Fprintln(c.Stdout, status, err)
		_, _, err = c.Procs.Wait(-1, 0)
		fmt.Fprintln(c.Stdout, err)
		return 0
	case "leave":
		if _, err := c.Procs.Start(ch); err != nil {
			return 9
		}
		return 0
	case "many":
		for range 5 {
			if _, err := c.Procs.Start(ch); err != nil {
				return 9
			}
		}
		sum := 0
		for range 5 {
			_, status, _ := c.Procs.Wait(-1, 0)
			sum += status
		}
		return sum
	}
	return 8
}
