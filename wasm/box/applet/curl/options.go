package curl

import (
	"strings"
	"time"
)

// options is what the command line asks for. It holds for all URLs of it.
type options struct {
	urls    []string
	outputs []output // paired with urls in order

	method                                    string
	head, get, include                        bool
	headers                                   []string
	data                                      []byte
	posts, json                               bool // some -d or --json was given
	form                                      []part
	urlQuery                                  []string
	upload                                    string
	uploads                                   bool
	user, bearer, agent, referer              string
	hasAgent, autoReferer                     bool
	rangeOf                                   string
	resume                                    int64 // -1: from what is there
	resumes                                   bool
	cookies, jarFiles                         []string
	jar                                       string
	junkSession                               bool
	location, trusted                         bool
	keepPost                                  [4]bool // by 301, 302, 303
	maxRedirs                                 int
	proto, protoRedir                         string // which of http and https: "h", "s", "hs"
	silent, showError, verbose, progress      bool
	fail, failBody, failEarly                 bool
	dump, stderr, writeOut                    string
	outputDir                                 string
	createDirs, remoteNameAll, remoteHeader   bool
	remoteTime, globOff, noClobber, removeBad bool
	compressed                                bool
	connect, timeout                          time.Duration
	maxSize                                   int64
	retry                                     int
	retryDelay, retryMax                      time.Duration
	retryAll, retryRefused                    bool
}

// output is where one URL goes: a name, or that of the remote file.
type output struct {
	name   string
	remote bool
}

// badOption is a complaint about the command line: "option NAME: TEXT", and
// then nothing is done.
type badOption struct{ name, text string }

func (e badOption) Error() string { return "option " + e.name + ": " + e.text }

const (
	needsArgument = "requires parameter"
	needsNumber   = "expected a proper numerical parameter"
	unknownOption = "is unknown"
	badlyUsed     = "is badly used here"
)

// parse reads the command line.
func (s *state) parse(args []string) error {
	opts := table()
	for i := 0; i < len(args); i++ {
		a := args[i]
		next := func() (string, bool) {
			if i+1 >= len(args) {
				return "", false
			}
			i++
			return args[i], true
		}
		switch {
		case a == "--":
			s.urls = append(s.urls, args[i+1:]...)
			return nil
		case len(a) < 2 || a[0] != '-':
			s.urls = append(s.urls, a)
		case a[1] == '-':
			o, on := findLong(opts, a[2:])
			if err := s.apply(o, a, on, next); err != nil {
				return err
			}
		default:
			for k := 1; k < len(a); k++ {
				o := findShort(opts, a[k])
				name := "-" + a[k:k+1]
				if o.arg != nil && k+1 < len(a) {
					rest := a[k+1:]
					next = func() (string, bool) { return rest, true }
				}
				if err := s.apply(o, name, a[k] != 'N', next); err != nil {
					return err
				}
				if o.arg != nil {
					break
				}
			}
		}
	}
	return nil
}

func (s *state) apply(o option, name string, on bool, next func() (string, bool)) error {
	switch {
	case o.no != "":
		return badOption{name, "refused: " + o.no}
	case o.flag != nil:
		o.flag(&s.options, on)
		return nil
	case o.arg == nil:
		return badOption{name, unknownOption}
	}
	v, ok := next()
	if !ok {
		return badOption{name, needsArgument}
	}
	err := o.arg(s, v)
	if b, ok := err.(badOption); ok && b.name == "" {
		b.name = name
		return b
	}
	return err
}

// findLong finds an option by its name, or that of its opposite: --no-NAME.
func findLong(opts []option, name string) (o option, on bool) {
	bare, no := strings.CutPrefix(name, "no-")
	for _, o := range opts {
		if o.long == name {
			return o, true
		}
		if no && o.long == bare && o.flag != nil {
			return o, false
		}
	}
	return option{no: refused[name]}, true
}

func findShort(opts []option, c byte) option {
	for _, o := range opts {
		if o.short == c && c != 0 {
			return o
		}
	}
	return option{no: refused[shortRefused[c]]}
}
