package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	approvalKey  = "approval" // names the question in a result and its answer in the next call
	approvalLife = 5 * time.Minute
)

// askError carries a question to the client. A tool returns it as it came
// from [Call.Ask].
type askError struct {
	question string
	state    string
}

func isQuestion(err error) bool {
	var e *askError
	return errors.As(err, &e)
}

func (e *askError) Error() string { return "a person must approve this first" }

var (
	errRefused = errors.New("refused: the person who was asked did not agree")
	errStale   = errors.New("the approval does not fit this call, was used already, or came too late; call again to be asked again")
	errMute    = errors.New("this needs a person's approval, and this client cannot ask one")
)

// Ask asks the person at the client whether the call may go on. It returns
// nil when that person has agreed, to this question and these arguments, at
// most five minutes ago and for no other call. Any other error is what the
// tool must return: it may be the question on its way.
//
// A tool calls Ask before it has done anything: once the person has
// answered, the tool is called again from its start.
func (c *Call) Ask(_ context.Context, question string) error {
	bound := binding{who: userID(c.Subject.Principal), tool: c.tool, args: c.Arguments, question: question}
	if answer, ok := c.answers[approvalKey]; ok {
		if !c.approvals.take(c.state, bound, time.Now()) {
			return errStale
		}
		if r, ok := answer.(*sdk.ElicitResult); !ok || r.Action != "accept" { // decline, cancel, and whatever comes one day
			return errRefused
		}
		return nil
	}
	if !c.canAsk {
		return errMute
	}
	return &askError{question, c.approvals.seal(bound, time.Now())}
}

// result is the result that puts the question to the client. The SDK turns
// it into an elicitation where the client's era knows no such result.
func (e *askError) result() *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Content: []sdk.Content{},
		InputRequests: sdk.InputRequestMap{approvalKey: &sdk.ElicitParams{
			Mode: "form", Message: e.question, RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
		}},
		RequestState: e.state,
	}
}

// binding is what an approval is for.
type binding struct {
	who, tool string
	args      []byte
	question  string
}

// approvals seals and checks the state that a client carries between the
// question and the answer. Nothing that a client sends is taken for an
// approval without it.
type approvals struct {
	key [32]byte

	mu   sync.Mutex
	used map[string]time.Time // nonces by when they expire anyway
}

func newApprovals() *approvals {
	a := &approvals{used: map[string]time.Time{}}
	_, _ = rand.Read(a.key[:]) // never fails: the runtime ends the process instead
	return a
}

func (a *approvals) sum(b binding, nonce string, expires int64) []byte {
	m := hmac.New(sha256.New, a.key[:])
	for _, f := range [][]byte{[]byte(b.who), []byte(b.tool), b.args, []byte(b.question), []byte(nonce), binary.BigEndian.AppendUint64(nil, uint64(expires))} {
		m.Write(binary.BigEndian.AppendUint64(nil, uint64(len(f)))) // or two fields could be cut elsewhere
		m.Write(f)
	}
	return m.Sum(nil)
}

func (a *approvals) seal(b binding, now time.Time) string {
	nonce, expires := rand.Text(), now.Add(approvalLife).Unix()
	return fmt.Sprintf("%s.%d.%s", nonce, expires, base64.RawURLEncoding.EncodeToString(a.sum(b, nonce, expires)))
}

// take reports whether state was sealed for b, has not expired and was not
// taken before.
func (a *approvals) take(state string, b binding, now time.Time) bool {
	parts := strings.Split(state, ".")
	if len(parts) != 3 {
		return false
	}
	expires, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return false
	}
	sum, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(sum, a.sum(b, parts[0], expires)) || now.Unix() > expires {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for n, t := range a.used {
		if now.After(t) {
			delete(a.used, n)
		}
	}
	if _, again := a.used[parts[0]]; again {
		return false
	}
	a.used[parts[0]] = now.Add(approvalLife + time.Second)
	return true
}
