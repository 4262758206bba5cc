// Package wget is GNU wget 1.21 without its recursion: the command line, the
// files and the messages are here, inside wasm; the connection is made by
// donax, which asks the operator's list and the policy about each hop.
package wget

import (
	"io"
	"os"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

const version = "1.21.3"

const help = `  -q, --quiet                quiet (no output)
  -nv, --no-verbose          turn off verboseness
  -S, --server-response      print server response
  -o, --output-file=FILE     log messages to FILE (-a: append)
  -i, --input-file=FILE      download URLs found in FILE
  -O, --output-document=FILE write documents to FILE
  -P, --directory-prefix=DIR save files to DIR/
  -c, --continue             resume getting a partially-downloaded file
  -N, --timestamping         do not retrieve files unless newer than local
  -nc, --no-clobber          skip downloads to existing files
      --content-disposition  take the name from the server
      --spider               do not download anything
  -t, --tries=NUMBER         set number of tries
  -T, --timeout=SECONDS      set all timeout values
  -w, --wait=SECONDS         wait SECONDS between retrievals
      --header=STRING        insert STRING among the headers
  -U, --user-agent=AGENT     identify as AGENT
      --referer=URL          include 'Referer: URL' header
      --user=USER            set the user (--password=PASS)
      --post-data=STRING     use the POST method (--post-file=FILE)
      --method=METHOD        use METHOD (--body-data=STRING, --body-file=FILE)
      --max-redirect=NUM     maximum redirections allowed per page
      --content-on-error     output the content of errors
      --load-cookies=FILE    load cookies (--save-cookies=FILE)
`

// Command is wget.
var Command = &applet.Command{Name: "wget", Synopsis: "[OPTION]... [URL]...", Summary: "download files over HTTP, as far as the operator allows", Help: help, Run: run}

// Exit statuses (wget's manual, "Exit Status").
const (
	exitGeneric  = 1
	exitParse    = 2
	exitFile     = 3
	exitNetwork  = 4
	exitTLS      = 5
	exitAuth     = 6
	exitProtocol = 7
	exitServer   = 8
)

// state is one run of wget.
type state struct {
	c *applet.Ctx

	quiet, terse, server, spider             bool
	output, prefix, input, base, log, append string
	resume, newer, keep, byHeader, trust     bool
	onError, refusedToo                      bool
	tries, redirects                         int
	timeout, wait, waitRetry                 time.Duration
	headers                                  []string
	agent, referer, user, password           string
	eager                                    bool // the password is sent before it is asked for
	method                                   string
	data                                     []byte // nil: none
	dataFile                                 string
	loadJar, saveJar                         string
	sessions                                 bool
	retryOn                                  string

	logs  io.Writer
	jar   weburl.Jar
	out   io.Writer // of -O
	worst int
}

func run(c *applet.Ctx) int {
	s := &state{c: c, logs: c.Stderr, tries: 20, redirects: 20, waitRetry: 10 * time.Second, agent: "Wget/" + version}
	urls, status, ok := c.Parse(exitParse, s.table()...)
	if !ok {
		return status
	}
	if s.log != "" || s.append != "" {
		name, flag := s.log, os.O_TRUNC
		if name == "" {
			name, flag = s.append, os.O_APPEND
		}
		if name != "-" {
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flag, 0o644)
			if err != nil {
				c.Warn(name, ": ", applet.Reason(err))
				return exitGeneric
			}
			defer f.Close()
			s.logs = f
		} else {
			s.logs = c.Stdout
		}
	}
	if len(urls) == 0 && s.input == "" {
		c.Warn("missing URL")
		io.WriteString(c.Stderr, "Usage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n")
		return exitGeneric
	}
	if s.dataFile != "" {
		b, err := os.ReadFile(s.dataFile)
		if err != nil {
			s.say("BODY data file " + applet.Curly(s.dataFile) + " missing: " + applet.Reason(err))
			return exitFile
		}
		s.data = b
	}
	if s.data != nil && s.method == "" {
		c.Warn("You must specify a method through --method=HTTPMethod to use with --body-data or --body-file.")
		return exitGeneric
	}
	if s.loadJar != "" {
		b, err := os.ReadFile(s.loadJar)
		if err != nil {
			s.say("Cannot open cookies file " + applet.Curly(s.loadJar) + ": " + applet.Reason(err))
		}
		s.jar.Read(string(b), false, time.Now())
	}
	switch {
	case s.output == "-":
		s.out = c.Stdout
	case s.output != "" && !s.spider:
		if s.resume && s.newer || s.keep && exists(s.output) {
			s.note("File " + applet.Curly(s.output) + " already there; not retrieving.")
			return exitGeneric
		}
		flag := os.O_TRUNC
		if s.resume {
			flag = os.O_APPEND
		}
		f, err := os.OpenFile(s.output, os.O_WRONLY|os.O_CREATE|flag, 0o644)
		if err != nil {
			s.say(s.output + ": " + applet.Reason(err))
			return exitGeneric
		}
		defer f.Close()
		s.out = f
	}
	for i, u := range urls {
		s.get(u, i > 0)
	}
	if s.input != "" {
		s.fromFile(len(urls) > 0)
	}
	if s.saveJar != "" {
		text := s.jar.Text("# Generated by Wget on " + time.Now().Format("2006-01-02 15:04:05") + ".\n# Edit at your own risk.\n\n")
		if err := os.WriteFile(s.saveJar, []byte(text), 0o600); err != nil {
			s.say("Cannot open cookies file " + applet.Curly(s.saveJar) + ": " + applet.Reason(err))
		}
	}
	return s.worst
}

// fail keeps the status that matters most, as wget does: the lower one, but
// any before those of the server.
func (s *state) fail(code int) {
	if code != 0 && (s.worst == 0 || code < s.worst) {
		s.worst = code
	}
}

// say tells an error, note what is done, unless they are not wanted.
func (s *state) say(line string) {
	if !s.quiet {
		s.c.Flush()
		io.WriteString(s.logs, line+"\n")
	}
}

func (s *state) note(text string) {
	if !s.quiet && !s.terse {
		s.c.Flush()
		io.WriteString(s.logs, text)
	}
}
