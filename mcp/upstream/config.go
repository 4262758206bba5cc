package upstream

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Server is one server of the configuration.
type Server struct {
	Name    string // as in the file
	Command []string
	Env     []string // NAME=VALUE: all that the process sees
	Dir     string
	URL     string
	Header  http.Header
	Bearer  func() (string, error) // nil: no token but what Header has

	Confirm  []Rule
	Default  Confirm // of tools that no rule matches; "" means AskOnce
	Remember Remember
	Allow    []string // globs of tools; nil allows all
	Deny     []string
	Disabled bool
	Group    string // not "": deferred until mcp.load GROUP
	Pin      string // hash of the tool list; "" pins nothing
	Elicit   bool   // questions of the server may reach the person, if the policy allows

	StartTimeout, CallTimeout, Idle time.Duration

	Err     error // why the server cannot be used; the others can
	secrets []string
}

// Remember says what a yes to a call with [AskOnce] holds for.
type Remember string

// What a yes holds for.
const (
	RememberCall Remember = "call" // the tool with exactly these arguments. The default
	RememberTool Remember = "tool" // the tool, whatever the arguments
)

// Defaults of a Server.
const (
	defaultStart = 30 * time.Second
	defaultCall  = 2 * time.Minute
	defaultIdle  = 5 * time.Minute
)

// File is a configuration that was read.
type File struct {
	Servers  []Server // in the order of the file
	Warnings []string // what was ignored, with its place
}

// maxFile bounds a configuration file.
const maxFile = 4 << 20

// Load reads a .mcp.json, as clients of MCP have it. getenv gives the variables that
// ${VAR} and ${VAR:-default} name; nil means those of the process. The error names the place of
// what cannot be meant; a server whose variables are missing only has its Err
// set.
func Load(name string, getenv func(string) (string, bool)) (*File, error) {
	if getenv == nil {
		getenv = os.LookupEnv
	}
	fi, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if fi.Size() > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, maxFile)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	r := &reader{name: name, text: text, dir: filepath.Dir(abs), getenv: getenv, file: &File{}}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.file, nil
}
