package worker

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// A frame is the length of its body (4 bytes, little endian), its kind (1), the
// number of the call or run that it belongs to (4), and the body. Kinds are
// never used anew: a further request of workers gets the next number and a case
// in [client.answer].
type kind byte

const (
	// From the server.
	kindSetup   kind = 1 // JSON of Setup; the first frame
	kindInspect kind = 2 // a shell that is kept (0: none) and a command; answered by kindInspected
	kindRun     kind = 3 // the same, to run
	kindStop    kind = 4 // the run's context ended: 1 byte why
	kindTaken   kind = 5 // bytes of the run's output that were written, and whether the reader is gone
	kindForget  kind = 6 // the decisions of the epoch before this one are void
	kindAnswer  kind = 7 // to a request of the worker
	kindDrop    kind = 8 // the kept shell with this number is not needed any more

	// From the worker.
	kindReady     kind = 16 // JSON of []Finding; the first frame
	kindInspected kind = 17 // a command with its facts, or an error
	kindOutput    kind = 18 // a stream (1 or 2) and bytes of the run
	kindExit      kind = 19 // status and error of the run
	kindBegun     kind = 20 // the run begins: from here on it cannot be tried elsewhere

	// Requests of the worker, which name the run that they are for and are
	// answered by kindAnswer.
	kindDecide kind = 32 // an action, without who asks: the server knows that
	kindInput  kind = 33 // how many bytes of stdin are wanted
	kindFile   kind = 34 // an operation on files; for no run in particular
	kindLookup kind = 35 // the name of a program that the server may have; for no run in particular
	kindCall   kind = 36 // a program that runs in the server; answered by what it wants first
	kindStep   kind = 37 // that was done; answered by what it wants next
	kindDone   kind = 38 // the program is not wanted any more
	kindFetch  kind = 39 // a request to make; answered, as a program is, by what it wants first
	kindUpload kind = 40 // what does the body of a request want first
)

const (
	headSize = 9

	maxSmall = 512 << 10 // bytes of the body of most frames
	maxLarge = 4 << 20   // of those that carry a command
	maxChunk = 256 << 10 // of file content or output in one frame
	window   = 256 << 10 // bytes of output on their way
)

func (k kind) limit() int {
	switch k {
	case kindInspect, kindRun, kindInspected, kindSetup:
		return maxLarge
	}
	return maxSmall
}

// frame is what was read. Body belongs to whoever gets it.
type frame struct {
	kind kind
	id   uint32
	body []byte
}

// readFrame reads one frame and refuses one that is longer than its kind may
// be before there is memory for it.
func readFrame(r *bufio.Reader) (f frame, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	f.kind, f.id = kind(head[4]), binary.LittleEndian.Uint32(head[5:])
	if int64(n) > int64(f.kind.limit()) {
		return f, fmt.Errorf("%w: a frame of kind %d with %d bytes", errProtocol, f.kind, n)
	}
	f.body = make([]byte, n)
	if _, err := io.ReadFull(r, f.body); err != nil {
		return f, err
	}
	return f, nil
}
