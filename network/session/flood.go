package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"

	"dsbo/internal/wording"
	"dsbo/network/membership"
	"dsbo/network/register"
)

// A subject is the kind of a message to all agents.
type subject string

// The subjects of messages.
const (
	isHere   subject = "here"    // an agent that is in no session, or was left out, is there
	proposes subject = "propose" // a number for the next session
	answers  subject = "answer"  // a promise
	begins   subject = "begin"   // the answers of all from which the session follows
	ends     subject = "end"     // a session is over, for all
	final    subject = "final"   // a quorum has the result
	fails    subject = "fail"    // the run is over, for all
)

// A message goes to all agents, from neighbour to neighbour.
type message struct {
	Subject  subject `json:"subject"`         // its kind
	From     int     `json:"from"`            // the sender
	Instance uint64  `json:"instance"`        // of the sender's process
	Count    uint64  `json:"count"`           // of the messages of that process, from 1 on
	Number   uint64  `json:"number,omitzero"` // of a session
	Links    []int   `json:"links,omitempty"` // of isHere: neighbours that it is connected to
	Busy     bool    `json:"busy,omitzero"`   // of isHere: it computes still, for a session that is over
	Lacks    bool    `json:"lacks,omitzero"`  // of isHere: it knows that the result is final, and lacks it

	Admission string         `json:"admission,omitzero"` // of isHere: the sender's, see Config
	Removals  map[int]string `json:"removals,omitempty"` // of isHere: that the sender knows, by agent

	Answer  *register.Answer `json:"answer,omitempty"` // of answers
	Answers answerList       `json:"all,omitzero"`     // of begins
	Why     string           `json:"why,omitzero"`     // of ends and fails
	Agent   int              `json:"agent,omitzero"`   // of ends: because of whom, plus 1
	Slow    bool             `json:"slow,omitzero"`    // of ends: as an agent computed for too long
	Known   bool             `json:"known,omitzero"`   // of final: that all members know it
	Kind    int              `json:"kind,omitzero"`    // of fails: of the error, see network.Kind

	text []byte // as it came, and is passed on; nil of this agent's own
}

// maxWhy bounds a reason.
const maxWhy = 1000

func (m message) frame() []byte {
	text := m.text
	if text == nil {
		var err error
		if text, err = json.Marshal(m); err != nil {
			panic(err) // numbers and texts alone
		}
	}
	return append(newFrame(frame{kind: kindFlood}, len(text)), text...)
}

// parseMessage reads a message, which may be from any agent. A message that the cases of
// [Agent.receive] could not use is an error.
func parseMessage(text []byte) (m message, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("a message must be JSON: %w", err)
	}
	m.text = text
	switch {
	case m.From < 0 || m.From >= membership.MaxAgents:
		return m, fmt.Errorf("the sender of a message must be an agent, 0 to %d; it is %d", membership.MaxAgents-1,
			m.From)
	case m.Number > 1<<62:
		return m, fmt.Errorf("the number of a session must be at most 2^62; it is %d", m.Number)
	case len(m.Why) > maxWhy || !wording.Printable(m.Why):
		return m, fmt.Errorf("a reason must be printable and have at most %d bytes", maxWhy)
	case m.Subject == answers && m.Answer == nil:
		return m, errors.New("an answer must have one")
	case m.Subject == ends && m.Agent < 1:
		return m, errors.New("the end of a session must name an agent")
	}
	return m, nil
}

// A route forwards messages: each once, of the newest process of its sender alone, and at most
// mostMessages of an agent in a heartbeat.
type route struct {
	agent    int // whose it is
	instance uint64
	count    uint64 // of this agent's messages
	senders  map[int]*sender
	seed     maphash.Seed         // of texts
	texts    [seenMessages]uint64 // hashes of messages passed on, each at its place: most come again
}

// A sender is the process of an agent whose messages are passed on.
type sender struct {
	instance uint64
	highest  uint64               // of its counts
	seen     [seenMessages]uint64 // the last ones, each at its place
	inBeat   int                  // messages since the last heartbeat
}

const (
	// mostMessages is the number of an agent's messages that are forwarded in a heartbeat.
	mostMessages = 100
	// seenMessages is the number of a sender's counts that are remembered.
	seenMessages = 4 * mostMessages
)

// stamp returns a message of this agent as it goes to all.
func (r *route) stamp(m message) message {
	r.count++
	m.From, m.Instance, m.Count = r.agent, r.instance, r.count
	return m
}

// isKnown reports whether a message with this text was passed on. false may be wrong.
func (r *route) isKnown(text []byte) bool {
	hash := maphash.Bytes(r.seed, text)
	return r.texts[hash%seenMessages] == hash
}

// note records the text of a message that is passed on.
func (r *route) note(text []byte) {
	hash := maphash.Bytes(r.seed, text)
	r.texts[hash%seenMessages] = hash
}

// isNew reports whether a message is to be passed on, and counts it: it has not come before, is of
// the newest process of its sender, and not one too many of a heartbeat. Counts so far below the
// highest that their places are taken count as seen.
func (r *route) isNew(m message) bool {
	if r.senders == nil {
		r.senders = map[int]*sender{}
	}
	s := r.senders[m.From]
	if s == nil {
		s = &sender{instance: m.Instance}
		r.senders[m.From] = s
	}
	if m.Instance > s.instance { // its counts begin anew; its share of the heartbeat does not
		*s = sender{instance: m.Instance, inBeat: s.inBeat}
	}
	place := &s.seen[m.Count%seenMessages]
	if m.Instance < s.instance || *place == m.Count || m.Count+seenMessages <= s.highest || s.inBeat >= mostMessages {
		return false
	}
	s.inBeat++
	s.highest, *place = max(s.highest, m.Count), m.Count
	return true
}

func (r *route) beat() {
	for _, s := range r.senders {
		s.inBeat = 0
	}
}

// An answerList is all agents' answers that determine a session. Each membership log, and each
// table of tags, is sent once: most agents' are equal, and many copies would be longer than a
// frame.
type answerList []register.Answer

// A packedList is an answerList as it travels.
type packedList struct {
	Logs    []membership.Log `json:"logs"`
	Tags    []map[int]string `json:"tags"`
	Answers []packedAnswer   `json:"answers"`
}

// A packedAnswer is an answer without its log and its tags.
type packedAnswer struct {
	register.Answer
	Log  int `json:"log"`  // its place in Logs
	Tags int `json:"tags"` // its place in Tags
}

// MarshalJSON implements [json.Marshaler].
func (all answerList) MarshalJSON() ([]byte, error) {
	var p packedList
	logs, tags := map[string]int{}, map[string]int{}
	for _, a := range all {
		b := packedAnswer{Answer: a, Log: placeOf(logs, a.Log, &p.Logs), Tags: placeOf(tags, a.Tags, &p.Tags)}
		b.Answer.Log, b.Answer.Tags = nil, nil
		p.Answers = append(p.Answers, b)
	}
	return json.Marshal(p)
}

// placeOf returns the place of a value in a list, and appends it if it is missing.
func placeOf[T any](places map[string]int, value T, list *[]T) int {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // numbers and texts alone
	}
	place, known := places[string(text)]
	if !known {
		place = len(*list)
		places[string(text)] = place
		*list = append(*list, value)
	}
	return place
}

// UnmarshalJSON implements [json.Unmarshaler]. Answers share the parts that are sent once.
func (all *answerList) UnmarshalJSON(text []byte) error {
	var p packedList
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	for _, b := range p.Answers {
		if b.Log < 0 || b.Log >= len(p.Logs) || b.Tags < 0 || b.Tags >= len(p.Tags) {
			return fmt.Errorf("the log and the tags of an answer must be among %d and %d; they are %d and %d",
				len(p.Logs), len(p.Tags), b.Log, b.Tags)
		}
		b.Answer.Log, b.Answer.Tags = p.Logs[b.Log], p.Tags[b.Tags]
		*all = append(*all, b.Answer)
	}
	return nil
}
