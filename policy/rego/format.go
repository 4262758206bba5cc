package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
)

// Format returns text in the canonical layout of Rego. The error of text that
// does not parse is a [*LoadError]; name is only for it.
func Format(name string, text []byte) ([]byte, error) {
	out, err := format.SourceWithOpts(name, text, format.Opts{
		RegoVersion:   ast.RegoV1,
		ParserOptions: &ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true, Capabilities: newCapabilities()},
	})
	if err != nil {
		return nil, &LoadError{Problems: texts{name: string(text)}.fromAST(err)}
	}
	return out, nil
}
