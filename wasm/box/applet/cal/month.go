package cal

import (
	"strconv"
	"strings"
	"time"
)

// reform is the first day of the Gregorian calendar, 14 September 1752, as a
// day number; the day before was the 2nd.
var reform = gregorian(1752, 8, 14)

// gregorian and julian number the days; month is 0 to 11.
func gregorian(y, m, d int) int {
	y, m = shift(y, m)
	return 365*y + floor(y, 4) - floor(y, 100) + floor(y, 400) + (153*m+2)/5 + d - 1
}

func julian(y, m, d int) int {
	y, m = shift(y, m)
	return 365*y + floor(y, 4) + (153*m+2)/5 + d - 3
}

// shift makes the year begin in March, so that the leap day is its last.
func shift(y, m int) (int, int) {
	if m < 2 {
		return y - 1, m + 10
	}
	return y, m - 2
}

func floor(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// dayNumber numbers a day of the calendar that held then.
func dayNumber(y, m, d int) int {
	if n := gregorian(y, m, d); n >= reform {
		return n
	}
	return julian(y, m, d)
}

// weekday of a day number: 0 is Sunday. The first of March of year 0 was a
// Wednesday.
func weekday(n int) int { return ((n+3)%7 + 7) % 7 }

// month is one month: its days by week and day of the week, 0 for none.
type month struct {
	year, index int
	cells       [6][7]int
	weeks       [6]int // numbers; 0 for weeks without a day
}

func (o *options) fill(at int) month {
	y, m := at/12, at%12
	mo := month{year: y, index: m}
	start := dayNumber(y, m, 1)
	next := dayNumber(y, m+1, 1)
	if m == 11 {
		next = dayNumber(y+1, 0, 1)
	}
	newYear := dayNumber(y, 0, 1)
	slot := (weekday(start) - o.first + 7) % 7
	for n := start; n < next; n++ {
		day := n - start + 1
		if start < reform && n >= reform { // the days left out
			day = n - gregorian(y, m, 1) + 1
		}
		if o.julian {
			day = n - newYear + 1
		}
		mo.cells[slot/7][slot%7] = day
		if mo.weeks[slot/7] == 0 {
			mo.weeks[slot/7] = week(n-slot%7+3, y)
		}
		slot++
	}
	return mo
}

// week numbers a week by its middle day, which belongs to one year only.
func week(middle, year int) int {
	for _, y := range []int{year + 1, year, year - 1} {
		if first := dayNumber(y, 0, 1); middle >= first {
			return (middle-first)/7 + 1
		}
	}
	return 1
}

func (mo month) title(withYear bool) string {
	name := time.Month(mo.index + 1).String()
	if withYear {
		name += " " + strconv.Itoa(mo.year)
	}
	return name
}

// layout is how wide things are, in characters.
type layout struct {
	cell    int // of a day
	perLine int // months beside each other
	width   int // of a month
}

func (o *options) layout() layout {
	l := layout{cell: 2, perLine: 3, width: 20}
	if o.julian {
		l = layout{cell: 3, perLine: 2, width: 27}
	}
	if !o.rows {
		l.width = 6 * (l.cell + 1)
		l.perLine = 4
		if o.julian {
			l.perLine = 3
		}
	}
	return l
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-len(s))) }

func center(s string, width int) string {
	return pad(strings.Repeat(" ", max(0, width-len(s))/2)+s, width)
}

func cell(day, width int) string {
	if day == 0 {
		return strings.Repeat(" ", width)
	}
	s := strconv.Itoa(day)
	return strings.Repeat(" ", max(0, width-len(s))) + s
}

// print writes n months. When they begin with January and fill a line, the
// year stands above them instead of beside their names.
func (o *options) print(first, n int) string {
	var b strings.Builder
	l := o.layout()
	above := first%12 == 0 && n >= l.perLine
	for at := 0; at < n; at += l.perLine {
		if at > 0 {
			b.WriteByte('\n')
		}
		if above && at%12 == 0 {
			year := strconv.Itoa((first + at) / 12)
			b.WriteString(strings.Repeat(" ", (l.width*l.perLine-len(year))/2) + year + "\n")
		}
		var line []month
		for i := at; i < min(n, at+l.perLine); i++ {
			line = append(line, o.fill(first+i))
		}
		if o.rows {
			o.printRows(&b, l, line, !above)
		} else {
			o.printColumns(&b, l, line, !above)
		}
	}
	return b.String()
}

// day is the name of a column or row.
func (o *options) day(i int) string { return time.Weekday((i + o.first) % 7).String()[:2] }

// printRows writes months with weeks as rows.
func (o *options) printRows(b *strings.Builder, l layout, line []month, withYear bool) {
	for _, mo := range line {
		b.WriteString(center(mo.title(withYear), l.width) + "  ")
	}
	b.WriteByte('\n')
	for range line {
		for d := range 7 {
			b.WriteString(strings.Repeat(" ", l.cell-2) + o.day(d) + " ")
		}
		b.WriteByte(' ')
	}
	b.WriteByte('\n')
	for w := range 6 {
		for _, mo := range line {
			for d := range 7 {
				b.WriteString(cell(mo.cells[w][d], l.cell) + " ")
			}
			b.WriteByte(' ')
		}
		b.WriteByte('\n')
	}
}

// printColumns writes months with weeks as columns.
func (o *options) printColumns(b *strings.Builder, l layout, line []month, withYear bool) {
	b.WriteString("    ")
	for _, mo := range line {
		b.WriteString(pad(mo.title(withYear), l.width))
	}
	b.WriteByte('\n')
	for d := range 7 {
		b.WriteString(o.day(d))
		for _, mo := range line {
			for w := range 6 {
				b.WriteString(" " + cell(mo.cells[w][d], l.cell))
			}
		}
		b.WriteByte('\n')
	}
	if !o.weekNumbers {
		return
	}
	b.WriteString("  ")
	for _, mo := range line {
		for w := range 6 {
			b.WriteString(" " + cell(mo.weeks[w], l.cell))
		}
	}
	b.WriteByte('\n')
}
