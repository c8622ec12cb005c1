package register

import (
	"errors"
	"fmt"
)

// ErrFinal is what an agent finds in place of a next session once a quorum has the result, and it
// too.
var ErrFinal = errors.New("the result is final")

// An Over is the notice that a session has ended. The run continues with the next one.
type Over struct {
	Session uint64 // its number
	Agent   int    // because of whom
	Why     string
	Slow    bool  // as an agent computed for too long
	Cause   error // of this agent's process; nil: Why is all that is known
}

func (o *Over) Error() string {
	return fmt.Sprintf("session %d is over because of agent %d: %s", o.Session, o.Agent, o.Why)
}

// Unwrap returns the cause.
func (o *Over) Unwrap() error { return o.Cause }
