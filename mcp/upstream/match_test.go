package upstream

import "testing"

// TestFiltersSeeSlashes: a server that puts slashes in a tool's name does not
// name it out of the operator's filters and confirm modes.
func TestFiltersSeeSlashes(t *testing.T) {
	s := &Server{Deny: []string{"*"}, Default: AskOnce, Confirm: []Rule{{Tools: "*", Mode: Block}}}
	for _, tool := range []string{"x", "../x", "a/b/c", "/"} {
		if s.allows(tool) {
			t.Errorf("%q is allowed past deny *", tool)
		}
		if got := s.confirm(tool); got != Block {
			t.Errorf("%q: confirm %q", tool, got)
		}
	}
	s = &Server{Allow: []string{"fs/read*"}}
	if !s.allows("fs/read_file") || s.allows("fs_read") || s.allows("x/fs/read") {
		t.Error("a slash in a glob is no slash")
	}
}
