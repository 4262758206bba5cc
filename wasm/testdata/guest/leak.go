//go:build wasip1

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Places where a command could leave something for the next one.
var (
	secretString string
	secretMap    = map[string][]byte{}
	secretFile   *os.File
	secretRand   uint64
)

// leak puts its arguments wherever it can and ends as its first one says.
func leak(c *applet.Ctx) int {
	s := strings.Join(c.Args[1:], " ")
	secretString = s + os.Getenv("SECRET")
	for i := range 100 {
		secretMap[strconv.Itoa(i)+s] = bytes.Repeat([]byte(s), 20)
	}
	var list [][]byte
	for range 50 {
		list = append(list, []byte(s+"heap"))
	}
	os.Setenv("LEFT", s)
	os.Args = append(os.Args, s)
	os.Chdir(s)
	syscall.Umask(0o77)
	for range 20 {
		secretFile, _ = os.Create(s)
	}
	if secretFile != nil {
		secretFile.WriteString(s)
	}
	go func() {
		for s := s + "goroutine"; ; time.Sleep(time.Hour) {
			list = append(list, []byte(s))
		}
	}()
	time.Sleep(time.Microsecond)
	secretRand = rand.Uint64()
	switch c.Args[0] {
	case "exit":
		os.Exit(3)
	case "panic":
		panic(s)
	case "fatal":
		go panic(s)
		time.Sleep(time.Hour)
	case "grow":
		for range 8 {
			list = append(list, bytes.Repeat([]byte(s), 1<<20/len(s)))
		}
	case "spin":
		for {
			list[0][0]++
		}
	}
	return len(list) % 1
}

// marker is what is looked for, disguised so that a search does not find this.
var marker = [...]byte{'~' ^ 1, 'q' ^ 1, '7' ^ 1, '#' ^ 1, 'K' ^ 1, 'd' ^ 1, '0' ^ 1, '!' ^ 1}

// hunt searches the first bytes of memory, as many as its argument says, and
// prints what else a command before it could have left.
func hunt(c *applet.Ctx) int {
	size, _ := strconv.Atoi(c.Args[0])
	found := 0
	memory := unsafe.Slice((*byte)(unsafe.Pointer(uintptr(8))), size-8)
search:
	for at := 0; ; at++ {
		i := bytes.IndexByte(memory[at:], marker[0]^1)
		if i < 0 {
			break
		}
		at += i
		if at+len(marker) > len(memory) {
			break
		}
		for k, b := range marker {
			if memory[at+k] != b^1 {
				continue search
			}
		}
		found++
	}
	wd, _ := os.Getwd()
	fd, err := syscall.Open("/", syscall.O_RDONLY, 0)
	fmt.Fprintln(c.Stdout, found, len(os.Args), os.Environ(), wd, fd, err, syscall.Umask(0),
		len(secretString), len(secretMap), secretFile == nil, secretRand)
	fmt.Fprintln(c.Stdout, rand.Uint64())
	return 0
}
