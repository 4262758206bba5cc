package termhost

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/donax-sh/donax/policy"
)

// questionLife is how long something that a command does waits for a person.
const questionLife = 5 * time.Minute

// A Question is something that a running command is about to do and that the
// policy wants a person to confirm. The command waits for the answer.
type Question struct {
	Action   policy.Action
	Decision policy.Decision

	answer   chan policy.Approval
	answered atomic.Bool
}

// Answer answers the question. Only the first answer counts.
func (q *Question) Answer(a policy.Approval) {
	if !q.answered.Swap(true) {
		q.answer <- a
	}
}

// questions are those of one terminal.
type questions struct {
	mu   sync.Mutex
	open []*Question
	more chan struct{} // closed when one is added
}

// ask is a [policy.Approver]: it waits until somebody answers.
func (s *questions) ask(ctx context.Context, a policy.Action, d policy.Decision) (policy.Approval, error) {
	q := &Question{Action: a, Decision: d, answer: make(chan policy.Approval, 1)}
	s.mu.Lock()
	s.open = append(s.open, q)
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open = slices.DeleteFunc(s.open, func(o *Question) bool { return o == q })
		s.mu.Unlock()
	}()
	limit := time.NewTimer(questionLife)
	defer limit.Stop()
	select {
	case said := <-q.answer:
		return said, nil
	case <-limit.C:
		return policy.Refused, policy.ErrNobody
	case <-ctx.Done():
		return policy.Refused, ctx.Err()
	}
}

// Question returns what the command waits for, the oldest first, or nil, and a
// channel that is closed when there is something new.
func (t *Terminal) Question() (*Question, <-chan struct{}) {
	s := &t.questions
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.more == nil {
		s.more = make(chan struct{})
	}
	for _, q := range s.open {
		if !q.answered.Load() {
			return q, s.more
		}
	}
	return nil, s.more
}
