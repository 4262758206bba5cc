package scan

//go:wasmimport donax find
//go:noescape
func donaxFind(s *byte, n uint32, text *byte, m uint32, fold uint32, at *int32) uint32

func find(s, text []byte, fold bool) (i int, ok bool) {
	var flag uint32
	if fold {
		flag = 1
	}
	var at int32
	if donaxFind(&s[0], uint32(len(s)), &text[0], uint32(len(text)), flag, &at) != 0 {
		return 0, false
	}
	return int(at), true
}
