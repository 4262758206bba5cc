package curl

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
)

// maxDecoded bounds what a compressed body may become.
const maxDecoded = 256 << 20

// decoded undoes a Content-Encoding.
func decoded(r io.Reader, encoding string) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "gzip", "x-gzip", "deflate":
		return &decoder{from: bufio.NewReaderSize(r, 32<<10), gzip: encoding != "deflate"}
	}
	return r
}

// decoder begins when it is read.
type decoder struct {
	from *bufio.Reader
	gzip bool
	r    io.Reader
	n    int64
}

func (d *decoder) Read(p []byte) (int, error) {
	if d.r == nil {
		first, err := d.from.Peek(2)
		if len(first) == 0 {
			return 0, err
		}
		switch {
		case d.gzip:
			d.r, err = gzip.NewReader(d.from)
		case len(first) == 2 && first[0]&0x0f == 8 && (int(first[0])<<8|int(first[1]))%31 == 0:
			d.r, err = zlib.NewReader(d.from)
		default: // what some servers call deflate
			d.r, err = flate.NewReader(d.from), nil
		}
		if err != nil {
			return 0, err
		}
	}
	n, err := d.r.Read(p)
	if d.n += int64(n); d.n > maxDecoded {
		return 0, fatal{63, "Exceeded the maximum allowed file size"}
	}
	return n, err
}
