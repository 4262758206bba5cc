package rewrite

// Limits bounds what a module may declare. Zero fields take the value of
// [DefaultLimits].
type Limits struct {
	Size         uint64 // bytes of the module
	Types        uint64 // function types
	Params       uint64 // parameters and results of one type
	Imports      uint64
	Functions    uint64
	Body         uint64 // bytes of one function
	Nesting      uint64 // blocks open at a time in one function
	BrTable      uint64 // targets of one br_table
	Locals       uint64 // locals of one function, parameters included
	Tables       uint64
	TableSize    uint64 // elements of one table; also the most it may grow to
	Elements     uint64 // element segments
	Globals      uint64
	Exports      uint64
	DataSegments uint64
	Pages        uint64 // of 64 KiB: the most that memory may have or grow to
}

// DefaultLimits lets through every real program that was tried but a
// compiler and a document converter of more than 50 MB, which need their own.
var DefaultLimits = Limits{
	Size:         64 << 20,
	Types:        10_000,
	Params:       1000,
	Imports:      1000,
	Functions:    32_768,
	Body:         256 << 10,
	Nesting:      4096,
	BrTable:      8192,
	Locals:       1024,
	Tables:       16,
	TableSize:    65_536,
	Elements:     65_536,
	Globals:      10_000,
	Exports:      10_000,
	DataSegments: 131_072,
	Pages:        4096, // 256 MiB
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	for _, f := range []struct{ v, d *uint64 }{
		{&l.Size, &d.Size}, {&l.Types, &d.Types}, {&l.Params, &d.Params}, {&l.Imports, &d.Imports},
		{&l.Functions, &d.Functions}, {&l.Body, &d.Body}, {&l.Nesting, &d.Nesting}, {&l.BrTable, &d.BrTable},
		{&l.Locals, &d.Locals}, {&l.Tables, &d.Tables}, {&l.TableSize, &d.TableSize}, {&l.Elements, &d.Elements},
		{&l.Globals, &d.Globals}, {&l.Exports, &d.Exports}, {&l.DataSegments, &d.DataSegments}, {&l.Pages, &d.Pages},
	} {
		if *f.v == 0 {
			*f.v = *f.d
		}
	}
	return l
}

// atMost ends the rewrite when got exceeds max.
func atMost(got, max uint64, what, where string) {
	if got > max {
		panic(failure{&LimitError{What: what, Where: where, Got: got, Max: max}})
	}
}
