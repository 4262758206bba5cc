package client

import (
	"encoding/json"
	"strings"
)

// Result is what a tool answered.
type Result struct {
	Content    []Content
	Structured json.RawMessage // structuredContent as it came; nil when there is none
	IsError    bool            // the tool itself reports a failure; the text says why
}

// Content is one block of a result.
type Content struct {
	Kind            Kind
	Text            string // of a Text
	URI, Name, MIME string // of the others, where they have them
	Data            []byte // of an Image, Audio or Resource
}

// Kind says what a block of a result is.
type Kind string

// The kinds of content. A block of a kind that is not known arrives as Text,
// as JSON.
const (
	Text     Kind = "text"
	Image    Kind = "image"
	Audio    Kind = "audio"
	Resource Kind = "resource"      // contents of a resource, text too
	Link     Kind = "resource_link" // only its address
)

// Text returns the text blocks, joined by newlines.
func (r Result) Text() string {
	var texts []string
	for _, b := range r.Content {
		if b.Kind == Text {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
