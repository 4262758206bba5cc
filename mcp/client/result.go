package client

import "encoding/json"

// Result is what a tool answered.
type Result struct {
	Content    []Content
	Text       string          // the text blocks, joined by newlines
	JSON       json.RawMessage // structuredContent as it came; nil when there is none
	Structured map[string]any  // and decoded, when it is an object of at most 256 KiB
	IsError    bool            // the tool itself reports a failure; the text says why
}

// maxDecoded is up to which size structuredContent is decoded.
const maxDecoded = 256 << 10

// Content is one block of a result.
type Content struct {
	Kind            Kind
	Text            string // of a text block
	URI, Name, MIME string // of the others, where they have them
	Data            []byte // of an Image, Audio or Resource
}

// Kind says what a block of a result is.
type Kind string

// The kinds of content. A block of a kind that is not known arrives as text,
// as JSON.
const (
	Text     Kind = "text"
	Image    Kind = "image"
	Audio    Kind = "audio"
	Resource Kind = "resource"      // contents of a resource, text too
	Link     Kind = "resource_link" // only its address
)
