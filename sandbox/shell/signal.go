package shell

import "strings"

// Signals, as Linux numbers them, and the pseudo signals of trap.
const (
	sigEXIT  = 0
	sigHUP   = 1
	sigINT   = 2
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
	switch n {
	case sigDEBUG:
		return "DEBUG"
	case sigERR:
		return "ERR"
	case sigRETURN:
		return "RETURN"
	}
	f := strings.Fields(signalList)
	switch {
	case n >= 0 && n < len(f):
		return f[n]
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
func signalNumber(s string, pseudo bool) (int, bool) {
	if n, ok := atoi(s); ok && s[0] != '-' && s[0] != '+' {
		if n == 0 || signalNameReal(int(n)) {
			return int(n), true
		}
		return 0, false
	}
	u := strings.ToUpper(s)
	if pseudo {
		switch strings.TrimPrefix(u, "SIG") {
		case "EXIT":
			return sigEXIT, true
		case "DEBUG":
			return sigDEBUG, true
		case "ERR":
			return sigERR, true
		case "RETURN":
			return sigRETURN, true
		}
	}
	u = strings.TrimPrefix(u, "SIG")
	for i, f := range strings.Fields(signalList) {
		if f == u {
			return i, true
		}
	}
	if u == "POLL" {
		return 29, true
	}
	for n := 34; n <= 60; n++ {
		if signalName(n) == u {
			return n, true
		}
	}
	return 0, false
}

func signalNameReal(n int) bool { return n >= 0 && n <= 64 && n != 32 && n != 33 }

// signalText is what jobs prints for a job that a signal ended.
func signalText(n int) string {
	switch n {
	case sigHUP:
		return "Hangup"
	case sigINT:
		return "Interrupt"
	case sigKILL:
		return "Killed"
	case sigTERM:
		return "Terminated"
	case sigPIPE:
		return "Broken pipe"
	}
	return "Signal " + itoa(n)
}
