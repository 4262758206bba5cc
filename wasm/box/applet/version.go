package applet

// CompareVersions orders names with numbers in them as sort -V and ls -v do:
// a1 before a2 before a10, and file.txt before file-1.txt.
func CompareVersions(a, b string) int {
	if a == "" || b == "" {
		return boolCompare(a != "", b != "")
	}
	switch {
	case a[0] == '.' && b[0] != '.':
		return -1
	case a[0] != '.' && b[0] == '.':
		return 1
	case a[0] == '.':
		for _, dots := range []string{".", ".."} {
			if a == dots || b == dots {
				return boolCompare(a != dots, b != dots)
			}
		}
	}
	pa, pb := versionPrefix(a), versionPrefix(b)
	if r := compareParts(a[:pa], b[:pb]); r != 0 || pa == len(a) && pb == len(b) {
		return r
	}
	return compareParts(a, b)
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// versionPrefix returns the length of s without its file suffixes, such as
// ".tar.gz".
func versionPrefix(s string) int {
	prefix := 0
	for i := 0; i < len(s); {
		i++
		prefix = i
		for i+1 < len(s) && s[i] == '.' && (isAlpha(s[i+1]) || s[i+1] == '~') {
			for i += 2; i < len(s) && (isAlpha(s[i]) || isDigit(s[i]) || s[i] == '~'); i++ {
			}
		}
	}
	return prefix
}

func isAlpha(c byte) bool { return c|32 >= 'a' && c|32 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// compareParts compares runs of digits as numbers and what is between them by
// weight: ~, the end, letters, the rest.
func compareParts(a, b string) int {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		for i < len(a) && !isDigit(a[i]) || j < len(b) && !isDigit(b[j]) {
			if wa, wb := weight(a, i), weight(b, j); wa != wb {
				return wa - wb
			}
			i++
			j++
		}
		for i < len(a) && a[i] == '0' {
			i++
		}
		for j < len(b) && b[j] == '0' {
			j++
		}
		diff := 0
		for i < len(a) && j < len(b) && isDigit(a[i]) && isDigit(b[j]) {
			if diff == 0 {
				diff = int(a[i]) - int(b[j])
			}
			i++
			j++
		}
		switch {
		case i < len(a) && isDigit(a[i]):
			return 1
		case j < len(b) && isDigit(b[j]):
			return -1
		case diff != 0:
			return diff
		}
	}
	return 0
}

func weight(s string, i int) int {
	switch {
	case i >= len(s):
		return -1
	case isDigit(s[i]):
		return 0
	case isAlpha(s[i]):
		return int(s[i])
	case s[i] == '~':
		return -2
	}
	return int(s[i]) + 256
}
