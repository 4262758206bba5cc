package df

import (
	"os"
	"strconv"
	"strings"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Free is the command free. Each program begins with all the memory that one
// may use, so that none of it is ever in use by others.
var Free = applet.Command{
	Name:     "free",
	Synopsis: "[OPTION]...",
	Summary:  "display the amount of memory that a program may use",
	Help: `  -b, --bytes         show output in bytes
  -k, --kibi          show output in kibibytes (default)
  -m, --mebi          show output in mebibytes
  -g, --gibi          show output in gibibytes
      --kilo, --mega, --giga  show output in powers of 1000
  -h, --human         show human-readable output
      --si            use powers of 1000 not 1024
  -t, --total         show total for RAM + swap
  -w, --wide          wide output`,
	Run: free,
}

func free(c *applet.Ctx) int {
	power, base := 1, int64(1024)
	var human, total, wide bool
	set := func(b int64, p int) func() {
		return func() {
			if power = p; b != 0 {
				base = b
			}
		}
	}
	args, status, ok := c.Parse(1,
		applet.Do(set(0, 0), 'b', "bytes"), applet.Do(set(0, 1), 'k', "kibi"), applet.Do(set(0, 2), 'm', "mebi"), applet.Do(set(0, 3), 'g', "gibi"),
		applet.Do(set(1000, 1), 0, "kilo"), applet.Do(set(1000, 2), 0, "mega"), applet.Do(set(1000, 3), 0, "giga"),
		applet.Bool(&human, 'h', "human"), applet.Do(func() { base = 1000 }, 0, "si"), applet.Bool(&total, 't', "total"), applet.Bool(&wide, 'w', "wide"),
	)
	if !ok {
		return status
	}
	if len(args) > 0 {
		return c.ExtraOperand(args[0])
	}
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		c.Warn("cannot open /proc/meminfo: ", applet.Reason(err))
		return 1
	}
	var most, left int64
	for line := range strings.Lines(string(text)) {
		if w := strings.Fields(line); len(w) > 1 {
			n, _ := strconv.ParseInt(w[1], 10, 64)
			switch w[0] {
			case "MemTotal:":
				most = n << 10
			case "MemAvailable:":
				left = n << 10
			}
		}
	}
	unit := int64(1)
	for range power {
		unit *= base
	}
	var out []byte
	row := func(name string, values ...int64) {
		out = append(out, name+strings.Repeat(" ", 8-len(name))...)
		for _, v := range values {
			s := strconv.FormatInt(v/unit, 10)
			if human {
				s = scaled(v, base)
			}
			out = applet.AppendPad(out, s, 12)
		}
		out = append(out, '\n')
	}
	titles, zeros := []string{"total", "used", "free", "shared", "buff/cache", "available"}, []int64{0, 0}
	if wide {
		titles, zeros = []string{"total", "used", "free", "shared", "buffers", "cache", "available"}, []int64{0, 0, 0}
	}
	out = append(out, "        "...)
	for _, t := range titles {
		out = applet.AppendPad(out, t, 12)
	}
	out = append(out, '\n')
	row("Mem:", append(append([]int64{most, most - left, left}, zeros...), left)...)
	row("Swap:", 0, 0, 0)
	if total {
		row("Total:", most, most-left, left)
	}
	c.Out().Write(out)
	return 0
}

// scaled writes a size as free -h does: cut, not rounded, and one decimal
// below ten.
func scaled(v, base int64) string {
	units, i := "BKMGTP", 0
	div := int64(1)
	for v/div >= base && i < len(units)-1 {
		div *= base
		i++
	}
	s := strconv.FormatInt(v/div, 10)
	if i > 0 && v/div < 10 {
		s += "." + strconv.FormatInt(v%div*10/div, 10)
	}
	if s += units[i : i+1]; i > 0 && base == 1024 {
		s += "i"
	}
	return s
}
