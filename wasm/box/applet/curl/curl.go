// Package curl is curl 7.88, as far as it speaks HTTP: the command line, the
// files and the messages are here, inside wasm; the connection is made by
// donax, which asks the operator's list and the policy about each hop.
package curl

import (
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/donax-sh/donax/wasm/box/applet"
	"github.com/donax-sh/donax/wasm/box/applet/internal/weburl"
)

const version = "7.88.1"

const help = ` -d, --data <data>          HTTP POST data (@file reads one; --data-raw, --data-binary, --data-urlencode)
     --json <data>          HTTP POST JSON
 -F, --form <name=content>  Specify multipart MIME data
 -T, --upload-file <file>   Transfer local FILE to destination
 -X, --request <method>     Specify request method to use
 -G, --get                  Put the post data in the URL and use GET
 -I, --head                 Show document info only
 -H, --header <header>      Pass custom header to server
 -A, --user-agent <name>    Send User-Agent <name> to server
 -e, --referer <URL>        Referrer URL
 -u, --user <user:password> Server user and password
 -b, --cookie <data|file>   Send cookies from string/file
 -c, --cookie-jar <file>    Write cookies to <file> after operation
 -L, --location             Follow redirects (--max-redirs <num>)
 -o, --output <file>        Write to file instead of stdout
 -O, --remote-name          Write output to a file named as the remote file (-J: by its header)
     --output-dir <dir>     Directory to save files in (--create-dirs)
 -C, --continue-at <offset> Resumed transfer offset
 -r, --range <range>        Retrieve only the bytes within RANGE
 -i, --include              Include response headers in the output
 -D, --dump-header <file>   Write the received headers to <file>
 -w, --write-out <format>   Use output FORMAT after completion
 -f, --fail                 Fail fast with no output on HTTP errors (--fail-with-body)
 -m, --max-time <seconds>   Maximum time allowed for transfer (--connect-timeout <seconds>)
     --retry <num>          Retry request if transient problems occur
     --compressed           Request compressed response
     --proto <protocols>    Enable/disable PROTOCOLS
 -s, --silent               Silent mode
 -S, --show-error           Show error even when -s is used
 -v, --verbose              Make the operation more talkative
 -V, --version              Show version number and quit
`

// Command is curl.
var Command = &applet.Command{Name: "curl", Synopsis: "[options...] <url>...", Summary: "transfer a URL over HTTP, as far as the operator allows", Help: help, Run: run}

// state is one run of curl.
type state struct {
	options
	c      *applet.Ctx
	errs   io.Writer
	jar    *weburl.Jar // nil: cookies are not kept
	made   map[string]bool
	dumped bool
}

// fatal is an error of a transfer, or of its preparation.
type fatal struct {
	code int
	msg  string
}

func (f fatal) Error() string { return f.msg }

func run(c *applet.Ctx) int {
	for i, a := range c.Args {
		switch a {
		case "-V", "--version":
			io.WriteString(c.Stdout, "curl "+version+" (donax)\nProtocols: http https\nFeatures: HTTP2 IPv6 libz SSL\n")
			return 0
		case "-h", "--help":
			if i == 0 {
				io.WriteString(c.Stdout, "Usage: curl [options...] <url>\n"+help)
				return 0
			}
		}
	}
	s := &state{c: c, errs: c.Stderr, made: map[string]bool{}}
	s.maxRedirs = 50
	s.proto, s.protoRedir = "hs", "hs"
	try := func(msg string) int {
		if msg != "" {
			s.note("curl: " + msg)
		}
		s.note("curl: try 'curl --help' or 'curl --manual' for more information")
		return 2
	}
	if len(c.Args) == 0 {
		return try("")
	}
	err := s.parse(c.Args)
	var bad badOption
	var f fatal
	switch {
	case errors.As(err, &bad):
		return try(bad.Error())
	case errors.As(err, &f):
		try(f.msg)
		return f.code
	case err != nil:
		return try(err.Error())
	case len(s.urls) == 0:
		return try("no URL specified!")
	}
	if s.stderr != "" && s.stderr != "-" {
		w, err := os.Create(s.stderr)
		if err != nil {
			s.warn("Failed to open " + s.stderr + "!")
		} else {
			defer w.Close()
			s.errs = w
		}
	} else if s.stderr == "-" {
		s.errs = c.Stdout
	}
	if msg := s.conflict(); msg != "" {
		s.warn(msg)
		return 2
	}
	if strings.HasPrefix(s.writeOut, "@") {
		b, err := s.readFile(s.writeOut[1:])
		if err != nil {
			s.warn("Failed to read " + s.writeOut[1:])
		}
		s.writeOut = string(stripBytes(b))
	}
	if len(s.jarFiles) > 0 || s.options.jar != "" {
		s.jar = &weburl.Jar{Loopback: true}
		for _, name := range s.jarFiles {
			s.loadJar(name)
		}
	}
	code := s.all()
	if s.options.jar != "" {
		if err := s.saveJar(s.options.jar); err != nil {
			s.warn("failed to save cookies in " + s.options.jar)
		}
	}
	return code
}

// all makes the transfers, one after the other.
func (s *state) all() (code int) {
	for i, pattern := range s.urls {
		urls, err := s.expand(pattern)
		var f fatal
		if errors.As(err, &f) {
			s.complain(f)
			code = f.code
			continue
		}
		var out output
		switch {
		case i < len(s.outputs):
			out = s.outputs[i]
		case s.remoteNameAll:
			out.remote = true
		}
		for _, u := range urls {
			t := &transfer{state: s, given: u.url, index: i, out: out}
			t.out.name = u.fill(out.name)
			if code = t.run(); code != 0 && s.failEarly {
				return code
			}
		}
	}
	return code
}

// conflict names two ways of making one request.
func (s *state) conflict() string {
	var ways []string
	if s.head {
		ways = append(ways, "HEAD (-I, --head)")
	}
	if s.posts && !s.get {
		ways = append(ways, "POST (-d, --data)")
	}
	if len(s.form) > 0 {
		ways = append(ways, "multipart formpost (-F, --form)")
	}
	if s.uploads {
		ways = append(ways, "PUT (-T, --upload-file)")
	}
	if len(ways) < 2 {
		return ""
	}
	return "You can only select one HTTP request method! You asked for both " + ways[0] + " and " + ways[1] + "."
}

func (s *state) note(line string) {
	s.c.Flush()
	io.WriteString(s.errs, line+"\n")
}

func (s *state) warn(msg string) {
	if !s.silent {
		s.note("Warning: " + msg)
	}
}

// complain tells of a failed transfer.
func (s *state) complain(f fatal) {
	if !s.silent || s.showError {
		s.note("curl: (" + itoa(f.code) + ") " + f.msg)
	}
}

// place is where a file goes: --output-dir, with folders made on demand.
func (s *state) place(name string) (string, error) {
	if s.outputDir != "" && !path.IsAbs(name) {
		name = s.outputDir + "/" + name
	}
	if dir := path.Dir(name); s.createDirs && dir != "." {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return "", err
		}
	}
	return name, nil
}

// pause waits before a transfer is tried again.
func pause(d time.Duration) { time.Sleep(d) }
