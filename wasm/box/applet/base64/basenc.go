package base64

import (
	"errors"
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Basenc is the command basenc.
var Basenc = applet.Command{
	Name:     "basenc",
	Synopsis: "[OPTION]... [FILE]",
	Summary:  "encode or decode FILE, or standard input, to standard output",
	Help: `      --base64          as the command base64
      --base64url       base64 for file names and URLs
      --base32          as the command base32
      --base32hex       base32 with the hexadecimal alphabet
      --base16          hexadecimal
      --base2msbf       bits, the most significant first
      --base2lsbf       bits, the least significant first
      --z85             the encoding of ZeroMQ's Z85; lengths are multiples of 4 bytes
` + help,
	Run: func(c *applet.Ctx) int { return run(c, nil) },
}

// encodings are those of basenc, by their options.
var encodings = []struct {
	name string
	code code
}{
	{"base64", base64},
	{"base64url", code{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 6, 3, 4}},
	{"base32", base32},
	{"base32hex", code{"0123456789ABCDEFGHIJKLMNOPQRSTUV", 5, 5, 8}},
	{"base16", code{"0123456789ABCDEF", 4, 1, 2}},
	{"base2msbf", code{"01", 1, 1, 8}},
	{"base2lsbf", code{"01", 1, 1, 8}},
	{"z85", code{"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#", 0, 4, 5}},
}

// reversed turns the bits of each byte round: base2lsbf is base2msbf of that.
type reversed struct{ io.Reader }

func (r reversed) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	reverse(p[:n])
	return n, err
}

type reversedWriter struct{ io.Writer }

func (w reversedWriter) Write(p []byte) (int, error) {
	reverse(p)
	return w.Writer.Write(p)
}

func reverse(p []byte) {
	for i, b := range p {
		b = b>>4 | b<<4
		b = b>>2&0x33 | b&0x33<<2
		p[i] = b>>1&0x55 | b&0x55<<1
	}
}

var errLength = errors.New("invalid input (length must be multiple of 4 characters)")

// group85 is group of Z85: four bytes as five digits of base 85.
func (k *code) group85(out, in []byte) []byte {
	v := uint32(in[0])<<24 | uint32(in[1])<<16 | uint32(in[2])<<8 | uint32(in[3])
	for _, div := range [5]uint32{85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1} {
		out = append(out, k.letters[v/div%85])
	}
	return out
}

// decode85 is decode of Z85.
func (k *code) decode85(w io.Writer, r io.Reader, garbage bool) error {
	var value [256]int8
	for i := range value {
		value[i] = -1
	}
	for i := range len(k.letters) {
		value[k.letters[i]] = int8(i)
	}
	buf := make([]byte, applet.BufSize)
	var out []byte
	v, have := uint64(0), 0
	for {
		n, err := r.Read(buf)
		bad := false
		for _, b := range buf[:n] {
			d := value[b]
			if d < 0 && (b == '\n' || garbage) {
				continue
			}
			if bad = d < 0; bad {
				break
			}
			v = v*85 + uint64(d)
			if have++; have == k.out {
				if bad = v > 1<<32-1; bad {
					break
				}
				out = append(out, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
				v, have = 0, 0
			}
		}
		if _, werr := w.Write(out); werr != nil {
			return nil
		}
		out = out[:0]
		switch {
		case bad, err == io.EOF && have > 0:
			return errInput
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
