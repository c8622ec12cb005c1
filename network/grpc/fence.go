package grpc

import (
	"errors"
	"fmt"

	"dsbo"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A FencedError says that this agent runs in two processes, of which this one is to end:
// [Config.Instance] says which. The run goes on with the other one. It matches [dsbo.ErrConfig]: a
// supervisor that started this process again would have the two end each other in turn.
type FencedError struct {
	Agent     int
	Neighbour int // who says so
}

func (e *FencedError) Error() string {
	return fmt.Sprintf(
		"agent %d runs in another process too, which began later and is connected to agent %d: this one ends; an "+
			"agent must have one supervisor", e.Agent, e.Neighbour)
}

// Is reports whether target is dsbo.ErrConfig.
func (e *FencedError) Is(target error) bool { return target == dsbo.ErrConfig }

// errFenced ends the streams of an earlier process of a neighbour.
var errFenced = errors.New("a later process of the neighbour is connected")

// fencedCode tells a process which it is that is fenced.
const fencedCode = codes.FailedPrecondition

// refusalOf returns what the neighbour is told of the end of a stream that was accepted.
func refusalOf(err error) error {
	code := codes.Aborted
	if err == errFenced {
		code = fencedCode
	}
	return status.Error(code, err.Error())
}

// isFenced reports whether a process of the neighbour must not be connected: a later one is, and is
// not silent. One that is lost fences nobody, however its clock went.
func (e *edge) isFenced(instance uint64) bool {
	return e.session != nil && instance < e.instance && e.silence() < e.m.config.SilentAfter
}

// replace ends the stream, if there is one, as the neighbour's process of this instance
// opens another.
func (e *edge) replace(instance uint64) {
	if e.session != nil {
		reason := errReplaced
		if instance != e.instance {
			reason = errFenced
		}
		e.session.drop(reason)
	}
	e.instance = instance
}

// fence ends this agent's part, for this process alone, as a neighbour is connected to a later one.
func (l *links) fence(neighbour int) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.err == nil {
		l.m.err = &FencedError{Agent: l.m.config.Agent, Neighbour: neighbour}
		l.m.config.Log.Error("this process ends", "reason", l.m.err)
		l.m.flow.notifyWaiter()
	}
	l.stopDial()
}
