package date

import (
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/difftest"
)

func TestMain(m *testing.M) { difftest.Main(m, Command) }

func TestAgainstDate(t *testing.T) {
	s := difftest.Suite{Commands: []string{"date"}, Setup: `touch -d '2024-02-29 12:34:56.789' f; printf '2024-01-02\n@0\nx\n' > dates`, Stderr: true}
	d := func(format string, dates ...string) (lines []string) {
		for _, x := range dates {
			lines = append(lines, `date -d '`+x+`' '+`+format+`'`)
		}
		return lines
	}
	const iso = "%F %T %z"
	lines := d(iso, "2024-05-06", "2024-05-06 07:08", "2024-05-06 07:08:09.5", "2024-05-06T07:08:09Z", "2024-05-06T07:08:09+02:00", "2024-05-06 07:08:09 +0530", "20240506", "20240506 0708", "5/6/2024", "5/6/24", "2024/5/6", "6 May 2024", "May 6 2024", "May 6, 2024", "6-May-2024", "Mon, 06 May 2024 07:08:09 -0600", "Mon May  6 07:08:09 UTC 2024", "Mon May  6 07:08:09 EDT 2024", "2024-05-06 5pm", "2024-05-06 12am", "2024-05-06 5:30 pm", "2024-05-06 noon", "@0", "@1700000000", "@1700000000.25", "@-1", "1970-01-01 UTC +3 days",
		"2024-01-31 +1 month", "2024-01-31 1 month ago", "2024-02-29 next year", "2024-05-06 yesterday", "2024-05-06 tomorrow", "2024-05-06 12:00 + 3 hours", "2024-05-06 12:00 -90 minutes", "2024-05-06 2 weeks", "2024-05-06 last month", "2024-05-06 1 fortnight ago", "2024-05-06 10 sec", "2024-05-06 3 days ago 2 hours", "2024-05-06 12:00 PST", "12:00 2024-05-06", "2024-05-06 24:00", "2024-12-31 +1 day", "2024-03-01 -1 day", "2024-05-06 UTC", "6 may 2024 10:20:30", "may 6 10:20:30 2024", "sept 3 2024", "2024-05-06 07:08 UTC+2", "(comment) 2024-05-06", "2024-05-06 GMT", "jan 1 1969", "2024-05-06 12:34:56,789",
		"2024-05-06T10:11", "6 May 2024T10:11:12", "May 6, 2024T10:00", "20240506 T10:11:12", "6 May 2024T10:11:12Z", "2024-05-06 7:05:03 am +1 hour", "2024-05-06 T 10:00 +1 hour",
		"nonsense", "2024-13-01", "2024-02-30", "25:00", "2024-05-06 12:60", "may", "@x", "2024-05-06 2024-05-07", "99")
	lines = append(lines, d("%F", "yesterday", "tomorrow", "now", "today", "next friday", "last monday", "friday", "this tue", "2 days ago", "last month", "next week", "1 year ago", "monday", "third monday", "fri next week", "yesterday 12:00", "-1 day", "+2 weeks", "next day", "day", "12:00 tomorrow", "noon tomorrow", "")...)
	for _, f := range []string{"%a %A %b %B %c", "%C %d %D %e %F %g %G %h", "%H %I %j %k %l %m %M %N %p %P %q", "%r %R %s %S %T %u %U %V %w %W %x %X %y %Y %z %:z %::z %:::z %Z", "%-d %_d %-m %_m %-H %_H %-j %05d %3d %_5d %-5d", "%^a %^B %#Z %#p %^p %#a %10a %-10a %010a", "%3N %6N %_N %12N", "%+4Y %6Y %_6Y %-Y %+6Y %+F", "%n|%t|", "%E %Q %", "%Ey %Od", "%_z %-z %8z %_8z", "%10F %015s %-s %_15s", "a%%b", "%5S %_S %-S", "%10n|", "%^c", "%20c|%020c"} {
		lines = append(lines, d(f, "2024-02-29 03:04:05.678901234", "1999-12-31 23:59:59", "2027-01-01 00:00:00", "2024-12-30 12:00:00.05")...)
	}
	lines = append(lines, `TZ=America/New_York date -d '2024-07-01 12:00 UTC'`, `TZ=Europe/Paris date -d '2024-03-31 01:30' '+%c %Z %z'`, `TZ=Asia/Kolkata date -d @0 '+%F %T %:z %Z'`, `TZ=EST5 date -d @0 '+%T %Z'`, `TZ='<+03>-3' date -d @0 '+%T %Z'`, `date -d 'TZ="America/Los_Angeles" 2024-07-01 09:00' '+%F %T'`,
		`date -u -d @0`, `date -R -d @0`, `date -I -d @0`, `date -Iseconds -d @0`, `date -Ins -d @0.5`, `date -Ihours -d @0`, `date -Iminutes -d @0`, `date --iso-8601=seconds -d @0`, `date --rfc-3339=seconds -d @0`, `date --rfc-3339=ns -d @0`, `date --rfc-3339=date -d @0`, `date -r f '+%F %T.%N'`, `date -r nope`, `date -f dates +%F`, `date --date=@0 --utc`, `date -d`, `date -d @0 x`, `date +%F -d @5`, `date -d @0 +`, `date -d @0 +%F +%T`, `date -R -I`, `date -r f -d @0`, `date --nope`, `date -d @0 -f dates`)
	s.Run(t, lines...)
}
