package upstream

import (
	"fmt"
	"strings"
	"time"
)

// Status is what is known of one server.
type Status struct {
	Name     string        `json:"name"`            // in commands
	State    State         `json:"state"`           //
	Group    string        `json:"group,omitempty"` // deferred with it
	Tools    int           `json:"tools"`           // commands, as far as they are known
	Cost     time.Duration `json:"costNs"`          // of the last connection
	Revision string        `json:"revision"`        // of MCP; "" when it is not known
	List     string        `json:"list"`            // hash of the tool list, for the pin; "" when it is not known
	Pinned   bool          `json:"pinned"`          // the configuration has a pin
	Error    string        `json:"error,omitempty"`
}

// State says how things stand with a server.
type State string

// The states.
const (
	Connected State = "connected"
	Idle      State = "idle"     // its tools are known; it is dialled when one is called
	Unknown   State = "unknown"  // never asked
	Deferred  State = "deferred" // in a group that is not loaded
	Failed    State = "failed"
	Changed   State = "changed" // its tools are not those that are pinned
	Off       State = "disabled"
)

// Status returns how things stand with all servers, in their order.
func (m *Manager) Status() []Status {
	var list []Status
	for _, s := range m.servers {
		list = append(list, s.status())
	}
	return list
}

func (s *server) status() Status {
	changed := s.pinned() != nil
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{Name: s.name, Group: s.cfg.Group, Tools: len(s.tools), Cost: s.cost, Revision: s.revision, List: s.list, Pinned: s.cfg.Pin != ""}
	switch {
	case s.cfg.Disabled:
		st.State = Off
	case s.cfg.Err != nil:
		st.State, st.Error = Failed, line(s.mask.text(s.cfg.Err.Error()), 400)
	case s.failed != nil:
		st.State, st.Error = Failed, s.why
	case changed && s.tools != nil:
		st.State, st.Error = Changed, "its tools are not those that are pinned"
	case s.conn != nil:
		st.State = Connected
	case s.tools != nil:
		st.State = Idle
	case s.cfg.Group != "":
		st.State = Deferred
	default:
		st.State = Unknown
	}
	return st
}

// Summary is one line about all servers: what there is and what fails.
func (m *Manager) Summary() string {
	var have, bad []string
	tools := 0
	for _, st := range m.Status() {
		switch st.State {
		case Failed, Changed:
			bad = append(bad, st.Name+" ("+st.Error+")")
		case Off:
		case Deferred:
			have = append(have, st.Name+" deferred")
		case Unknown:
			have = append(have, st.Name)
		default:
			have = append(have, fmt.Sprintf("%s %d", st.Name, st.Tools))
			tools += st.Tools
		}
	}
	out := fmt.Sprintf("upstream: %d tools", tools)
	if len(have) > 0 {
		out += " (" + strings.Join(have, ", ") + ")"
	}
	if len(bad) > 0 {
		out += "; cannot be used: " + strings.Join(bad, ", ")
	}
	return out
}

// Bounds of the instructions.
const (
	maxInstructions  = 1400
	maxServerSaid    = 400
	maxServersListed = 600
)

// Instructions is what a model should be told of the upstream servers: that
// their tools are commands, and what each server says of itself, marked as
// its words. A server none of whose tools can be used says nothing.
func (m *Manager) Instructions() string {
	var names, said []string
	for _, s := range m.servers {
		s.lock()
		name, tools, words := s.name, s.tools, s.said
		switch {
		case s.cfg.Disabled || s.cfg.Err != nil || s.tools != nil && len(tools) == 0:
		case tools == nil && s.cfg.Group != "":
			names = append(names, name+" (mcp.load "+s.cfg.Group+")")
		case tools == nil:
			names = append(names, name)
		default:
			names = append(names, fmt.Sprintf("%s (%d)", name, len(tools)))
			if words != "" {
				said = append(said, fmt.Sprintf("\nThe upstream server %s says: %q", name, line(words, maxServerSaid)))
			}
		}
		s.mu.Unlock()
	}
	if len(names) == 0 {
		return ""
	}
	out := "\nTools of upstream MCP servers are commands named SERVER.TOOL, to be piped like any other: mcp.list [SERVER], mcp.search WORDS, mcp.describe TOOL. Servers (tools): " +
		cut(strings.Join(names, ", "), maxServersListed) + "."
	for _, one := range said {
		if len(out)+len(one) > maxInstructions {
			break
		}
		out += one
	}
	return out
}
