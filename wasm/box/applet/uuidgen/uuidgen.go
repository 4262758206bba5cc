// Package uuidgen is the command uuidgen.
package uuidgen

import (
	"crypto/md5"
	"crypto/sha1"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Command is uuidgen.
var Command = applet.Command{
	Name:     "uuidgen",
	Synopsis: "[OPTION]...",
	Summary:  "create a new UUID value",
	Help: `  -r, --random         generate a random UUID (the default)
  -t, --time           generate a UUID from the time and a random node
  -n, --namespace=NS   generate one from a name in this namespace: a UUID,
                         @dns, @url, @oid or @x500
  -N, --name=NAME      the name
  -m, --md5            hash it with MD5
  -s, --sha1           hash it with SHA-1
  -x, --hex            the name is hexadecimal`,
	Run: run,
}

type uuid [16]byte

func (u uuid) String() string {
	var out []byte
	for i, b := range u {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out = append(out, '-')
		}
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}

const digits = "0123456789abcdef"

// unhex reads pairs of digits. Package encoding/hex would bring fmt along.
func unhex(s string) ([]byte, bool) {
	if len(s)%2 != 0 {
		return nil, false
	}
	out := make([]byte, len(s)/2)
	for i := range len(s) {
		d := strings.IndexByte(digits, s[i])
		if s[i] >= 'A' && s[i] <= 'F' {
			d = strings.IndexByte(digits, s[i]|32)
		}
		if d < 0 {
			return nil, false
		}
		out[i/2] = out[i/2]<<4 | byte(d)
	}
	return out, true
}

// mark sets the version and the variant of RFC 9562.
func (u *uuid) mark(version byte) {
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
}

func parse(s string) (u uuid, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, false
	}
	b, ok := unhex(strings.ReplaceAll(s, "-", ""))
	if !ok || len(b) != len(u) {
		return u, false
	}
	return uuid(b), true
}

// namespaces are those of RFC 9562.
var namespaces = map[string]string{
	"@dns": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "@url": "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
	"@oid": "6ba7b812-9dad-11d1-80b4-00c04fd430c8", "@x500": "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
}

func run(c *applet.Ctx) int {
	var timed, md, sha, hexName bool
	var space, name *string
	_, status, ok := c.Parse(1,
		applet.Do(func() { timed = false }, 'r', "random"),
		applet.Bool(&timed, 't', "time"),
		applet.Func(func(v string) error { space = &v; return nil }, 'n', "namespace"),
		applet.Func(func(v string) error { name = &v; return nil }, 'N', "name"),
		applet.Bool(&md, 'm', "md5"), applet.Bool(&sha, 's', "sha1"),
		applet.Bool(&hexName, 'x', "hex"),
	)
	if !ok {
		return status
	}
	switch {
	case space != nil && name == nil:
		return c.Usage("--namespace requires --name argument")
	case space != nil && !md && !sha:
		return c.Usage("--namespace requires --md5 or --sha1")
	case space == nil && name != nil:
		return c.Usage("--name requires --namespace argument")
	case space == nil && (md || sha):
		return c.Usage("--md5 or --sha1 requires --namespace argument")
	}
	var u uuid
	switch {
	case space != nil:
		text := *space
		if known, ok := namespaces[text]; ok {
			text = known
		}
		ns, ok := parse(text)
		if !ok {
			return c.Usage("invalid uuid for namespace: '", *space, "'")
		}
		value := []byte(*name)
		if hexName {
			if value, ok = unhex(*name); !ok {
				return c.Usage("not a valid hex string")
			}
		}
		u = hashed(ns, value, sha)
	case timed:
		u = ofTime(time.Now())
	default:
		u = random()
		u.mark(4)
	}
	c.Out().WriteString(u.String() + "\n")
	return 0
}

func random() (u uuid) {
	put(u[:8], rand.Uint64())
	put(u[8:], rand.Uint64())
	return u
}

// put writes v big-endian, as much of it as b takes from its end. Package
// encoding/binary would bring reflect along.
func put(b []byte, v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte(v)
		v >>= 8
	}
}

func hashed(ns uuid, name []byte, sha bool) (u uuid) {
	text := append(ns[:], name...)
	if sha {
		sum := sha1.Sum(text)
		copy(u[:], sum[:])
		u.mark(5)
		return u
	}
	u = md5.Sum(text)
	u.mark(3)
	return u
}

// gregorian is how many ticks of 100 ns lie between the calendar's start in
// 1582 and 1970.
const gregorian = 0x01b21dd213814000

// ofTime is version 1. There is no network card: the node is random, marked as
// such by the bit for groups.
func ofTime(t time.Time) uuid {
	u := random()
	ticks := uint64(t.UnixNano()/100) + gregorian
	put(u[0:4], ticks)
	put(u[4:6], ticks>>32)
	put(u[6:8], ticks>>48)
	u.mark(1)
	u[10] |= 1
	return u
}
