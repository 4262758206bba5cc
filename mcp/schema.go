package mcp

import "encoding/json"

// Instructions is what a client is told when it connects. A model may see
// nothing else before it calls: it teaches the order of calls. Clients cut it
// at 2048 characters, the description of a tool too.
const Instructions = `Runs bash command lines in a sandbox: its own files, a fixed set of programs, no host access; a policy decides what may run.

1. terminal_create {"command": "grep -rn TODO . | head"} starts a command and returns a terminalId at once.
2. terminal_wait_for_exit {"terminalId"} waits for its end, 50 s at most; when it says "running": true, call it again.
3. terminal_output {"terminalId"} returns what it wrote, stdout and stderr together, also while it runs.
4. terminal_release {"terminalId"} frees it. Do this for every terminal.
terminal_kill stops a command early and keeps its output.

Each terminal is a fresh shell: variables and the current folder do not carry over, files do. Commands have no input. A command that is refused by policy comes back as an error that says why and what to try instead; do not repeat it unchanged.`

// SessionInstructions follows [Instructions] where sessions can be named.
const SessionInstructions = `

To keep variables, functions and the current folder from one command to the next, give terminal_create the same "session" name each time.`

// Input schemas use single types, items for every array and no null: some
// clients drop every tool of a server over one schema that does not.
const (
	createInput = `{"type":"object","properties":{
"command":{"type":"string","description":"A bash command line, such as: sort names.txt | uniq -c. When args is given: the name of one program."},
"args":{"type":"array","items":{"type":"string"},"description":"Arguments of the program. When given, no shell reads them: no quoting, no expansion."},
"cwd":{"type":"string","description":"Folder to start in, absolute, inside the sandbox. Default: /workspace."},
"env":{"type":"object","additionalProperties":{"type":"string"},"description":"Variables to set for the command."},
"outputByteLimit":{"type":"integer","minimum":0,"description":"Bytes of output to keep; the end is kept. Default: 1 MiB."},
"timeoutMs":{"type":"integer","minimum":1,"description":"Stop the command after so many milliseconds, with exit code 124. Default: none."}`
	createSession = `,
"session":{"type":"string","description":"Name of a shell that is kept between calls: current folder, variables and functions stay. One command at a time."}`
	createEnd = `
},"required":["command"]}`

	outputInput = `{"type":"object","properties":{
"terminalId":{"type":"string"},
"offset":{"type":"integer","minimum":0,"description":"Read from this byte on, counted from the first one ever written; use nextOffset of the last result to go on. Default: the end of the output."},
"encoding":{"type":"string","enum":["text","base64"],"description":"base64 returns the exact bytes. Default: text."}
},"required":["terminalId"]}`

	waitInput = `{"type":"object","properties":{
"terminalId":{"type":"string"},
"timeoutMs":{"type":"integer","minimum":0,"description":"Return after so many milliseconds although the command still runs. Default: 50000."}
},"required":["terminalId"]}`

	terminalInput = `{"type":"object","properties":{"terminalId":{"type":"string"}},"required":["terminalId"]}`
)

// Output schemas spell null with anyOf, which every validator reads alike.
const (
	exitSchema = `{"type":"object","properties":{` +
		`"exitCode":{"anyOf":[{"type":"integer"},{"type":"null"}]},` +
		`"signal":{"anyOf":[{"type":"string"},{"type":"null"}]},` +
		`"reason":{"type":"string","description":"exited, killed, released, closed, timeout, limit, denied, fault or crashed"},` +
		`"detail":{"type":"string"}},"required":["exitCode","signal","reason"]}`
	exitStatus = `"exitStatus":{"anyOf":[` + exitSchema + `,{"type":"null"}],"description":"null while the command runs"}`

	createOutput = `{"type":"object","properties":{"terminalId":{"type":"string"},` +
		`"warnings":{"type":"array","items":{"type":"string"}}},"required":["terminalId"]}`

	outputOutput = `{"type":"object","properties":{"output":{"type":"string"},` +
		`"truncated":{"type":"boolean","description":"output does not start where was asked, or not at the first byte"},` +
		`"offset":{"type":"integer","description":"of the first byte of output"},` +
		`"nextOffset":{"type":"integer","description":"of the byte after output"},` +
		`"bytesWritten":{"type":"integer"},` +
		`"encoding":{"type":"string","enum":["text","base64"]},` +
		`"lossy":{"type":"boolean","description":"bytes that are no UTF-8 were replaced; encoding base64 has them"},` + exitStatus +
		`},"required":["output","truncated","offset","nextOffset","bytesWritten","encoding","lossy","exitStatus"]}`

	waitOutput = `{"type":"object","properties":{"running":{"type":"boolean"},` + exitStatus +
		`,"bytesWritten":{"type":"integer"},"hint":{"type":"string"}},"required":["running","exitStatus","bytesWritten"]}`

	killOutput    = `{"type":"object","properties":{` + exitStatus + `},"required":["exitStatus"]}`
	releaseOutput = `{"type":"object","properties":{"released":{"type":"boolean"}},"required":["released"]}`
)

// createSchema is the input of terminal_create.
func createSchema(shells bool) json.RawMessage {
	if shells {
		return schema(createInput + createSession + createEnd)
	}
	return schema(createInput + createEnd)
}

func schema(s string) json.RawMessage { return json.RawMessage(s) }
