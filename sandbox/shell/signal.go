package shell

import (
	"slices"
	"strings"
)

// Signals, as Linux numbers them, and the pseudo signals of trap.
const (
	sigEXIT  = 0
	sigHUP   = 1
	sigINT   = 2
	sigQUIT  = 3
	sigKILL  = 9
	sigPIPE  = 13
	sigTERM  = 15
	sigCHLD  = 17
	sigCONT  = 18
	sigSTOP  = 19
	sigTSTP  = 20
	sigTTIN  = 21
	sigTTOU  = 22
	sigURG   = 23
	sigWINCH = 28

	sigDEBUG  = 61
	sigERR    = 62
	sigRETURN = 63
)

const signalList = "EXIT HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"

// signalName is the name without SIG; "" for an unknown number.
func signalName(n int) string {
	f := strings.Fields(signalList)
	switch {
	case n >= 0 && n < len(f):
		return f[n]
	case n >= sigDEBUG && n <= sigRETURN:
		return []string{"DEBUG", "ERR", "RETURN"}[n-sigDEBUG]
	case n == 34:
		return "RTMIN"
	case n > 34 && n <= 49:
		return "RTMIN+" + itoa(n-34)
	case n >= 50 && n < 64:
		return "RTMAX-" + itoa(64-n)
	case n == 64:
		return "RTMAX"
	}
	return ""
}

// signalNumber parses a signal given by name or number.
func signalNumber(s string) (int, bool) {
	if n, ok := atoi(s); ok && s[0] != '-' && s[0] != '+' {
		return int(n), n >= 0 && n <= 64 && n != 32 && n != 33
	}
	u := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	if u == "POLL" {
		u = "IO"
	}
	for n := 0; n <= 64; n++ {
		if name := signalName(n); name != "" && name == u {
			return n, true
		}
	}
	return 0, false
}

// signalText is what jobs prints for a job that a signal ended.
func signalText(n int) string {
	known := []int{sigHUP, sigINT, sigKILL, sigTERM, sigPIPE}
	if i := slices.Index(known, n); i >= 0 {
		return []string{"Hangup", "Interrupt", "Killed", "Terminated", "Broken pipe"}[i]
	}
	return "Signal " + itoa(n)
}
