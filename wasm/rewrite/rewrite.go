// Package rewrite turns a WebAssembly module into one that donax can run: a
// module whose size is bounded, whose loops and calls can be stopped, and
// that starts fast.
//
// It works on the binary format alone, in one pass, before the runtime sees
// the module:
//
//   - structural limits, because a few kilobytes of locals, nesting or tables
//     cost a compiler seconds and gigabytes;
//   - fuel: every function entry and loop header counts down a hidden global
//     and calls the import donax_fuel.tick when it is used up. That one call
//     is CPU budget, kill point and scheduler safepoint;
//   - memory and table maxima clamped to what the host grants;
//   - data segments merged, or taken out as one image, because Go's linker
//     emits tens of thousands of them and each costs an allocation;
//   - mutable globals exported, so that an instance can be reset.
//
// It does not validate types: the runtime's own validation follows and stays
// in charge. What this package does not understand it refuses.
package rewrite

import "fmt"

// FuelModule and FuelFunc name the import that fuel calls: () -> i64, the
// next ration. No module may import from FuelModule by itself.
const (
	FuelModule = "donax_fuel"
	FuelFunc   = "tick"
)

// FuelGlobal is the exported name of the fuel counter, for the host to set;
// GlobalPrefix and a decimal index name the module's own mutable globals when
// Options.ExportGlobals is set. ProbeFunc, () -> i64, is a function that
// returns 1 where the code is the module's own, and traps where it is that of
// its [Hollow] form. With fuel, every module that has code has it. StartFunc,
// () -> (), is what the module's start section named: with fuel it is for the
// host to call, since nothing bounds what an instantiation runs.
const (
	FuelGlobal   = "__donax_fuel"
	GlobalPrefix = "__donax_g"
	ProbeFunc    = "__donax_probe"
	StartFunc    = "__donax_start"
)

// Options says what to do with a module. The zero value checks the limits
// and clamps memory only.
type Options struct {
	Limits        Limits
	Fuel          bool // count and stop
	Unchecked     bool // with Fuel: the counter, and nothing that looks at it. Such a module cannot be stopped; it is for measuring what fuel costs
	ExportGlobals bool // export the module's own mutable globals; refuse state that is neither there nor in memory
	MergeData     bool // merge active data segments
	TakeData      bool // take active data segments out, into Info.Data; wins over MergeData

	// Import reports whether the host serves a function import. nil serves
	// none.
	Import func(module, name string) bool
}

// Info describes the rewritten module.
type Info struct {
	Imports   []string // "module.name" of every function import, without fuel
	Exports   []string // names of exported functions
	Functions int      // functions that the module defines
	Globals   []string // exported names of mutable globals, in index order
	MinPages  uint32   // initial memory, in pages of 64 KiB
	MaxPages  uint32   // memory it may grow to
	Data      []byte   // the memory's first bytes, when data was taken out
	Checks    int      // fuel checks inserted
	Start     bool     // it has a start section; with fuel, StartFunc instead
}

// An Error says why a module was refused. Offset is in bytes from the start
// of the module, or of the section that the message names.
type Error struct {
	Offset int
	Msg    string
}

func (e *Error) Error() string { return fmt.Sprintf("wasm module: %s at offset %d", e.Msg, e.Offset) }

// A LimitError says which structural limit a module exceeds, and where.
type LimitError struct {
	What  string // "locals in one function"
	Where string // "function 7"; "" for the module as a whole
	Got   uint64
	Max   uint64
}

func (e *LimitError) Error() string {
	where := ""
	if e.Where != "" {
		where = " (" + e.Where + ")"
	}
	if e.What == pagesLimit {
		return fmt.Sprintf("wasm module: memory minimum %s over limit %s", pagesText(e.Got), pagesText(e.Max))
	}
	return fmt.Sprintf("wasm module: too many %s: %d, at most %d%s", e.What, e.Got, e.Max, where)
}

// pagesLimit is the LimitError.What of memory.
const pagesLimit = "memory pages of 64 KiB"

// pagesText says how much memory n pages are.
func pagesText(n uint64) string {
	switch {
	case n%(1<<14) == 0:
		return fmt.Sprintf("%d GiB", n>>14)
	case n%(1<<4) == 0:
		return fmt.Sprintf("%d MiB", n>>4)
	}
	return fmt.Sprintf("%d KiB", n<<6)
}

// Module rewrites a binary module. The error is an [*Error] or a
// [*LimitError]. bin is not modified.
func Module(bin []byte, o Options) (out []byte, info Info, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure: // the decoder's way out of deep reads; see reader.go
			err = p.err
		default:
			panic(p)
		}
	}()
	r := &rewriter{opt: o, lim: o.Limits.orDefault()}
	r.parse(bin)
	r.types()
	r.imports()
	r.functions()
	r.tables()
	r.memory()
	r.globals()
	r.start()
	r.exports()
	r.elements()
	r.data()
	r.code()
	return r.bytes(), r.info, nil
}

// rewriter holds what one section needs to know of the ones before it.
type rewriter struct {
	opt  Options
	lim  Limits
	info Info

	sections [sectionKinds][]byte // payloads by id; nil when absent
	present  [sectionKinds]bool

	params      []uint64 // parameters of each type
	importFuncs uint64
	importGlobs uint64
	funcTypes   []uint64 // type index of each function the module defines
	ownGlobals  uint64
	mutable     []uint64 // indexes of the module's own mutable globals
	tick        uint64   // function index of fuel, when Options.Fuel
	startFunc   uint64   // function index of StartFunc, when Info.Start
	fuel        uint64   // global index of the counter, when Options.Fuel
	dataMoved   bool     // data segments have lost their indexes
}
