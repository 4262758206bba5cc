package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// denied maps builtins that policies do not get to the reason. A policy must
// not talk to anyone, see the server's own environment, answer by chance, or
// hang in code that never looks at the clock.
var denied = map[string]string{
	"http.send":               "a decision must not depend on, or leak to, the network",
	"net.lookup_ip_addr":      "a decision must not depend on, or leak to, the network",
	"opa.runtime":             "it shows the server's environment",
	"providers.aws.sign_req":  "it is for requests, which policies cannot send",
	"rand.intn":               "a decision must not depend on chance",
	"uuid.rfc4122":            "a decision must not depend on chance",
	"io.jwt.encode_sign":      "policies do not sign",
	"io.jwt.encode_sign_raw":  "policies do not sign",
	"bits.lsh":                "it cannot be cancelled and may run for minutes",
	"graph.reachable_paths":   "it cannot be cancelled and takes exponential time",
	"regex.globs_match":       "it cannot be cancelled and takes exponential time",
	"strings.render_template": "it cannot be cancelled; use sprintf",
	"rego.parse_module":       "it cannot be cancelled and parses text into rules",
	"json.match_schema":       "a $ref of its schema reads files of the server",
	"json.verify_schema":      "a $ref of its schema reads files of the server",
	"trace":                   "use print in tests, and donax policy explain",
}

func removed(name string) bool { return whyRemoved(name) != "" }

func whyRemoved(name string) string {
	if strings.HasPrefix(name, "graphql.") {
		return "it cannot be cancelled, and deep nesting could end the server"
	}
	return denied[name]
}

// newCapabilities returns what policies may use.
func newCapabilities() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool { return removed(b.Name) })
	// Not nil: nil would let json.match_schema fetch remote references from every host.
	c.AllowNet = []string{}
	// Rego v1 only.
	c.Features = slices.DeleteFunc(slices.Clone(c.Features), func(f string) bool { return strings.HasPrefix(f, "rego_v2") })
	return c
}
