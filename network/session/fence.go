package session

import (
	"errors"
	"fmt"

	"dsbo"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A fencedError is the error of an agent's process when a later process of the same agent exists,
// by [Config.Instance]. The run continues with the later one. It matches [dsbo.ErrConfig]: a
// supervisor that restarted this process would have the two end each other in turn.
type fencedError struct {
	Agent     int
	Neighbour int // whose word it is
}

func (e *fencedError) Error() string {
	return fmt.Sprintf(
		"agent %d runs in another process too, which began later and is connected to agent %d: this one ends; an "+
			"agent must have one supervisor", e.Agent, e.Neighbour)
}

// Is reports whether target is dsbo.ErrConfig.
func (e *fencedError) Is(target error) bool { return target == dsbo.ErrConfig }

// errFenced is the error by which a host refuses, and ends, the connections of an earlier process
// of a neighbour: that process then gets a [fencedError].
var errFenced = errors.New("a later process of the neighbour is connected")

// Codes of the status by which a process learns why it is not connected.
const (
	fencedCode  = codes.FailedPrecondition // a later process of its agent is
	strangeCode = codes.InvalidArgument    // its settings or its program differ
	refusedCode = codes.PermissionDenied   // for another reason
)

// statusOf returns the status by which a neighbour learns why its stream ends: it was accepted or,
// by refusedCode, was not.
func statusOf(err error, otherwise codes.Code) error {
	code := otherwise
	if _, strange := errors.AsType[*settingsError](err); strange {
		code = strangeCode
	}
	if errors.Is(err, errFenced) {
		code = fencedCode
	}
	return status.Error(code, err.Error())
}

// readRefusal returns why the connection to a neighbour ended, as the neighbour has it.
func (l *links) readRefusal(neighbour int, err error) error {
	s, ok := status.FromError(err)
	if !ok || s == nil {
		return err
	}
	switch s.Code() {
	case fencedCode:
		return &fencedError{Agent: l.config.Agent, Neighbour: neighbour}
	case strangeCode:
		return &settingsError{errors.New(s.Message())}
	case refusedCode:
		return errors.New(s.Message())
	case codes.Unimplemented:
		return &settingsError{fmt.Errorf("agent %d exchanges by another protocol than agent %d: all agents must have "+
			"the same program", neighbour, l.config.Agent)}
	}
	return err
}
