// Package posixre compiles and runs POSIX basic and extended regular
// expressions with the GNU extensions, as grep, sed and find know them:
// leftmost-longest, in UTF-8, with back-references.
//
// Patterns without back-references run on a DFA that is built while it runs,
// in time linear in the text. Only sub-matches and back-references need
// backtracking: the first is bounded by remembering what failed, the second
// by a count of steps that ends in [ErrTooComplex].
package posixre

import (
	"errors"

	"github.com/donax-sh/donax/wasm/box/applet/internal/scan"
)

// Dialect is a syntax: which characters are operators, and what becomes of
// an operator out of place.
type Dialect uint8

// The dialects.
const (
	GrepBasic     Dialect = iota // grep
	GrepExtended                 // grep -E: stray operators are forgiven
	PosixBasic                   // sed
	PosixExtended                // sed -E: stray operators are errors
	Emacs                        // find -regex
	Awk                          // awk: stray operators stand for themselves
)

func (d Dialect) extended() bool { return d == GrepExtended || d == PosixExtended || d == Awk }
func (d Dialect) grep() bool     { return d == GrepBasic || d == GrepExtended }

// Options say how patterns are compiled.
type Options struct {
	Dialect Dialect
	Literal bool // patterns are plain text (grep -F)
	Fold    bool // ignore case
	// Multiline makes ^ and $ match at newlines too, and keeps . and [^x]
	// from matching one (sed's M).
	Multiline bool
	// NoNewline keeps . and [^x] from matching a newline.
	NoNewline bool
	// Strict leaves \+, \? and \| without their meaning in basic expressions.
	Strict bool
	Line   bool // a match is the whole text (grep -x)
	Word   bool // a match has no word character beside it (grep -w)
	// Sep, when HasSep, ends lines in Scan.
	Sep    byte
	HasSep bool
}

// ErrTooComplex is returned when a pattern with back-references took too many
// steps, or a match with groups is too long to take apart.
var ErrTooComplex = errors.New("regular expression too complex for this text")

// Regexp is a compiled pattern. It is not safe for concurrent use: it grows
// while it runs.
type Regexp struct {
	Groups   int      // number of parenthesised groups
	Warnings []string // what GNU grep warns of: "* at start of expression"

	opt      Options
	backrefs bool
	bytes    *prog // for the DFAs; an over-approximation when backrefs
	runes    *prog // for simulation and backtracking
	search   *dfa  // unanchored: is there a match?
	longest  *dfa  // anchored: where does the longest end?

	prefix   []byte // every match starts with it
	whole    bool   // the pattern is exactly prefix
	must     []byte // every match holds it
	fold     []byte // every match holds it in some case; small letters
	finder   finder // of prefix
	mustFind finder // of must
	common   bool   // must is found too often to help in Scan
	hits     int
	skipped  int // bytes
	first    *[256]bool
	empty    bool // may match the empty string
	anchored bool // only matches at the start of the text

	bt  backtracker
	sim simulator
}

// Compile compiles patterns; a match is a match of any of them.
func Compile(patterns []string, opt Options) (*Regexp, error) {
	re := &Regexp{opt: opt}
	var alts []*node
	for _, p := range patterns {
		n, err := re.parse(p)
		if err != nil {
			return nil, err
		}
		alts = append(alts, n)
	}
	root := alternate(alts)
	if opt.Line {
		root = &node{op: nCat, subs: []*node{{op: nBufBegin}, root, {op: nBufEnd}}}
	} else if opt.Word {
		root = &node{op: nCat, subs: []*node{{op: nNoWordBefore}, root, {op: nNoWordAfter}}}
	}
	if err := re.build(root); err != nil {
		return nil, err
	}
	return re, nil
}

func (re *Regexp) parse(p string) (*node, error) {
	if re.opt.Literal {
		return literal(p, re.opt.Fold), nil
	}
	ps := parser{src: p, opt: re.opt, groups: re.Groups}
	n, err := ps.parse()
	if err != nil {
		return nil, err
	}
	re.Groups = ps.groups
	re.backrefs = re.backrefs || ps.backrefs
	re.Warnings = append(re.Warnings, ps.warnings...)
	return n, nil
}

func (re *Regexp) build(root *node) error {
	var err error
	if re.runes, err = compile(root, re.Groups, re.opt, false, re.backrefs); err != nil {
		return err
	}
	if re.bytes, err = compile(root, re.Groups, re.opt, true, re.backrefs); err != nil {
		return err
	}
	re.analyse(root)
	re.search = newDFA(re.bytes, re.opt, true)
	re.longest = newDFA(re.bytes, re.opt, false)
	re.sim = simulator{prog: re.runes, multiline: re.opt.Multiline}
	re.bt = backtracker{prog: re.runes, multiline: re.opt.Multiline, fold: re.opt.Fold, backrefs: re.backrefs}
	return nil
}

// Backrefs tells whether the pattern has back-references.
func (re *Regexp) Backrefs() bool { return re.backrefs }

// LiteralText returns the text that the pattern stands for when it is plain
// text: then a match is an occurrence of it.
func (re *Regexp) LiteralText() ([]byte, bool) { return re.prefix, re.whole }

// Match tells whether text, a whole line, holds a match.
func (re *Regexp) Match(text []byte) (bool, error) {
	if re.whole {
		return re.finder.find(text, 0) >= 0, nil
	}
	if len(re.must) > 0 && re.mustFind.find(text, 0) < 0 {
		return false, nil
	}
	found, quit := re.search.exists(text)
	if re.backrefs && (found || quit) {
		_, _, found, err := re.Find(text, 0)
		return found, err
	}
	if quit {
		_, _, found = re.sim.find(text, 0, true)
	}
	return found, nil
}

// Find returns the leftmost-longest match that starts at from or later. What
// stands before from counts as context for ^, \b and the like.
func (re *Regexp) Find(text []byte, from int) (start, end int, ok bool, err error) {
	if re.whole {
		i := re.finder.find(text, from)
		return i, i + len(re.prefix), i >= 0, nil
	}
	budget := 16*(len(text)-from) + 4096
	for pos := from; pos <= len(text); pos++ {
		if pos = re.candidate(text, pos); pos < 0 {
			return 0, 0, false, nil
		}
		end, seen, quit := re.longest.longestAt(text, pos)
		if quit {
			return re.findSlow(text, pos)
		}
		if end >= 0 && re.backrefs {
			if end, err = re.bt.longest(text, pos); err != nil {
				return 0, 0, false, err
			}
		}
		if end >= 0 {
			return pos, end, true, nil
		}
		if budget -= seen - pos; budget < 0 && !re.backrefs {
			return re.findSlow(text, pos+1) // a quadratic case: the simulation is linear
		}
	}
	return 0, 0, false, nil
}

func (re *Regexp) findSlow(text []byte, from int) (start, end int, ok bool, err error) {
	if !re.backrefs {
		start, end, ok = re.sim.find(text, from, false)
		return start, end, ok, nil
	}
	for pos := from; pos <= len(text); pos++ {
		if pos > from && midRune(text, pos) {
			continue
		}
		if end, err = re.bt.longest(text, pos); err != nil {
			return 0, 0, false, err
		}
		if end >= 0 {
			return pos, end, true, nil
		}
	}
	return 0, 0, false, nil
}

// FindSubmatch is Find with the groups: it appends to dst, for the match and
// each group, its start and end, -1 where a group took no part.
func (re *Regexp) FindSubmatch(dst []int, text []byte, from int) ([]int, bool, error) {
	start, end, ok, err := re.Find(text, from)
	if !ok || err != nil {
		return dst, false, err
	}
	dst, err = re.Submatch(dst, text, start, end)
	return dst, err == nil, err
}

// Submatch takes the match from start to end, one that Find returned, apart.
func (re *Regexp) Submatch(dst []int, text []byte, start, end int) ([]int, error) {
	dst = append(dst, start, end)
	if re.Groups == 0 {
		return dst, nil
	}
	caps, err := re.bt.groups(text, start, end, re.Groups)
	if err != nil {
		return dst, err
	}
	return append(dst, caps[2:2*re.Groups+2]...), nil
}

// candidate returns the first position at or after pos where a match may
// start, or -1.
func (re *Regexp) candidate(text []byte, pos int) int {
	switch {
	case re.anchored:
		if pos > 0 {
			return -1
		}
	case len(re.prefix) > 0:
		return re.finder.find(text, pos)
	case re.first != nil:
		for pos < len(text) && !re.first[text[pos]] {
			pos++
		}
		if pos == len(text) {
			return -1
		}
	default:
		for pos < len(text) && midRune(text, pos) {
			pos++
		}
	}
	return pos
}

// midRune tells whether pos is inside a valid multi-byte character, where the
// empty string does not match.
func midRune(text []byte, pos int) bool {
	if pos <= 0 || pos >= len(text) || text[pos]&0xC0 != 0x80 {
		return false
	}
	for i := 1; i <= 3 && pos-i >= 0; i++ {
		if b := text[pos-i]; b >= 0xC0 {
			_, n := decode(text[pos-i:])
			return n > i
		} else if b < 0x80 {
			return false
		}
	}
	return false
}

// Scan looks for a line with a match in text, which holds whole lines that
// end in opt.Sep; the last may lack it. It returns a position in the first
// such line, or -1. With back-references, and where quit is true, it is only
// a line that may match: the caller asks Match.
func (re *Regexp) Scan(text []byte, from int) (pos int, unsure bool) {
	switch {
	case re.whole:
		return re.finder.find(text, from), false
	case !re.common && (len(re.must) > 0 || len(re.fold) > 1):
		if len(re.fold) > len(re.must) {
			if pos = scan.IndexFold(text[from:], re.fold); pos >= 0 {
				pos += from
			}
		} else {
			pos = re.mustFind.find(text, from)
		}
		// Text that stands in nearly every line only costs time.
		re.hits++
		re.skipped += max(pos, from) - from
		re.common = re.hits > 32 && re.skipped/re.hits < 300
		return pos, true
	}
	pos, quit := re.search.scan(text, from)
	return pos, quit || re.backrefs && pos >= 0
}
