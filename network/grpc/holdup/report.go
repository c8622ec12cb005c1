package holdup

import (
	"encoding/binary"
	"fmt"
	"time"
)

// An Activity is what an agent does.
type Activity uint8

// The activities.
const (
	Computing    Activity = iota // between two exchanges
	Saving                       // a file is written
	Exchanging                   // vectors of the neighbours are awaited
	AwaitingKeys                 // keys of masks are awaited
	Ending                       // the others' end is awaited
	activityEnd
)

// A Cause is why an agent holds up others. A larger cause is worse.
type Cause uint8

// The causes.
const (
	ByComputing   Cause = iota // it says that it computes, which takes the time that it takes
	BySaving                   // it says that a file is being written
	BySilence                  // nothing is received from it
	ByWithholding              // it is there and does not send what is due
	ByNoKey                    // its key has not come
	BySetbacks                 // it has this agent go back again and again
	causeEnd
)

func (c Cause) String() string {
	return [...]string{"it computes", "it writes a file", "it is silent", "it is there and does not send what is due",
		"the key of its masks has not come", "it has this agent go back again and again"}[c]
}

// A Report is what an agent says of itself with each heartbeat.
type Report struct {
	Doing  Activity
	Round  int // the next exchange, or the one under way
	Holder int // who holds up the sender, in the end; the sender itself if nobody does
	Cause  Cause
	Beyond int // as a Holdup has it
	Hops   int // by how many agents the sender knows that
}

// reportLength is the length of a report without its round, which its frame carries.
const reportLength = 10

// Encode returns the report without its round.
func (r Report) Encode() []byte {
	b := binary.LittleEndian.AppendUint16([]byte{byte(r.Doing), byte(r.Cause)}, uint16(r.Beyond))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Holder))
	return binary.LittleEndian.AppendUint16(b, uint16(r.Hops))
}

// ReadReport reads what Encode has written. An earlier version may send none.
func ReadReport(round int, text []byte) (r Report, ok bool) {
	if len(text) < reportLength || text[0] >= byte(activityEnd) || text[1] >= byte(causeEnd) {
		return r, false
	}
	return Report{Activity(text[0]), round, int(binary.LittleEndian.Uint32(text[4:])), Cause(text[1]),
		int(binary.LittleEndian.Uint16(text[2:])), int(binary.LittleEndian.Uint16(text[8:]))}, true
}

// A Holdup is what an exchange waits for.
type Holdup struct {
	Agent     int           // who holds it up
	Source    int           // the neighbour that says so; the agent itself, or -1 if this agent knows it of itself
	Exchange  int           // the exchange that waits
	Waiting   time.Duration // since it does
	Computing bool          // the agent says that it computes: all is well, but slow
	Reason    string        // Cause in words
	Cause     Cause         // of the wait
	// Beyond is 1 more than the number of the agent for which Agent says that it waits, where
	// another one has what is due from that agent: one of the two is at fault. 0: there is none.
	Beyond int
	Hops   int // by how many agents this one knows that
}

// IsWorse reports whether h is to be named rather than another holdup of the same agent, nil: than
// none.
func (h *Holdup) IsWorse(other *Holdup) bool {
	if other == nil || h.Cause != other.Cause {
		return other == nil || h.Cause > other.Cause
	}
	return h.Beyond == 0 && other.Beyond > 0
}

func (h *Holdup) String() string {
	s := fmt.Sprintf("exchange %d has waited for agent %d for %v: %s", h.Exchange, h.Agent,
		h.Waiting.Round(time.Second), h.Reason)
	if h.Source >= 0 && h.Source != h.Agent {
		s += fmt.Sprintf(", as agent %d says", h.Source)
	}
	if h.Beyond > 0 {
		s += fmt.Sprintf("; it says that it waits for agent %d, which has sent others what is due", h.Beyond-1)
	}
	return s
}
