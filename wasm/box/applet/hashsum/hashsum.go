// Package hashsum holds the commands that print checksums: md5sum, sha1sum,
// sha224sum, sha256sum, sha384sum, sha512sum, b2sum, cksum and sum.
package hashsum

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"hash"
	"io"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// algorithm is one way to make a checksum.
type algorithm struct {
	tag string // as in "SHA256 (file) = ..."
	new func() hash.Hash
}

var (
	algMD5    = algorithm{"MD5", md5.New}
	algSHA1   = algorithm{"SHA1", sha1.New}
	algSHA224 = algorithm{"SHA224", sha256.New224}
	algSHA256 = algorithm{"SHA256", sha256.New}
	algSHA384 = algorithm{"SHA384", sha512.New384}
	algSHA512 = algorithm{"SHA512", sha512.New}
)

const help = `  -b, --binary          read in binary mode
  -c, --check           read checksums from the FILEs and check them
      --tag             create a BSD-style checksum
  -t, --text            read in text mode (default)
  -z, --zero            end each output line with NUL, not newline
      --ignore-missing  don't fail or report status for missing files
      --quiet           don't print OK for each successfully verified file
      --status          don't output anything, status code shows success
      --strict          exit non-zero for improperly formatted checksum lines
  -w, --warn            warn about improperly formatted checksum lines`

func command(name string, alg algorithm) applet.Command {
	return applet.Command{
		Name:     name,
		Synopsis: "[OPTION]... [FILE]...",
		Summary:  "print or check " + alg.tag + " checksums",
		Help:     help,
		Run:      func(c *applet.Ctx) int { return run(c, alg) },
	}
}

// The commands that differ only in their algorithm.
var (
	MD5    = command("md5sum", algMD5)
	SHA1   = command("sha1sum", algSHA1)
	SHA224 = command("sha224sum", algSHA224)
	SHA256 = command("sha256sum", algSHA256)
	SHA384 = command("sha384sum", algSHA384)
	SHA512 = command("sha512sum", algSHA512)
)

// options are those of all commands here.
type options struct {
	binary, check, tag, zero                    bool
	ignoreMissing, quiet, silent, strict, warns bool
}

func (o *options) list() []applet.Opt {
	return []applet.Opt{
		applet.Bool(&o.check, 'c', "check"),
		applet.Bool(&o.ignoreMissing, 0, "ignore-missing"),
		applet.Do(func() { o.quiet, o.silent, o.warns = true, false, false }, 0, "quiet"),
		applet.Do(func() { o.silent, o.quiet, o.warns = true, false, false }, 0, "status"),
		applet.Do(func() { o.warns, o.silent, o.quiet = true, false, false }, 'w', "warn"),
		applet.Bool(&o.strict, 0, "strict"),
		applet.Bool(&o.zero, 'z', "zero"),
		applet.Do(func() { o.tag, o.binary = true, true }, 0, "tag"),
	}
}

// wrong returns a complaint about options that do not go together, or "".
func (o *options) wrong() string {
	only := func(on bool, name string) string {
		if on && !o.check {
			return "the " + name + " option is meaningful only when verifying checksums"
		}
		return ""
	}
	switch {
	case o.tag && o.check:
		return "the --tag option is meaningless when verifying checksums"
	case o.zero && o.check:
		return "the --zero option is not supported when verifying checksums"
	}
	for _, m := range []string{only(o.ignoreMissing, "--ignore-missing"), only(o.silent, "--status"), only(o.warns, "--warn"),
		only(o.quiet, "--quiet"), only(o.strict, "--strict")} {
		if m != "" {
			return m
		}
	}
	return ""
}

func run(c *applet.Ctx, alg algorithm) int {
	var o options
	mode := false
	length := 0
	opts := append(o.list(),
		applet.Do(func() { mode, o.binary = true, true }, 'b', "binary"),
		applet.Do(func() { mode, o.binary = true, false }, 't', "text"),
	)
	byTag := func(string) (algorithm, bool) { return alg, true }
	if alg.tag == blakeTag {
		opts = append(opts, applet.Func(setLength(&length), 'l', "length"))
		byTag = blakeByTag
	}
	files, status, ok := c.Parse(1, opts...)
	if !ok {
		return status
	}
	if m := o.wrong(); m != "" {
		return c.Usage(m)
	}
	if length > 0 {
		alg = algBLAKE2b(length)
	}
	if o.tag && !o.binary {
		return c.Usage("--tag does not support --text mode")
	}
	if mode && o.check {
		return c.Usage("the --binary and --text options are meaningless when verifying checksums")
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	if o.check {
		return verify(c, files, &o, byTag, &alg)
	}
	return sums(c, files, &o, alg)
}

// sums prints the checksum of each file.
func sums(c *applet.Ctx, files []string, o *options, alg algorithm) int {
	ok := true
	for _, name := range files {
		digest, err := sumFile(c, name, alg)
		if err != nil {
			c.WarnName(name, err)
			ok = false
			continue
		}
		var b []byte
		shown, escaped := name, false
		if !o.zero {
			shown, escaped = escape(name)
		}
		if escaped {
			b = append(b, '\\')
		}
		if o.tag {
			b = append(append(append(append(b, alg.tag...), " ("...), shown...), ") = "...)
			b = append(b, digest...)
		} else {
			b = append(append(b, digest...), ' ')
			if o.binary {
				b = append(b, '*')
			} else {
				b = append(b, ' ')
			}
			b = append(b, shown...)
		}
		if o.zero {
			b = append(b, 0)
		} else {
			b = append(b, '\n')
		}
		if _, err := c.Stdout.Write(b); err != nil {
			return 1
		}
	}
	return applet.Status(ok)
}

// escape writes newlines, returns and backslashes of a name as \n, \r and \\.
func escape(name string) (string, bool) {
	if !strings.ContainsAny(name, "\\\n\r") {
		return name, false
	}
	return strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`).Replace(name), true
}

func unescape(name string) (string, bool) {
	var b []byte
	for i := 0; i < len(name); i++ {
		if name[i] != '\\' {
			b = append(b, name[i])
			continue
		}
		if i++; i == len(name) {
			return "", false
		}
		switch name[i] {
		case '\\':
			b = append(b, '\\')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		default:
			return "", false
		}
	}
	return string(b), true
}

func sumFile(c *applet.Ctx, name string, alg algorithm) (string, error) {
	r, err := c.Open(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := alg.new()
	if c.Hash != nil {
		h = hosted{h, c.Hash}
	}
	if err := feed(h, r); err != nil {
		return "", err
	}
	return hexOf(h.Sum(nil)), nil
}

// feed writes all of r into w.
func feed(w io.Writer, r io.Reader) error {
	buf := make([]byte, applet.BufSize)
	for {
		n, err := r.Read(buf)
		w.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func hexOf(b []byte) string {
	out := make([]byte, 0, 2*len(b))
	for _, c := range b {
		out = append(out, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
	}
	return string(out)
}
