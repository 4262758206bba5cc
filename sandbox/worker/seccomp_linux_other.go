//go:build linux && !amd64 && !arm64

package worker

// A stage is how much a worker's filter allows.
type stage int

const (
	stageLoad stage = iota
	stageRun
)

func seccomp(stage) Finding {
	return Finding{Name: "seccomp", Required: true, Detail: "there is no filter for this kind of processor"}
}
