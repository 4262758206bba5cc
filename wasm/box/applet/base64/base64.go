// Package base64 holds the commands base64, base32 and basenc.
package base64

import (
	"errors"
	"io"

	"github.com/donax-sh/donax/wasm/box/applet"
)

const help = `  -d, --decode          decode data
  -i, --ignore-garbage  when decoding, ignore non-alphabet characters
  -w, --wrap=COLS       wrap encoded lines after COLS character (default 76).
                          Use 0 to disable line wrapping`

// Base64 is the command base64.
var Base64 = applet.Command{
	Name:     "base64",
	Synopsis: "[OPTION]... [FILE]",
	Summary:  "base64 encode or decode FILE, or standard input, to standard output",
	Help:     help,
	Run: func(c *applet.Ctx) int {
		return run(c, &base64)
	},
}

// Base32 is the command base32.
var Base32 = applet.Command{
	Name:     "base32",
	Synopsis: "[OPTION]... [FILE]",
	Summary:  "base32 encode or decode FILE, or standard input, to standard output",
	Help:     help,
	Run: func(c *applet.Ctx) int {
		return run(c, &base32)
	},
}

// code is an encoding of groups of in bytes by out letters of bits bits each.
type code struct {
	letters string
	bits    uint
	in, out int
}

var (
	base64 = code{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6, 3, 4}
	base32 = code{"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, 5, 8}
)

// run encodes or decodes with k; nil leaves the choice to the options.
func run(c *applet.Ctx, k *code) int {
	var decode, garbage bool
	wrap := int64(76)
	choice, lsb := k, false
	opts := []applet.Opt{
		applet.Bool(&decode, 'd', "decode"),
		applet.Bool(&garbage, 'i', "ignore-garbage"),
		applet.Func(func(v string) error {
			n, err := applet.ParseSize(v, "")
			if err != nil && err != applet.ErrOverflow {
				return errors.New("invalid wrap size: " + applet.Curly(v))
			}
			if wrap = n; err != nil {
				wrap = 0 // longer than any line
			}
			return nil
		}, 'w', "wrap"),
	}
	for i := range encodings {
		if k == nil {
			e := &encodings[i]
			opts = append(opts, applet.Do(func() { choice, lsb = &e.code, e.name == "base2lsbf" }, 0, e.name))
		}
	}
	args, status, ok := c.Parse(1, opts...)
	if !ok {
		return status
	}
	if k = choice; k == nil {
		return c.Usage("missing encoding type")
	}
	if len(args) > 1 {
		return c.ExtraOperand(args[1])
	}
	name := "-"
	if len(args) == 1 {
		name = args[0]
	}
	r, err := c.Open(name)
	if err != nil {
		c.WarnName(name, err)
		return 1
	}
	defer r.Close()
	var in io.Reader = r
	out := c.Stdout
	switch {
	case lsb && decode:
		out = reversedWriter{out}
	case lsb:
		in = reversed{in}
	}
	switch {
	case decode && k.bits == 0:
		err = k.decode85(out, in, garbage)
	case decode:
		err = k.decode(out, in, garbage)
	default:
		err = k.encode(out, in, wrap)
	}
	switch {
	case err == errInput, err == errLength:
		c.Flush()
		c.Warn(err.Error())
		return 1
	case err != nil:
		c.Warn("read error: ", applet.Reason(err))
		return 1
	}
	return 0
}

var errInput = errors.New("invalid input")

// group appends the letters of up to k.in bytes.
func (k *code) group(out, in []byte) []byte {
	if k.bits == 0 {
		return k.group85(out, in)
	}
	v := uint64(0)
	for _, b := range in {
		v = v<<8 | uint64(b)
	}
	v <<= 8 * uint(k.in-len(in))
	letters := (len(in)*8 + int(k.bits) - 1) / int(k.bits)
	for i := range k.out {
		if i >= letters {
			out = append(out, '=')
			continue
		}
		out = append(out, k.letters[v>>(k.bits*uint(k.out-1-i))&(1<<k.bits-1)])
	}
	return out
}

func (k *code) encode(w io.Writer, r io.Reader, wrap int64) error {
	buf := make([]byte, applet.BufSize/k.in*k.in)
	var letters, out []byte
	column := int64(0)
	for {
		n, err := io.ReadFull(r, buf)
		letters = letters[:0]
		text := buf[:n]
		if k.in == 3 {
			letters, text = k.triples(letters, text)
		}
		for len(text) >= k.in {
			letters = k.group(letters, text[:k.in])
			text = text[k.in:]
		}
		if len(text) > 0 && k.bits == 0 {
			return errLength
		}
		if len(text) > 0 {
			letters = k.group(letters, text)
		}
		if wrap == 0 {
			out = letters
		} else {
			out = out[:0]
			for rest := letters; len(rest) > 0; {
				m := min(wrap-column, int64(len(rest)))
				out = append(out, rest[:m]...)
				rest = rest[m:]
				if column += m; column == wrap {
					out = append(out, '\n')
					column = 0
				}
			}
		}
		if _, werr := w.Write(out); werr != nil {
			return nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			if wrap > 0 && column > 0 {
				w.Write([]byte{'\n'})
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// triples is group for all whole groups of base64.
func (k *code) triples(out, in []byte) (letters, rest []byte) {
	l := k.letters
	for len(in) >= 3 {
		a, b, c := in[0], in[1], in[2]
		out = append(out, l[a>>2], l[a<<4&63|b>>4], l[b<<2&63|c>>6], l[c&63])
		in = in[3:]
	}
	return out, in
}

func (k *code) decode(w io.Writer, r io.Reader, garbage bool) error {
	var value [256]int8
	for i := range value {
		value[i] = -1
	}
	for i := range len(k.letters) {
		value[k.letters[i]] = int8(i)
	}
	buf := make([]byte, applet.BufSize)
	out := make([]byte, 0, applet.BufSize)
	v, have, pads := uint64(0), 0, 0
	for {
		n, err := r.Read(buf)
		bad := false
		for _, b := range buf[:n] {
			d := value[b]
			switch {
			case d >= 0 && pads == 0:
				v = v<<k.bits | uint64(d)
				have++
			case b == '\n' || d < 0 && b != '=' && garbage:
				continue
			case b == '=' && have > 0:
				pads++
				v <<= k.bits
			default:
				bad = true
			}
			if bad {
				break
			}
			if have+pads == k.out {
				whole := have * int(k.bits) / 8
				if pads > 0 && (whole*8+int(k.bits)-1)/int(k.bits) != have {
					bad = true
					break
				}
				for i := range whole {
					out = append(out, byte(v>>(8*uint(k.in-1-i))))
				}
				v, have, pads = 0, 0, 0
			}
		}
		ended := err == io.EOF
		if (bad || ended) && have > 0 && k.out == 4 {
			// What the letters of an unfinished group give is still written.
			v <<= k.bits * uint(k.out-have-pads)
			for i := range have * int(k.bits) / 8 {
				out = append(out, byte(v>>(8*uint(k.in-1-i))))
			}
			bad = true
		}
		bad = bad || ended && have > 0
		if _, werr := w.Write(out); werr != nil {
			return nil
		}
		out = out[:0]
		switch {
		case bad:
			return errInput
		case ended:
			return nil
		case err != nil:
			return err
		}
	}
}
