package grpc

import (
	"errors"
	"fmt"
	"time"

	"dsbo/network"
)

// ErrConflict marks an exchange that was sent twice with different numbers: a run whose agents do not repeat
// themselves to the bit cannot be resumed.
var ErrConflict = errors.New("an exchange was repeated with other numbers")

// An UnprotectedError is the refusal of connections to other machines that have no certificates.
type UnprotectedError struct {
	Reason string // whose connections they are
}

func (e *UnprotectedError) Error() string { return e.Reason + ": Identity or Insecure must be set" }

// A SilentError names a neighbour of which nothing was heard. It matches [network.ErrSilent].
type SilentError struct {
	Agent  int
	Silent time.Duration
	Last   error // what ended the last connection or attempt; nil if there was none
}

func (e *SilentError) Error() string {
	s := fmt.Sprintf("agent %d has been silent for %v", e.Agent, e.Silent)
	if e.Last != nil {
		s += ": " + e.Last.Error()
	}
	return s
}

// Is reports whether target is network.ErrSilent.
func (e *SilentError) Is(target error) bool { return target == network.ErrSilent }

// Unwrap returns e.Last.
func (e *SilentError) Unwrap() error { return e.Last }

// An EndedError is another agent's reason for ending the run. It matches [network.ErrEnded] and the kind of
// that agent's error, if it is one that keeps its identity; [network.Kind] says which.
type EndedError struct {
	Agent  int
	Reason string
	kind   int // see network.Kind
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("agent %d ended the run: %s", e.Agent, e.Reason)
}

// Is reports whether target is network.ErrEnded.
func (e *EndedError) Is(target error) bool { return target == network.ErrEnded }

// Unwrap returns the kind of the other agent's error, nil if it is none of those that travel.
func (e *EndedError) Unwrap() error { return network.ErrorOfKind(e.kind) }
