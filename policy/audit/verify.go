package audit

import (
	"errors"
	"fmt"
	"os"
)

// VerifyOptions says what [Verify] is to hold a log against.
type VerifyOptions struct {
	Anchors []Anchor // kept elsewhere: each must be in the log
	Partial bool     // older files were put elsewhere: the log may begin later than with record 1
}

// Verified is what [Verify] found to be sound.
type Verified struct {
	Files   int
	Records int64
	First   int64  // Seq of the first record
	Last    Anchor // the last record
	Torn    string // file:line of a last line that a crash has torn; "" when there is none
	Unclean int    // times that a writer did not close the log, as after a crash
}

// Verify checks every record of the log at path, and the links between them:
// that none was changed, removed, added or moved, and that the log goes as far
// as its head and the anchors say. The error is a [*BrokenError] that names the
// first place where this is not so.
//
// A torn last line is what a crash of the machine or the process leaves: it is
// told, and no error, unless the head says that it had been whole.
func Verify(path string, o VerifyOptions) (Verified, error) {
	var v Verified
	prev := Anchor{Hash: zeroHash}
	wanted := map[int64]string{}
	for _, a := range o.Anchors {
		if other, ok := wanted[a.Seq]; ok && other != a.Hash {
			return v, &BrokenError{File: path, Seq: a.Seq, Why: fmt.Sprintf("two anchors of record %d differ", a.Seq)}
		}
		wanted[a.Seq] = a.Hash
	}
	head, headErr := Head(path)
	if headErr == nil && head.Seq > 0 {
		if other, ok := wanted[head.Seq]; ok && other != head.Hash {
			return v, &BrokenError{File: path + headSuffix, Seq: head.Seq, Why: fmt.Sprintf("the head is not the anchor of record %d", head.Seq)}
		}
		wanted[head.Seq] = head.Hash
	}
	file, previous := "", ""
	for l, err := range Read(path) {
		if l.File != file {
			previous, file = file, l.File
			v.Files++
		}
		var broken *BrokenError
		if errors.As(err, &broken) && broken.Torn && l.File == path {
			v.Torn = fmt.Sprintf("%s:%d", l.File, l.N)
			continue
		}
		if err != nil {
			return v, err
		}
		at := func(why string, args ...any) error {
			return &BrokenError{File: l.File, Line: l.N, Seq: l.Seq, Why: fmt.Sprintf(why, args...)}
		}
		switch {
		case v.Records == 0 && o.Partial:
			prev = Anchor{l.Seq - 1, l.Prev}
		case v.Records == 0 && l.Seq != 1:
			return v, at("the log begins with record %d: those before are missing (--partial accepts that)", l.Seq)
		}
		switch {
		case l.Seq <= prev.Seq:
			return v, at("record %d is there twice or out of order: record %d came before it", l.Seq, prev.Seq)
		case l.Seq > prev.Seq+1:
			where := ""
			if l.N == 1 && previous != "" {
				where = " at the end of " + previous + ", or a file between"
			}
			return v, at("record %d follows record %d: what was between is missing%s", l.Seq, prev.Seq, where)
		case l.Prev != prev.Hash:
			return v, at("record %d does not follow the record before it: that one was changed, or this one is from elsewhere", l.Seq)
		}
		if want, ok := wanted[l.Seq]; ok && want != l.Hash {
			return v, at("record %d is not the one that was anchored: the log was rewritten", l.Seq)
		}
		if v.Records == 0 {
			v.First = l.Seq
		}
		if l.Type == TypeRecovered {
			v.Unclean++
		}
		v.Records++
		prev = Anchor{l.Seq, l.Hash}
	}
	v.Last = prev
	switch {
	case headErr != nil:
		return v, &BrokenError{File: path + headSuffix, Why: "the head cannot be read, so a tail that was cut off would not be seen: " + headErr.Error()}
	case head.Seq == 0 && v.Records > 2:
		return v, &BrokenError{File: path + headSuffix, Why: "the head is empty, so a tail that was cut off would not be seen"}
	}
	for seq := range wanted {
		if seq > prev.Seq {
			return v, &BrokenError{File: path, Seq: prev.Seq + 1, Why: fmt.Sprintf("the log ends at record %d, but record %d had been written: the end was cut off", prev.Seq, seq)}
		}
	}
	return v, nil
}

// Head returns the anchor of the log at path: how far its last writer had
// brought it to the disk.
func Head(path string) (Anchor, error) {
	f, err := os.Open(path + headSuffix)
	if err != nil {
		return Anchor{}, err
	}
	defer f.Close()
	return readHead(f)
}
