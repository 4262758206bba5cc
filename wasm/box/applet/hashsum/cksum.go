package hashsum

import (
	"io"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Cksum is the command cksum.
var Cksum = applet.Command{
	Name:     "cksum",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "print or verify checksums",
	Help: `  -a, --algorithm=TYPE  sysv, bsd, crc (default), md5, sha1, sha224, sha256,
                          sha384, sha512 or blake2b
  -l, --length=BITS     digest length of blake2b in bits, a multiple of 8
      --untagged        create a reversed style checksum, without digest type
` + help[strings.Index(help, "  -c,"):],
	Run: cksum,
}

// Sum is the command sum.
var Sum = applet.Command{
	Name:     "sum",
	Synopsis: "[OPTION]... [FILE]...",
	Summary:  "print or check BSD checksums and block counts",
	Help: `  -r              use BSD sum algorithm (the default), use 1K blocks
  -s, --sysv      use System V sum algorithm, use 512 bytes blocks`,
	Run: sum,
}

// counter is a checksum that is no digest: printed as numbers.
type counter struct {
	kind byte // c: crc, b: bsd, s: sysv
	sum  uint32
	size int64
}

// crcTable is that of POSIX's cksum: the most significant bit first.
var crcTable = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ 0x04c11db7
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

func (k *counter) Write(p []byte) (int, error) {
	k.size += int64(len(p))
	s := k.sum
	switch k.kind {
	case 'c':
		for _, b := range p {
			s = s<<8 ^ crcTable[byte(s>>24)^b]
		}
	case 'b':
		for _, b := range p {
			s = (s>>1 + s&1<<15 + uint32(b)) & 0xffff
		}
	default:
		for _, b := range p {
			s += uint32(b)
		}
	}
	k.sum = s
	return len(p), nil
}

// text returns what stands before the name.
func (k *counter) text() string {
	switch k.kind {
	case 'c':
		s := k.sum
		for n := k.size; n > 0; n >>= 8 {
			s = s<<8 ^ crcTable[byte(s>>24)^byte(n)]
		}
		return strconv.FormatUint(uint64(^s), 10) + " " + strconv.FormatInt(k.size, 10)
	case 'b':
		sum := strconv.FormatUint(uint64(k.sum)+100000, 10)[1:]
		return sum + " " + string(applet.AppendNum(nil, (k.size+1023)/1024, 5))
	}
	s := k.sum&0xffff + k.sum>>16
	s = s&0xffff + s>>16
	return strconv.FormatUint(uint64(s), 10) + " " + strconv.FormatInt((k.size+511)/512, 10)
}

// count prints the sums of files.
func count(c *applet.Ctx, files []string, kind byte, zero bool) int {
	named := len(files) > 0
	end := "\n"
	if zero {
		end = "\x00"
	}
	return applet.Status(c.Files(files, func(name string, r io.Reader) error {
		k := counter{kind: kind}
		if err := feed(&k, r); err != nil {
			return err
		}
		text := k.text()
		if named {
			text += " " + name
		}
		c.Out().WriteString(text + end)
		return nil
	}))
}

func sum(c *applet.Ctx) int {
	kind := byte('b')
	files, status, ok := c.Parse(1,
		applet.Do(func() { kind = 'b' }, 'r', ""),
		applet.Do(func() { kind = 's' }, 's', "sysv"),
	)
	if !ok {
		return status
	}
	return count(c, files, kind, false)
}

func cksum(c *applet.Ctx) int {
	o := options{}
	digests := []algorithm{algMD5, algSHA1, algSHA224, algSHA256, algSHA384, algSHA512, algBLAKE2b(maxBits)}
	chosen := -1
	untagged := false
	length := 0
	opts := append(o.list(),
		applet.Func(func(v string) (err error) {
			chosen, err = applet.Choose("--algorithm", v, []string{"bsd"}, []string{"sysv"}, []string{"crc"},
				[]string{"md5"}, []string{"sha1"}, []string{"sha224"}, []string{"sha256"}, []string{"sha384"}, []string{"sha512"}, []string{"blake2b"})
			return err
		}, 'a', "algorithm"),
		applet.Do(func() { untagged = true }, 0, "untagged"),
		applet.Func(setLength(&length), 'l', "length"),
	)
	files, status, ok := c.Parse(1, opts...)
	if !ok {
		return status
	}
	if m := o.wrong(); m != "" {
		return c.Usage(m)
	}
	if length > 0 {
		if chosen < 3 || digests[chosen-3].tag != blakeTag {
			c.Warn("--length is only supported with --algorithm=blake2b")
			return 1
		}
		digests[chosen-3] = algBLAKE2b(length)
	}
	if o.check {
		byTag := func(tag string) (algorithm, bool) {
			for _, a := range digests {
				if a.tag == tag {
					return a, true
				}
			}
			return blakeByTag(tag)
		}
		if chosen >= 0 && chosen < 3 {
			c.Warn("--check is not supported with --algorithm={bsd,sysv,crc}")
			return 1
		}
		var fixed *algorithm
		if chosen >= 3 {
			fixed = &digests[chosen-3]
		}
		if fixed != nil {
			byTag = func(tag string) (algorithm, bool) { return *fixed, tag == fixed.tag }
		}
		if len(files) == 0 {
			files = []string{"-"}
		}
		return verify(c, files, &o, byTag, fixed)
	}
	if chosen < 3 {
		kind := byte('c')
		if chosen >= 0 {
			kind = "bsc"[chosen]
		}
		return count(c, files, kind, o.zero)
	}
	o.tag = !untagged
	if len(files) == 0 {
		files = []string{"-"}
	}
	return sums(c, files, &o, digests[chosen-3])
}
