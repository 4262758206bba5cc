package shuf

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
)

// source gives the random numbers.
type source interface {
	// choose returns one of n numbers from 0 on.
	choose(n uint64) uint64
}

type system struct{}

func (system) choose(n uint64) uint64 { return rand.Uint64N(n) }

// file makes numbers of the bytes of a file, as few of them as there can be, in
// the way of GNU: what is left of one choice goes into the next.
type file struct {
	r        *bufio.Reader
	num, max uint64 // a number from 0 to max that was not used yet
	err      error
}

var errNoMore = errors.New("end of file")

func (f *file) choose(n uint64) uint64 {
	most := n - 1
	num, top := f.num, f.max
	for f.err == nil {
		for top < most {
			b, err := f.r.ReadByte()
			if err != nil {
				f.err = err
				if err == io.EOF {
					f.err = errNoMore
				}
				return 0
			}
			num, top = num<<8|uint64(b), top<<8|255
		}
		if top == most {
			f.num, f.max = 0, 0
			return num
		}
		excess := top - most
		unusable := excess % n
		last := top - unusable
		if num <= last {
			f.num, f.max = num/n, excess/n
			return num % n
		}
		num, top = num-(last+1), unusable-1
	}
	return 0
}
