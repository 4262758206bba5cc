package box_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/donax-sh/donax/sandbox"
)

// TestAbsentHints holds what is said about commands that are not there against
// the box: nothing that is there counts as absent, and what a hint names is
// there.
func TestAbsentHints(t *testing.T) {
	there := map[string]bool{"ps": true, "bash": true, "COMMAND": true}
	for _, c := range boxCommands() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			there[name] = true
			if line := sandbox.Absent(name); line != "" {
				t.Errorf("%s is in the box, but: %s", name, line)
			}
		}
	}
	quoted := regexp.MustCompile("`([^` ]+)[^`]*`")
	for _, name := range strings.Fields("python3 npm apt-get node perl duckdb psql git gh make gcc ssh rsync ping http sudo useradd vim man open clear tmux crontab " +
		"systemctl top mount ffmpeg recode locale gpg hexyl bat fd exa ag sd delta dust md5 gsed zsh xmllint 7z hostnamectl quota pstree w getfacl dc") {
		line := sandbox.Absent(name)
		if line == "" {
			t.Errorf("%s: no hint", name)
		}
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			if !there[m[1]] {
				t.Errorf("%s: the hint names %s, which is not there", name, m[1])
			}
		}
	}
}
