package awk

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// host is what the program's functions work on.
type host struct{ c *applet.Ctx }

// funcs are the functions that stand in; see rewrite.
func (h *host) funcs() map[string]any {
	return map[string]any{
		prefix + "system":   h.system,
		prefix + "gensub":   gensub,
		prefix + "strftime": strftime,
		prefix + "systime":  func() float64 { return float64(time.Now().Unix()) },
		prefix + "mktime":   mktime,
		prefix + "strtonum": strtonum,
		prefix + "and":      func(v ...float64) float64 { return fold(v, func(a, b uint64) uint64 { return a & b }) },
		prefix + "or":       func(v ...float64) float64 { return fold(v, func(a, b uint64) uint64 { return a | b }) },
		prefix + "xor":      func(v ...float64) float64 { return fold(v, func(a, b uint64) uint64 { return a ^ b }) },
		prefix + "compl":    func(v float64) float64 { return float64(^uint64(v) & (1<<53 - 1)) },
		prefix + "lshift":   func(v, n float64) float64 { return float64(uint64(v) << uint(n) & (1<<53 - 1)) },
		prefix + "rshift":   func(v, n float64) float64 { return float64(uint64(v) >> uint(n)) },
	}
}

// system runs a command line in a shell of the sandbox, which is admitted as
// any other command, and returns its status.
func (h *host) system(line string) float64 {
	return float64(h.c.Spawn(applet.Child{Args: []string{"sh", "-c", line}, Stdin: os.Stdin}))
}

func fold(v []float64, f func(a, b uint64) uint64) float64 {
	if len(v) == 0 {
		return 0
	}
	r := uint64(v[0])
	for _, x := range v[1:] {
		r = f(r, uint64(x))
	}
	return float64(r)
}

// gensub replaces matches of a regular expression in text, or in the record
// when no text is given: all of them when how begins with g, else the how-th.
// In the replacement \0 or & is the match and \1 to \9 are its groups.
func gensub(record, pattern, with, how string, text ...string) (string, error) {
	target := record
	if len(text) > 0 {
		target = text[0]
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	re.Longest()
	all := strings.HasPrefix(strings.ToLower(how), "g")
	nth := 1
	if !all {
		if n, err := strconv.Atoi(strings.TrimSpace(how)); err == nil && n > 1 {
			nth = n
		}
	}
	var b strings.Builder
	done := 0
	for i, m := range re.FindAllStringSubmatchIndex(target, -1) {
		if !all && i+1 != nth {
			continue
		}
		b.WriteString(target[done:m[0]])
		expand(&b, with, target, m)
		done = m[1]
	}
	b.WriteString(target[done:])
	return b.String(), nil
}

func expand(b *strings.Builder, with, text string, m []int) {
	for i := 0; i < len(with); i++ {
		group := -1
		switch {
		case with[i] == '&':
			group = 0
		case with[i] == '\\' && i+1 < len(with):
			i++
			if with[i] >= '0' && with[i] <= '9' {
				group = int(with[i] - '0')
			} else {
				b.WriteByte(with[i])
				continue
			}
		default:
			b.WriteByte(with[i])
			continue
		}
		if 2*group+1 < len(m) && m[2*group] >= 0 {
			b.WriteString(text[m[2*group]:m[2*group+1]])
		}
	}
}

// strftime formats a time, by default now, as date does.
func strftime(args ...string) string {
	format, t := "%a %b %e %H:%M:%S %Z %Y", time.Now()
	if len(args) > 0 {
		format = args[0]
	}
	if len(args) > 1 {
		secs, _ := strconv.ParseFloat(strings.TrimSpace(args[1]), 64)
		t = time.Unix(int64(secs), 0)
	}
	if len(args) > 2 && args[2] != "" && args[2] != "0" {
		t = t.UTC()
	}
	return string(applet.AppendTime(nil, format, t))
}

// mktime turns "YYYY MM DD HH MM SS" into seconds, or -1.
func mktime(text string) float64 {
	f := strings.Fields(text)
	if len(f) < 6 {
		return -1
	}
	var n [6]int
	for i := range n {
		v, err := strconv.Atoi(f[i])
		if err != nil {
			return -1
		}
		n[i] = v
	}
	return float64(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.Local).Unix())
}

// strtonum reads a decimal, octal (0...) or hexadecimal (0x...) number.
func strtonum(text string) float64 {
	s := strings.TrimSpace(text)
	neg := strings.HasPrefix(s, "-")
	digits := strings.TrimLeft(s, "+-")
	base := 10
	switch {
	case strings.HasPrefix(strings.ToLower(digits), "0x"):
		base, digits = 16, digits[2:]
	case strings.HasPrefix(digits, "0") && strings.Trim(digits, "01234567") == "":
		base = 8
	}
	if base == 10 {
		end := len(s)
		for end > 0 {
			if v, err := strconv.ParseFloat(s[:end], 64); err == nil && !math.IsInf(v, 0) {
				return v
			}
			end--
		}
		return 0
	}
	v, _ := strconv.ParseUint(digits, base, 64)
	if neg {
		return -float64(v)
	}
	return float64(v)
}
