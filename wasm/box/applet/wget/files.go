package wget

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

// fromFile gets the URLs of -i, a line each.
func (s *state) fromFile(later bool) {
	f, err := s.c.Open(s.input)
	var b []byte
	if err == nil {
		b, err = io.ReadAll(io.LimitReader(f, 16<<20))
		f.Close()
	}
	if err != nil {
		s.say(s.input + ": " + applet.Reason(err))
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if s.base != "" && !strings.Contains(line, "://") {
			if base, err := weburl.Parse(s.base); err == nil {
				if u, err := base.Follow(line); err == nil {
					line = u.String()
				}
			}
		}
		s.get(line, later || n > 0)
		n++
	}
	if n == 0 {
		s.say("No URLs found in " + s.input + ".")
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func seconds(p *time.Duration, option string) func(string) error {
	return func(v string) error {
		unit := time.Second
		num := v
		for suffix, u := range map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour} {
			if n, ok := strings.CutSuffix(v, suffix); ok {
				num, unit = n, u
			}
		}
		n, err := strconv.ParseFloat(num, 64)
		if err != nil || n < 0 || n > 1e6 {
			return errors.New(option + ": Invalid time period " + applet.Curly(v))
		}
		*p = time.Duration(n * float64(unit))
		return nil
	}
}

func number(p *int, option string) func(string) error {
	return func(v string) error {
		if v == "inf" {
			*p = 0
			return nil
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return errors.New(option + ": Invalid number " + applet.Curly(v))
		}
		*p = n
		return nil
	}
}
