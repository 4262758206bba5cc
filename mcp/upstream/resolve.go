package upstream

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

// expand resolves ${VAR} and ${VAR:-default}; what variables held is secret
// unless it is the like of a home folder.
func (r *reader) expand(text string, secrets *[]string) (string, error) {
	var failed error
	out := variable.ReplaceAllStringFunc(text, func(ref string) string {
		name, otherwise, hasDefault := strings.Cut(ref[2:len(ref)-1], ":-")
		if !validVariable.MatchString(name) {
			failed = fmt.Errorf("%q is no variable: want ${NAME} or ${NAME:-default}", ref)
			return ""
		}
		v, ok := r.getenv(name)
		if hasDefault && v == "" {
			return otherwise
		}
		if !ok {
			failed = fmt.Errorf("the variable %s is not set", name)
		}
		if !slices.Contains(plainVariables, name) {
			*secrets = append(*secrets, v)
		}
		return v
	})
	return out, failed
}

var (
	validVariable  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plainVariables = []string{"HOME", "PATH", "USER", "LOGNAME", "PWD", "TMPDIR", "SHELL", "LANG", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"}
	secretName     = regexp.MustCompile(`(?i)(token|key|secret|passw|auth|cred|cookie|session|pat$|pwd$)`)
)

// inherited are the variables of donax itself that a server gets beside those
// of the configuration: nothing starts without them.
var inherited = []string{"PATH", "HOME"}

func (r *reader) resolve(x raw, s *Server) error {
	env := map[string]string{}
	for _, name := range inherited {
		if v, ok := r.getenv(name); ok {
			env[name] = v
		}
	}
	for name, text := range x.env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env: %q is no name of a variable", name)
		}
		v, err := r.expand(text, &s.secrets)
		if err != nil {
			return fmt.Errorf("env %s: %w", name, err)
		}
		if env[name] = v; secretName.MatchString(name) {
			s.secrets = append(s.secrets, v)
		}
	}
	for _, name := range sortedKeys(env) {
		s.Env = append(s.Env, name+"="+env[name])
	}
	if x.command != "" {
		for i, text := range append([]string{x.command}, x.args...) {
			v, err := r.expand(text, &s.secrets)
			if err != nil {
				return fmt.Errorf("argument %d of the command: %w", i, err)
			}
			s.Command = append(s.Command, v)
		}
	}
	dir, err := r.expand(x.cwd, &s.secrets)
	if err != nil {
		return fmt.Errorf("cwd: %w", err)
	}
	s.Dir = r.path(dir)
	if len(s.Command) > 0 && strings.Contains(s.Command[0], "/") && !filepath.IsAbs(s.Command[0]) {
		s.Command[0] = filepath.Join(s.Dir, s.Command[0])
	}
	if s.URL, err = r.expand(x.url, &s.secrets); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	return r.headers(x, s)
}

func (r *reader) headers(x raw, s *Server) error {
	s.Header = http.Header{}
	for _, name := range sortedKeys(x.headers) {
		v, err := r.expand(x.headers[name], &s.secrets)
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
		if strings.ContainsAny(name, " :\r\n") || name == "" || strings.ContainsAny(v, "\r\n\x00") {
			return fmt.Errorf("header %s: not a header", name)
		}
		s.Header.Set(name, v)
		if secretName.MatchString(name) {
			s.secrets = append(s.secrets, v)
			if _, token, ok := strings.Cut(v, " "); ok {
				s.secrets = append(s.secrets, token)
			}
		}
	}
	if s.URL == "" {
		return nil
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("url: want one like https://HOST/PATH")
	}
	if pw, ok := u.User.Password(); ok {
		s.secrets = append(s.secrets, pw)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// tokenFile reads a token anew for each request, so that it can be renewed.
func tokenFile(name string) func() (string, error) {
	return func() (string, error) {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		return bearer(string(b), "the token file")
	}
}

func (r *reader) tokenEnv(name string) func() (string, error) {
	return func() (string, error) {
		v, _ := r.getenv(name)
		return bearer(v, "the variable "+name)
	}
}

func bearer(v, where string) (string, error) {
	v = strings.TrimSpace(v)
	if v == "" || strings.ContainsAny(v, "\r\n\x00") {
		return "", fmt.Errorf("%s holds no token", where)
	}
	return v, nil
}
