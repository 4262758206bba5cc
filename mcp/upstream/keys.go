package upstream

import (
	"path"
	"path/filepath"
	"time"
)

// own reads donax's own keys. Here an unknown one is refused: a setting that
// protects must not be lost to a typing error.
func (r *reader) own(m member, s *Server) error {
	list, err := r.members(m.value)
	if err != nil {
		return err
	}
	for _, k := range list {
		switch k.key {
		case "confirm":
			s.Confirm, err = r.rules(k)
		case "remember":
			s.Remember, err = into[Remember](r, k, `"call" or "tool"`)
			if err == nil && s.Remember != RememberCall && s.Remember != RememberTool {
				err = r.at(k.value, `remember: want "call" or "tool"`)
			}
		case "allow":
			s.Allow, err = r.globs(k)
			if s.Allow == nil {
				s.Allow = []string{}
			}
		case "deny":
			s.Deny, err = r.globs(k)
		case "enabled":
			var on bool
			on, err = into[bool](r, k, "true or false")
			s.Disabled = s.Disabled || !on
		case "startupTimeoutMs":
			s.StartTimeout, err = r.ms(k)
		case "callTimeoutMs":
			s.CallTimeout, err = r.ms(k)
		case "idleMs":
			s.Idle, err = r.ms(k)
		case "group":
			s.Group, err = into[string](r, k, "a text")
		case "pin":
			s.Pin, err = into[string](r, k, "a text")
		case "elicit":
			s.Elicit, err = into[bool](r, k, "true or false")
		case "bearerFile":
			var file string
			if file, err = into[string](r, k, "a text"); err == nil {
				s.Bearer = tokenFile(r.path(file))
			}
		case "bearerEnv":
			var name string
			if name, err = into[string](r, k, "a text"); err == nil {
				s.Bearer = r.tokenEnv(name)
				if v, _ := r.getenv(name); v != "" {
					s.secrets = append(s.secrets, v)
				}
			}
		default:
			err = r.at(k.value, "donax has no key %q; it has confirm, remember, allow, deny, enabled, startupTimeoutMs, callTimeoutMs, idleMs, group, pin, elicit, bearerFile, bearerEnv", k.key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) ms(m member) (time.Duration, error) {
	n, err := into[int64](r, m, "a number of milliseconds")
	if err == nil && (n < 1 || n > int64(24*time.Hour/time.Millisecond)) {
		err = r.at(m.value, "%s: want 1 to 86400000 milliseconds", m.key)
	}
	return time.Duration(n) * time.Millisecond, err
}

func (r *reader) globs(m member) ([]string, error) {
	list, err := into[[]string](r, m, "an array of globs of tool names")
	for _, g := range list {
		if _, bad := path.Match(g, ""); bad != nil {
			return nil, r.at(m.value, "%s: %q is no glob", m.key, g)
		}
	}
	return list, err
}

// rules reads a mode, or an object of globs to modes.
func (r *reader) rules(m member) ([]Rule, error) {
	if len(m.value) > 0 && m.value[0] == '"' {
		m.key = "*"
		rule, err := r.rule(m)
		return []Rule{rule}, err
	}
	list, err := r.members(m.value)
	if err != nil {
		return nil, err
	}
	var rules []Rule
	for _, k := range list {
		rule, err := r.rule(k)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func (r *reader) rule(m member) (Rule, error) {
	text, err := into[string](r, m, "a confirm mode")
	if err != nil {
		return Rule{}, err
	}
	mode, err := ParseConfirm(text)
	if err != nil {
		return Rule{}, r.at(m.value, "confirm: %v", err)
	}
	if _, bad := path.Match(m.key, ""); bad != nil {
		return Rule{}, r.at(m.value, "confirm: %q is no glob", m.key)
	}
	return Rule{m.key, mode}, nil
}

func (r *reader) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir, name)
}
