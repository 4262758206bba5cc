package shell

import "mvdan.cc/sh/v3/syntax"

// The tree that is run. It is made once from the parser's by lower*.go, never
// changes afterwards and may be shared between goroutines.

// A stmt is one statement: a command with its redirections.
type stmt struct {
	cmd    command
	redirs []*redir
	line   int
	neg    bool // ! before it
	bg     bool // & after it
	text   string
}

// A command runs in a shell; an abort in it is caught by the statement.
type command interface{ run(sh *shell) }

type (
	simpleCmd struct {
		assigns []*assign
		words   []*word
		builtin *builtin // that the first word names, if that is known
		line    int
		text    string // source, for BASH_COMMAND
	}
	blockCmd    struct{ body []*stmt }
	subshellCmd struct{ body []*stmt }
	ifCmd       struct{ branches []ifBranch }
	whileCmd    struct {
		until      bool
		cond, body []*stmt
	}
	forCmd struct {
		name  string
		in    bool
		items []*word
		body  []*stmt
		sel   bool
		line  int
		text  string // source up to do
	}
	arithForCmd struct {
		init, cond, post *arith
		body             []*stmt
		line             int
	}
	caseCmd struct {
		text  string // source up to in
		word  *word
		items []caseItem
	}
	pipeCmd struct{ stages []*stmt }
	funcCmd struct {
		name string
		fn   *function
	}
	arithCmd struct {
		x    *arith
		line int
		text string // source, for BASH_COMMAND
	}
	testCmd struct {
		x    testExpr
		line int
		text string // source, for BASH_COMMAND
	}
	timeCmd struct {
		posix bool
		body  *stmt
	}
	coprocCmd struct {
		name *word
		body *stmt
	}
)

type ifBranch struct {
	cond, body []*stmt
	isElse     bool
}

type caseItem struct {
	patterns []*word
	body     []*stmt
	op       syntax.CaseOperator
}

// A function is a defined function: its body and where it was defined.
type function struct {
	name   string
	body   *stmt
	source string // file it was defined in
	line   int
	text   string  // as declare -f prints it
	from   *source // that its tree points into
}

type redir struct {
	op    syntax.RedirOperator
	fd    int    // -1 means the operator's default
	fdVar string // {name}>
	fdSub *subscript
	word  *word
	hdoc  *word // body of a here-document
	line  int
}

// An assign is NAME=value, NAME+=value, NAME[sub]=value or NAME=(...).
type assign struct {
	name    string
	sub     *subscript
	app     bool
	naked   bool // declare NAME
	isArray bool
	value   *word
	array   []arrayElem
	raw     string // source text of a list
}

type arrayElem struct {
	sub   *subscript
	app   bool
	value *word
}

// A subscript is what stands between [ and ] after a name: @, *, or text
// that is an arithmetic expression or the key of an associative array.
type subscript struct {
	all  byte   // '@' or '*'
	expr *arith // for indexed arrays
	key  *word  // for associative arrays
	raw  string // source text
}

// A word is a shell word cut into parts.
type word struct {
	parts []part
	lit   string
	isLit bool    // exactly lit: needs no expansion at all
	brace *braces // the brace expansion this word holds; parts is then unused
	decl  *assign // the word is an assignment given to declare, local, export, ...
	raw   string  // source text, where messages need it
}

type part interface{}

type (
	litPart    struct{ s string } // unquoted text: pattern characters are active
	quotedPart struct{ s string } // quoted text
	dqPart     struct{ parts []part }
	tildePart  struct{ user string }
	cmdSubPart struct {
		body  []*stmt
		file  *word // $(<file)
		fsub  bool  // ${ cmds; }
		reply bool
		line  int
	}
	arithPart struct {
		x    *arith
		line int
	}
	procPart struct {
		out  bool
		body []*stmt
	}
	paramPart struct {
		name   string
		sub    *subscript
		excl   bool
		length bool
		names  byte // ${!prefix@}: '@' or '*'
		slice  bool
		off    *arith
		n      *arith // nil: to the end
		op     paramOp
		colon  bool
		arg    *word
		with   *word
		bad    bool // a bad substitution
		short  bool // $name without braces
		raw    string
	}
)

type paramOp uint8

const (
	opNone paramOp = iota
	opDefault
	opAssign
	opError
	opAlt
	opTrimPrefix
	opTrimPrefixLong
	opTrimSuffix
	opTrimSuffixLong
	opReplace
	opReplaceAll
	opReplaceStart
	opReplaceEnd
	opUpper1
	opUpper
	opLower1
	opLower
	opToggle1
	opToggle
	opTransform
)

// An arith is an arithmetic expression as it stands in the source. Its text
// is expanded like a double-quoted string and parsed when it is evaluated;
// text without expansions is parsed once.
type arith struct {
	parts []part
	raw   string
	node  arithNode // set when the text needs no expansion and parses
	holes int       // expansions whose place in node is an arithHole
	empty bool
}

type testExpr interface{}

type (
	testAnd   struct{ x, y testExpr }
	testOr    struct{ x, y testExpr }
	testNot   struct{ x testExpr }
	testUnary struct {
		op string
		x  *word
	}
	testBinary struct {
		op   string
		x, y *word
	}
	testWord struct{ w *word }
)
