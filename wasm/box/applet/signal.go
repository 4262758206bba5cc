package applet

import (
	"strconv"
	"strings"
)

// signals holds the names of the signals of Linux from 1 on.
var signals = [...]string{"HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
	"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR", "SYS"}

// Signal reads a signal's name, with or without SIG and in any case, or
// number.
func Signal(s string) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return n, n >= 0 && n <= 64
	}
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	switch name {
	case "EXIT":
		return 0, true
	case "CLD":
		name = "CHLD"
	case "IO":
		name = "POLL"
	case "IOT":
		name = "ABRT"
	}
	for i, n := range signals {
		if n == name {
			return i + 1, true
		}
	}
	return 0, false
}

// SignalName returns a signal's name without SIG, or its number.
func SignalName(n int) string {
	if n >= 1 && n <= len(signals) {
		return signals[n-1]
	}
	return strconv.Itoa(n)
}
