package policy

// Net is the facts of one network connection. It is asked once by name and
// again with every address that the name resolved to.
type Net struct {
	Scheme string `json:"scheme"` // http or https
	Host   string `json:"host"`   // as requested, lower case, without the port and a last dot
	Port   int    `json:"port"`
	Method string `json:"method"` // in upper case, as it is sent
	Path   string `json:"path"`   // decoded, without the query; never with a segment . or ..
	IP     string `json:"ip"`     // the address about to be dialled; "" while the name is not resolved
	By     string `json:"by"`     // canonical name of the program that asks
	Bytes  int64  `json:"bytes"`  // length of the request's body; -1 when not known beforehand
}

// Tool is the facts of one call of an upstream MCP tool.
type Tool struct {
	Server      string         `json:"server"`      // name of the upstream server in its configuration
	Name        string         `json:"name"`        // the tool's own name, or elicitation/create when the server asks the person something
	SHA256      string         `json:"sha256"`      // of what the server says of the tool: description, schemas, annotations; hex
	Arguments   map[string]any `json:"arguments"`   // as they will be sent
	Annotations Annotations    `json:"annotations"` // what the server says of the tool; a claim, not a fact
	Confirm     string         `json:"confirm"`     // confirm mode in force for the tool
}

// Annotations are the hints of an upstream server about one of its tools.
type Annotations struct {
	ReadOnlyHint    bool `json:"readOnlyHint"`
	DestructiveHint bool `json:"destructiveHint"`
	IdempotentHint  bool `json:"idempotentHint"`
	OpenWorldHint   bool `json:"openWorldHint"`
}

// Module is the facts of one WebAssembly module that a user added, before it
// is loaded.
type Module struct {
	Name    string   `json:"name"`    // command name it will have
	SHA256  string   `json:"sha256"`  // of the file; hex
	Size    int64    `json:"size"`    // bytes
	Source  string   `json:"source"`  // where it came from
	Imports []string `json:"imports"` // imported functions as MODULE.NAME, sorted
}

// StreamTerminal is the [Output].Stream of a served terminal.
const StreamTerminal = "terminal"

// Output is the facts of output about to be released to the client.
type Output struct {
	Stream   string `json:"stream"`    // stdout or stderr of a line; terminal for both together, as a served terminal keeps them
	Bytes    int64  `json:"bytes"`     // written so far
	ExitCode int    `json:"exit_code"` // of the command; 0 while it runs
}
