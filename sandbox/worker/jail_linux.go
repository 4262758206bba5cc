package worker

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// jail takes from this process what a worker must not have. What it was born
// with (Landlock, namespaces) the server knows; this is the rest. Nothing of it
// can be undone.
func jail(s Setup) []Finding {
	// Nobody of the same user may look into it, and no core is written.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // only an addition to the rest
	found := []Finding{rlimits(s), noNewPrivs(), seccomp(stageLoad)}
	open := Finding{Name: "landlock", OK: fileIsClosed(), Detail: "files outside are closed"}
	if !open.OK {
		open.Detail = "files outside can be opened until the code is locked"
	}
	return append(found, open)
}

func rlimits(s Setup) Finding {
	f := Finding{Name: "rlimits", Required: true}
	limits := map[int]uint64{
		unix.RLIMIT_CPU:    uint64(s.CPULimit),
		unix.RLIMIT_NOFILE: 128,
		unix.RLIMIT_CORE:   0,
		unix.RLIMIT_FSIZE:  0, // a worker writes no file
	}
	f.Detail = fmt.Sprintf("data %s, cpu %ds, files 128, core 0, file size 0", sizeText(s.MemoryLimit), s.CPULimit)
	if !raceDetector { // whose shadow memory is more than any limit
		limits[unix.RLIMIT_DATA] = uint64(s.MemoryLimit)
	}
	if err := limit(s, limits); err != nil {
		f.Detail = err.Error()
		return f
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &now); err != nil || !raceDetector && now.Max > uint64(s.MemoryLimit) {
		f.Detail = fmt.Sprintf("the limit on memory was not kept: %d, %v", now.Max, err)
		return f
	}
	f.OK = true
	return f
}

func noNewPrivs() Finding {
	f := Finding{Name: "no_new_privs", Required: true}
	// For this thread; the filter that follows takes it to all others.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		f.Detail = err.Error()
		return f
	}
	f.OK, f.Detail = true, "no program could gain rights"
	return f
}

// lockCode forbids new machine code and the last way to open files. It needs
// everything that will run to be there already.
func lockCode() Finding {
	debug.FreeOSMemory() // what loading needed must not weigh on the limit
	f := seccomp(stageRun)
	f.Name, f.Required = "no new code", false
	if f.OK {
		f.Detail = "memory cannot become executable any more, and no file can be opened"
	}
	return f
}

// lockLater says that the lock follows.
func lockLater() Finding {
	return Finding{Name: "no new code", OK: true, Detail: fmt.Sprintf("some %v after the start, when all programs are loaded", lockDelay)}
}
