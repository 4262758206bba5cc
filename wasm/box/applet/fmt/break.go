package fmt

import (
	"math"
	"strings"
)

// word is one of a paragraph.
type word struct {
	text                        []byte
	space                       int // columns behind it
	paren, period, punct, final bool
	length, cost, next          int // of the best line that it begins: its length, all costs from there, and the word after it
}

// look finds what the word begins and ends with.
func (w *word) look() {
	t := w.text
	w.paren = strings.IndexByte("(['`\"", t[0]) >= 0
	last := t[len(t)-1]
	w.punct = last > ' ' && last < 127 && !(last|0x20 >= 'a' && last|0x20 <= 'z') && !isDigit(last)
	for len(t) > 1 && strings.IndexByte(")]'\"", t[len(t)-1]) >= 0 {
		t = t[:len(t)-1]
	}
	w.period = strings.IndexByte(".?!", t[len(t)-1]) >= 0
}

// What makes a break good or bad, as GNU fmt weighs it.
const (
	lineCost      = 70 * 70
	noBreakCost   = 600 * 600
	sentenceBonus = 50 * 50
	parenBonus    = 40 * 40
	punctBonus    = 40 * 40
	lineCredit    = 3 * 3
	widowCost     = 200 * 200
	orphanCost    = 150 * 150
)

func shortCost(n int) int  { return n * 10 * n * 10 }
func raggedCost(n int) int { return shortCost(n) / 2 }

// breakLines finds the breaks that cost least in all, from the last word to
// the first.
func (f *formatter) breakLines() {
	all := len(f.words)
	costFrom := func(i int) int {
		if i == all {
			return 0
		}
		return f.words[i].cost
	}
	for start := all - 1; start >= 0; start-- {
		w := &f.words[start]
		length := f.other
		if start == 0 {
			length = f.first
		}
		length += len(w.text)
		best := math.MaxInt
		for next := start + 1; ; next++ {
			cost := f.lineCost(next, length) + costFrom(next)
			if start == 0 && f.lastLength > 0 {
				cost += raggedCost(length - f.lastLength)
			}
			if cost < best {
				best, w.next, w.length = cost, next, length
			}
			if next == all {
				break
			}
			if length += f.words[next-1].space + len(f.words[next].text); length >= f.width {
				break
			}
		}
		w.cost = best + f.baseCost(start)
	}
}

// lineCost is what a line of a length costs, before the word next.
func (f *formatter) lineCost(next, length int) int {
	if next == len(f.words) {
		return 0
	}
	cost := shortCost(f.goal - length)
	if w := &f.words[next]; w.next != len(f.words) {
		cost += raggedCost(length - w.length)
	}
	return cost
}

// baseCost is what it costs that a line begins with a word.
func (f *formatter) baseCost(i int) int {
	cost := lineCost
	if i > 0 {
		switch before := &f.words[i-1]; {
		case before.period && before.final:
			cost -= sentenceBonus
		case before.period:
			cost += noBreakCost
		case before.punct:
			cost -= punctBonus
		case i > 1 && f.words[i-2].final:
			cost += widowCost / (len(before.text) + 2)
		}
	}
	switch w := &f.words[i]; {
	case w.paren:
		cost -= parenBonus
	case w.final:
		cost += orphanCost / (len(w.text) + 2)
	}
	return cost
}

// flush writes the first lines of a paragraph that is too long to be held, up
// to the cheapest break. It returns what is kept of the word that is being
// read: all of it, unless it is all there is.
func (f *formatter) flush(reading []byte) []byte {
	if len(f.words) == 0 {
		f.out.Write(reading)
		f.chars = 0
		return nil
	}
	f.breakLines()
	split, best := len(f.words), math.MaxInt
	for i := f.words[0].next; i != len(f.words); i = f.words[i].next {
		cost := f.words[i].cost
		if n := f.words[i].next; n < len(f.words) {
			cost -= f.words[n].cost
		}
		if cost < best {
			split, best = i, cost
		}
		if best <= math.MaxInt-lineCredit {
			best += lineCredit
		}
	}
	f.write(split)
	for _, w := range f.words[:split] {
		f.chars -= len(w.text)
	}
	f.words = append(f.words[:0], f.words[split:]...)
	return reading
}

// write writes the lines up to the word end.
func (f *formatter) write(end int) {
	indent := f.first
	for i := 0; i != end; i = f.words[i].next {
		f.outColumn = 0
		f.space(f.indent)
		f.out.WriteString(f.prefix)
		f.outColumn += len(f.prefix)
		f.space(indent - f.outColumn)
		for k := i; k < f.words[i].next; k++ {
			w := &f.words[k]
			f.out.Write(w.text)
			f.outColumn += len(w.text)
			if k+1 < f.words[i].next {
				f.space(w.space)
			}
		}
		f.lastLength = f.outColumn
		f.out.WriteByte('\n')
		indent = f.other
	}
}

// space writes n columns of blanks, with tabs when the input has some.
func (f *formatter) space(n int) {
	to := f.outColumn + n
	if tab := to / 8 * 8; f.tabs && f.outColumn+1 < tab {
		for f.outColumn < tab {
			f.out.WriteByte('\t')
			f.outColumn = (f.outColumn/8 + 1) * 8
		}
	}
	for ; f.outColumn < to; f.outColumn++ {
		f.out.WriteByte(' ')
	}
}
