package build

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
)

// Go's table of functions, as runtime/symtab.go and runtime2.go of the Go
// version in box.sum describe it: a header of eight numbers, and for each
// function a record of eleven words, with the offsets of its tables behind.
const (
	tableHeader  = 8 + 8*8
	recordFile   = 5 * 4
	recordLine   = 6 * 4
	recordTables = 7 * 4
	recordUnit   = 8 * 4
	recordStart  = 9 * 4
	recordEnd    = 11 * 4
	recordStack  = 4 * 4
)

var errTable = errors.New("the table of functions is not laid out as in a Go version that is known")

// stripLines clears what only tracebacks read, which nobody sees inside the
// sandbox: which file and line an instruction comes from. The runtime takes
// offset 0 for a table that is not there. Cleared bytes cost next to nothing
// once packed; what is left is as long as before.
func stripLines(bin []byte) error {
	magic := []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}
	var tab []byte
	for rest := bin; ; rest = tab[1:] {
		at := bytes.Index(rest, magic)
		if at < 0 || len(rest)-at < tableHeader {
			return errTable
		}
		// The bytes may be there by chance, or in code that compares them.
		if tab = rest[at:]; word(tab, 8+3*8) == tableHeader && word(tab, 8+2*8) == 0 {
			break
		}
	}
	count, units, files, tables, funcs := word(tab, 8), word(tab, 8+4*8), word(tab, 8+5*8), word(tab, 8+6*8), word(tab, 8+7*8)
	if !slices.IsSorted([]int{tableHeader, units, files, tables, funcs, len(tab)}) || len(tab)-funcs < 8*count {
		return errTable
	}
	pairs := tab[tables:funcs]
	keep, clears := map[int]bool{0: true}, map[int]bool{}
	for i := range count {
		at := funcs + word(tab, funcs+8*i+4)
		if len(tab)-at < recordEnd {
			return errTable
		}
		f := tab[at:]
		keep[word(f, recordStack)] = true
		for k := range word(f, recordTables) {
			keep[word(f, recordEnd+4*k)] = true
		}
		clears[word(f, recordFile)], clears[word(f, recordLine)] = true, true
		clear(f[recordFile : recordLine+4])
		clear(f[recordUnit : recordStart+4])
	}
	for at := range clears {
		if keep[at] { // another table has the same content
			continue
		}
		end, err := endOfPairs(pairs, at)
		if err != nil {
			return err
		}
		clear(pairs[at:end])
	}
	clear(tab[units:tables])
	return nil
}

func word(b []byte, at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }

// endOfPairs returns where a table of pairs of numbers ends: at a first number
// of a pair that is 0, but for the first pair.
func endOfPairs(pairs []byte, at int) (int, error) {
	for first := true; at < len(pairs); first = false {
		v, n := binary.Uvarint(pairs[at:])
		if n <= 0 {
			return 0, errTable
		}
		if at += n; v == 0 && !first {
			return at, nil
		}
		_, n = binary.Uvarint(pairs[min(at, len(pairs)):])
		if n <= 0 {
			return 0, errTable
		}
		at += n
	}
	return 0, errTable
}
