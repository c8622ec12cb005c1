package session

import (
	"context"
	"fmt"
	"time"

	"dsbo/network/membership"
	"dsbo/network/register"
)

// TODO: this file goes; it is what others may rely on until the package is there.

// Open starts an agent: it connects to its neighbours and meets the others. Close ends it.
func Open(c Config) (*Agent, error) { panic("todo") }

// An Agent is one that meets the others and takes part in sessions.
type Agent struct{}

// Next ends the session before, if it has not ended, and waits for the next one in which this agent
// takes part. It returns ErrFinal once the result is known to be final (in this process or, by the
// register, in one before): then Linger is due. Other errors end the agent's run: *FencedError,
// network.ErrSilent (a meeting that leads to nothing for PeerTimeout), ErrConfig (this agent is refused, or
// has lost its folder under Noisy), *network.EndedError (another agent has ended the run for all with Fail).
func (a *Agent) Next(ctx context.Context) (*Session, error) { panic("todo") }

// Linger tells the others that the result is final until all members know, or AbsentAfter.
func (a *Agent) Linger(ctx context.Context) error { panic("todo") }

// Fail ends the run for all agents because of err (as network.Team's does).
func (a *Agent) Fail(err error) { panic("todo") }

// Close ends the agent's part.
func (a *Agent) Close() error { panic("todo") }

// ErrFinal is what Next returns once a quorum has the result.
var ErrFinal = fmt.Errorf("the result is final")

// An Over says that a session has ended; the run goes on in the next one.
type Over struct {
	Session uint64
	Agent   int // whose word it is, or who is to blame
	Why     string
}

func (o *Over) Error() string { return fmt.Sprintf("session %d is over: %s", o.Session, o.Why) }

// A Session is one chain of exchanges among some members, as one of them sees it. It is the
// [network.Team] of that agent: Local, Mixer, Gather, Fail; its mixer is a network.JointReducer,
// network.Binder and dsbo.CombiningMixer; and it is a network.Saver and a network.Waiter.
// Every method that exchanges returns an [*Over] (wrapped) once the session has ended.
type Session struct {
	Decision register.Session  // what the members have decided: Number, ID, Log, Begin, Epoch, Entering
	Kept     map[string]string // of Store.Kept, what all members have with the same digest
}

// Epoch returns the members and where they began.
func (s *Session) Epoch() membership.Epoch { panic("todo") }

// Enters reports whether this agent lacks what the session begins with, and takes it over in Join.
func (s *Session) Enters() bool { panic("todo") }

// Join hands over what members that enter lack, and waits until all members have begun the session.
// keep is called, before that, in an agent that enters: with what it takes over, which must be on its
// disk when keep returns. No exchange comes before.
func (s *Session) Join(ctx context.Context, keep func(given []byte) error) error { panic("todo") }

// Save writes a file on which the run depends (a checkpoint, a kept result, the result) by write,
// only while this session has not ended for this agent, and then waits until all members have called Save too.
// It ends the session (an *Over), with the file written, where an agent waits to come in.
func (s *Session) Save(ctx context.Context, write func() error) error { panic("todo") }

// Finish waits until all members have the result on their disks, and makes it final. After nil,
// Linger is due.
func (s *Session) Finish(ctx context.Context) error { panic("todo") }

var _ = time.Second
