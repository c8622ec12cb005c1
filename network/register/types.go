package register

import (
	"errors"
	"fmt"
	"time"

	"dsbo/network"
	"dsbo/network/membership"
)

// A Rule is what all agents of a run decide by.
type Rule struct {
	Run, Hash  string          // the run's name, and the hash of its settings
	Matrix     *network.Matrix // of the roster at the start
	Quorum     int             // more than half of the roster; 0: all of the roster
	FewMembers bool            // fewer than three members are allowed, of more at the start
	// LeastMembers is the least number of members with which this agent takes part; 0: FewMembers.
	LeastMembers int
	Masked       bool // sums are masked, so that fewer than three members must be allowed
	// Authority checks signatures; nil: there are no certificates, and so no admissions and
	// removals.
	Authority authority
}

// An authority checks what it has signed, or those have that it knows. An identity of package pki
// is one.
type authority interface {
	Verify(agent int, certificate, message, signature []byte, now time.Time) error
	Admission(text, run, hash string) (membership.Admission, error)
	Removal(text, run, hash string) (agent int, err error)
}

// Result is the iteration of a point that is the result of a run.
const Result = 1 << 30

// Start is the iteration of the point with which a run begins that has no checkpoint.
const Start = -1

// A Point is what a session may begin with: a checkpoint, or the result.
type Point struct {
	Epoch     uint64 `json:"epoch"`           // session that began its epoch; 0: the first epoch
	Iteration int    `json:"iteration"`       // iterations done; Result; Start: nothing is done
	Digest    string `json:"digest,omitzero"` // of the members' common state at the point; "":
	// unknown
}

// An Answer is an agent's promise, with all from which the next session follows.
type Answer struct {
	Agent    int               `json:"agent"`          // whose it is
	Number   uint64            `json:"number"`         // promised
	Last     uint64            `json:"last"`           // session that it has begun last
	Log      membership.Log    `json:"log"`            // of that session
	Points   []Point           `json:"points"`         // that it has
	Kept     map[string]string `json:"kept,omitempty"` // digests of what was found together, by name
	Links    []int             `json:"links"`          // neighbours that it is connected to, ascending
	Slow     []int             `json:"slow,omitempty"` // neighbours for which the session before was ended as slow
	Key      []byte            `json:"key"`            // public key of its masks, drawn for this number
	Data     string            `json:"data"`           // tag of its data ([DataTag])
	Tags     map[int]string    `json:"tags,omitempty"` // of the agents' data in the sessions so far, by agent
	Instance uint64            `json:"instance"`       // of its process
	Time     time.Time         `json:"time"`           // in UTC
	// Admission and Removals are texts that others may not know.
	Admission string         `json:"admission,omitzero"` // its own
	Removals  map[int]string `json:"removals,omitempty"` // by agent
	// Certificate and Signature are empty where there are no certificates.
	Certificate []byte `json:"certificate,omitempty"` // in DER, with intermediate ones
	Signature   []byte `json:"signature,omitempty"`   // of all else
}

// A Session is what follows from the answers of a quorum.
type Session struct {
	Number   uint64           // of the proposal
	ID       [32]byte         // digest of all from which it follows
	Epoch    membership.Epoch // members, edges of admissions, and cuts
	Entering []int            // members that lack what it begins with, ascending
	Begin    Point            // which the members load
	Log      membership.Log   // with a line of its own, if it has one

	Kept      map[string]string // what all members have alike
	Keys      [][]byte          // public keys of masks, by position
	Instances map[int]uint64    // of the members' processes
	Tags      map[int]string    // of the agents' data
	Removals  map[int]string    // texts, by agent
	Refused   map[int]string    // why agents that have answered must not take part, by agent
}

// A WaitError is the reason why no session can begin yet.
type WaitError struct{ Why string }

func (e *WaitError) Error() string { return e.Why }

func waitErrorf(format string, args ...any) error { return &WaitError{fmt.Sprintf(format, args...)} }

// A RefusedError is the reason why no session can begin: an agent that the quorum needs must not
// take part in its present state.
type RefusedError struct {
	Agent int
	Why   string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("agent %d is refused: %s", e.Agent, e.Why) }

// ErrLost is the error of [Decide] if all agents are present and none has a state to resume.
var ErrLost = errors.New("nobody has a state to go on with: begin the run anew")

// A Store is an agent's folder, as sessions need it. All its methods may block on a disk; none is
// called while another one runs.
type Store interface {
	// Register returns what SaveRegister was given last, the zero value if there is nothing.
	Register() (State, error)
	// SaveRegister keeps a state, whole or not at all, before it returns.
	SaveRegister(State) error
	// Points returns the checkpoints that the agent has, and the result as one.
	Points() ([]Point, error)
	// Kept returns digests of what the agent has found together with the others outside of
	// iterations, by name.
	Kept() (map[string]string, error)
	// Handover returns the state for an agent that begins at a point without having it. It is at
	// most 1 GiB, and reveals nothing of this agent's data but the common state.
	Handover(p Point) ([]byte, error)
}

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
