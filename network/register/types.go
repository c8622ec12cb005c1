// Package register decides which session is next. It is pure: values in, values out.
package register

import (
	"time"

	"dsbo/network"
	"dsbo/network/membership"
)

// A Rule is what all agents of a run decide by.
type Rule struct {
	Run, Hash  string
	Matrix     *network.Matrix // of the roster at the start
	Quorum     int             // 0: all of the roster
	FewMembers bool            // fewer than three members are allowed
	Masked     bool            // sums are masked, so that fewer than three members must be allowed
}

// Result is the iteration of a point that is the result of a run.
const Result = 1 << 30

// Start is the iteration of the point with which a run begins that has no checkpoint.
const Start = -1

// A Point is what a session may begin with: a checkpoint, or the result.
type Point struct {
	Epoch     uint64 `json:"epoch"`           // session that began its epoch; 0: the first epoch
	Iteration int    `json:"iteration"`       // iterations done; Result; Start: nothing is done
	Digest    string `json:"digest,omitzero"` // of what all members have alike at the point (scales); "": not told
}

// A State is what an agent has on its disk.
type State struct {
	Identity string         `json:"identity"` // of the run and the agent
	Promised uint64         `json:"promised"` // it takes part in no session below
	Last     uint64         `json:"last"`     // session that it has begun last
	Log      membership.Log `json:"log"`      // of that session
	Final    bool           `json:"final"`    // a quorum has the result
	Attempts Attempts       `json:"attempts"`
	Data     map[int]string `json:"data,omitempty"`     // tags of the agents' data, by agent, of the first session
	Admitted map[int]string `json:"admitted,omitempty"` // admissions, by agent
	Removed  map[int]string `json:"removed,omitempty"`  // removals, by agent
}

// Attempts are sessions that began at one point in which no agent's process had changed.
type Attempts struct {
	At        Point          `json:"at"`
	Instances map[int]uint64 `json:"instances"`
	Count     int            `json:"count"`
	Left      map[int]int    `json:"left,omitempty"` // how often a member has left at this point
}

// An Answer is an agent's promise, with all from which the next session follows.
type Answer struct {
	Agent    int               `json:"agent"`
	Number   uint64            `json:"number"` // promised
	Last     uint64            `json:"last"`
	Log      membership.Log    `json:"log"`
	Points   []Point           `json:"points"`
	Kept     map[string]string `json:"kept,omitempty"`
	Links    []int             `json:"links"`          // neighbours that it is connected to
	Slow     []int             `json:"slow,omitempty"` // neighbours for which the session before was ended as slow
	Key      []byte            `json:"key"`            // public key of its masks, drawn for this number
	Data     string            `json:"data"`           // tag of its data
	Seconds  float64           `json:"seconds"`        // an iteration
	Instance uint64            `json:"instance"`
	Time     time.Time         `json:"time"`
	// Admission and Removals are texts that others may not know.
	Admission string         `json:"admission,omitzero"`
	Removals  map[int]string `json:"removals,omitempty"`
	// Certificate and Signature are empty where there are no certificates.
	Certificate []byte `json:"certificate,omitempty"`
	Signature   []byte `json:"signature,omitempty"`
}

// A Session is what follows from the answers of a quorum.
type Session struct {
	Number   uint64
	ID       [32]byte
	Epoch    membership.Epoch // members, and cuts
	Entering []int            // members that lack what it begins with
	Begin    Point
	Log      membership.Log // with a line of its own, if it has one
	Kept     map[string]string
}
