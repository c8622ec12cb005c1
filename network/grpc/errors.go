package grpc

import (
	"errors"
	"fmt"
	"time"
)

// Kinds of failure of an exchange, for errors.Is.
var (
	// ErrConflict marks an exchange that was sent twice with different numbers: a run whose agents
	// do not repeat themselves to the bit cannot be resumed.
	ErrConflict = errors.New("an exchange was repeated with other numbers")
	// ErrSilent marks the end of a run because a neighbour was silent for too long. The error is a [*SilentError].
	ErrSilent = errors.New("silent for too long")
	// ErrEnded marks the end of a run because of another agent's error. The error is an [*EndedError].
	ErrEnded = errors.New("another agent ended the run")
)

// A SilentError names a neighbour of which nothing was heard. It matches [ErrSilent].
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

// Is reports whether target is ErrSilent.
func (e *SilentError) Is(target error) bool { return target == ErrSilent }

// Unwrap returns e.Last.
func (e *SilentError) Unwrap() error { return e.Last }

// An EndedError is another agent's reason for ending the run. It matches [ErrEnded].
type EndedError struct {
	Agent  int
	Reason string
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("agent %d ended the run: %s", e.Agent, e.Reason)
}

// Is reports whether target is ErrEnded.
func (e *EndedError) Is(target error) bool { return target == ErrEnded }
