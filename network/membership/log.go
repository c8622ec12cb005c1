package membership

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/wording"
)

// MaxAgents bounds the numbers of agents in a log.
const MaxAgents = 1024

// LargestRoster returns how many agents a run may have at most, of which any two quorums have one
// in common; 0 where the members stay the same.
func LargestRoster(quorum int) int { return max(0, 2*quorum-1) }

// maxLine bounds the bytes of a line: all edges between a few hundred agents fit.
const maxLine = 1 << 20

// A Change is the beginning of an epoch, one line of a membership log.
type Change struct {
	Epoch     int `json:"epoch" must:"a whole number"`     // 1, 2, ...
	Iteration int `json:"iteration" must:"a whole number"` // iterations done when it begins
	// Session is the number of the session that begins the epoch, and ID its name, 64 hexadecimal
	// digits, from which the epoch's moves follow: nobody knows it before the epoch begins. Logs of
	// older runs have neither.
	Session uint64 `json:"session,omitzero" must:"a whole number"`
	ID      string `json:"id,omitzero" must:"a text"`                     // of the session
	Members []int  `json:"members" must:"numbers of agents, [0, 1, ...]"` // ascending
	// Lost are the members that were members before too, but have lost what they would begin with:
	// they begin as members that come in do. Ascending.
	Lost []int `json:"lost,omitempty" must:"numbers of agents, [0, 1, ...]"`
	// Slow are members of the epoch before that are left out because all waited too long for what
	// they computed. Ascending.
	Slow []int `json:"slow,omitempty" must:"numbers of agents, [0, 1, ...]"`
	// Edges are what admitted agents add to the roster's graph, each [i, j] with i < j, ascending.
	// An agent that no epoch had before and that is not of the roster at the start must have one.
	Edges Edges `json:"edges,omitempty" must:"pairs of agents, [[0, 1], ...]"`
	// Cut are edges between members that are not used, each [i, j] with i < j, ascending.
	Cut      Edges    `json:"cut,omitempty" must:"pairs of agents, [[0, 1], ...]"`
	Proposer int      `json:"proposer" must:"the number of an agent"` // who proposed the change
	Time     string   `json:"time,omitzero" must:"a time"`            // of the proposer, RFC 3339 in UTC
	Why      []string `json:"why,omitempty" must:"a list of texts"`   // a sentence for each reason
	// Removed are agents that the operators take out of the roster with this change, for good.
	// Ascending.
	Removed []int `json:"removed,omitempty" must:"numbers of agents, [0, 1, ...]"`
}

// Edges are pairs of agents.
type Edges [][2]int

// UnmarshalJSON reads pairs; encoding/json on its own would take lists of other lengths for pairs.
func (e *Edges) UnmarshalJSON(data []byte) error {
	var lists [][]int
	if err := json.Unmarshal(data, &lists); err != nil {
		return err
	}
	*e = nil
	for _, list := range lists {
		if len(list) != 2 {
			return fmt.Errorf("an edge must have 2 ends; %v has %d", list, len(list))
		}
		*e = append(*e, [2]int(list))
	}
	return nil
}

// A line is what a line of a log may have: a change, and what older runs wrote beside it, on which
// no number depends.
type line struct {
	Change
	Round json.RawMessage `json:"round" must:"a whole number"`
	Liars json.RawMessage `json:"liars" must:"pairs of votes"`
	Proof json.RawMessage `json:"proof" must:"votes"`
}

// A Log is the changes of a run, in their order.
type Log []Change

// Parse reads a log, one change a line. A last line without its end, which a crash leaves, is not
// counted. All other faults that a log shows by itself are errors that name the line and match
// dsbo.ErrConfig; [Log.Validate] finds those that depend on the run.
func Parse(name string, from io.Reader) (Log, error) {
	var l Log
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	lines.Split(func(data []byte, _ bool) (advance int, line []byte, err error) { // drops a last line without end
		if advance = bytes.IndexByte(data, '\n') + 1; advance > 0 {
			line = data[:advance]
		}
		return advance, line, nil
	})
	for lines.Scan() {
		var found line
		if err := files.StrictJSON(lines.Bytes(), &found); err != nil {
			return nil, dsbo.ConfigErrorf("%s, line %d: %w", name, len(l)+1, err)
		}
		c := found.Change
		if err := l.successorError(c); err != nil {
			return nil, dsbo.ConfigErrorf("%s, line %d: %w", name, len(l)+1, err)
		}
		l = append(l, c)
	}
	switch err := lines.Err(); {
	case err == bufio.ErrTooLong:
		return nil, dsbo.ConfigErrorf("%s, line %d: it must have at most %d bytes", name, len(l)+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("%s, line %d: %w", name, len(l)+1, err)
	}
	return l, nil
}

// Bytes returns the log's lines, as [Parse] reads them: the same log has the same bytes.
func (l Log) Bytes() []byte {
	var lines []byte
	for _, c := range l {
		line, err := json.Marshal(c)
		if err != nil {
			panic(err) // numbers and texts alone
		}
		lines = append(append(lines, line...), '\n')
	}
	return lines
}

// successorError returns what is wrong with c by itself and after the changes of l.
func (l Log) successorError(c Change) error {
	var before Change
	if len(l) > 0 {
		before = l[len(l)-1]
	}
	switch {
	case c.Epoch != len(l)+1:
		return fmt.Errorf("epochs must be 1, 2, ... in order; %d follows %d", c.Epoch, len(l))
	case c.Iteration < before.Iteration:
		return fmt.Errorf("epoch %d must not begin before epoch %d, at iteration %d; it begins at %d", c.Epoch,
			before.Epoch, before.Iteration, c.Iteration)
	case c.Session <= before.Session && (c.Session > 0 || before.Session > 0): // logs of older runs have none
		return fmt.Errorf("epoch %d must begin with a session after %d, with which epoch %d begins; it begins with %d",
			c.Epoch, before.Session, before.Epoch, c.Session)
	case !c.isNamed():
		return fmt.Errorf("the id of a session must have %d hexadecimal digits, and none without a session; "+
			"session %d has %+q", 2*idLength, c.Session, c.ID)
	case len(c.Members) == 0:
		return fmt.Errorf("epoch %d must have members", c.Epoch)
	case c.Proposer < 0 || c.Proposer >= MaxAgents:
		return fmt.Errorf("the proposer must be an agent, 0 to %d; it is %d", MaxAgents-1, c.Proposer)
	}
	isAgent := func(m int) bool { return m >= 0 && m < MaxAgents }
	isOther := func(m int) bool { return isAgent(m) && !c.has(m) }
	if err := cmp.Or(
		checkAscending(c.Members, isAgent, "the members of epoch %d must be ascending numbers of agents, 0 to %d",
			c.Epoch, MaxAgents-1),
		checkAscending(c.Lost, c.has,
			"those that have lost their state must be ascending numbers of members of epoch %d", c.Epoch),
		checkAscending(c.Slow, isOther,
			"those that are left out as slow must be ascending numbers of agents that are no members of epoch %d",
			c.Epoch),
		checkAscending(c.Removed, isOther,
			"those that are removed must be ascending numbers of agents that are no members of epoch %d", c.Epoch),
		checkAscending(c.Members, func(m int) bool { return !slices.Contains(l.Removed(), m) },
			"the members of epoch %d must not be removed before", c.Epoch),
		c.textError(), checkEdges("edges", c.Edges), checkEdges("cut edges", c.Cut)); err != nil {
		return err
	}
	for _, e := range c.Cut {
		if !c.has(e[0]) || !c.has(e[1]) {
			return fmt.Errorf("cut edges must be between members of epoch %d; %d-%d is not", c.Epoch, e[0], e[1])
		}
	}
	return nil
}

// textError returns what is wrong with the texts of a change, which people read: on pages, in
// terminals and in logs.
func (c Change) textError() error {
	if c.Time != "" {
		if t, err := time.Parse(time.RFC3339, c.Time); err != nil || t.Location() != time.UTC {
			return fmt.Errorf("a time must have the form 2026-11-22T12:00:00Z; it is %q", c.Time)
		}
	}
	for _, why := range c.Why {
		if !wording.Printable(why) {
			return fmt.Errorf("why epoch %d begins must be printable; it is %+q", c.Epoch, why)
		}
	}
	return nil
}

// idLength is the length of a session's id in bytes.
const idLength = 32

// isNamed reports whether the change has the id of a session, or neither.
func (c Change) isNamed() bool {
	if c.Session == 0 {
		return c.ID == ""
	}
	id, err := hex.DecodeString(c.ID)
	return err == nil && len(id) == idLength && hex.EncodeToString(id) == c.ID
}

func (c Change) has(agent int) bool {
	_, is := slices.BinarySearch(c.Members, agent)
	return is
}

// checkAscending returns an error with the text must unless numbers are ascending and may accepts
// each.
func checkAscending(numbers []int, may func(m int) bool, must string, args ...any) error {
	for k, m := range numbers {
		if !may(m) || k > 0 && m <= numbers[k-1] {
			return fmt.Errorf(must+"; %d is not", append(args, m)...)
		}
	}
	return nil
}

// checkEdges returns an error unless edges are [i, j], i < j, ascending.
func checkEdges(what string, edges Edges) error {
	for k, e := range edges {
		if e[0] < 0 || e[0] >= e[1] || e[1] >= MaxAgents || k > 0 && slices.Compare(edges[k-1][:], e[:]) >= 0 {
			return fmt.Errorf("%s must be ascending pairs [i, j] of agents with i < j; [%d, %d] is not",
				what, e[0], e[1])
		}
	}
	return nil
}

// SlowDepartures returns how often an agent was left out as slow.
func (l Log) SlowDepartures(agent int) (times int) {
	for _, c := range l {
		if slices.Contains(c.Slow, agent) {
			times++
		}
	}
	return times
}

// Removed returns the agents that are out of the roster for good, ascending.
func (l Log) Removed() (agents []int) {
	for _, c := range l {
		agents = append(agents, c.Removed...)
	}
	slices.Sort(agents)
	return slices.Compact(agents)
}

// LeftAsSlow returns the agents that were left out as slow and have not come in since, ascending.
func (l Log) LeftAsSlow() (agents []int) {
	for _, c := range l {
		agents = slices.DeleteFunc(append(agents, c.Slow...), c.has)
	}
	slices.Sort(agents)
	return agents
}

// Validate returns an error that matches dsbo.ErrConfig unless the log is one of a run whose roster
// is agents 0..roster-1 at the start. Each epoch must have a member of the one before that has kept
// its state. With a quorum above 0 it must have this number of members at least, and the quorum
// must be more than half of the roster, with those that are admitted and without those that are
// removed.
func (l Log) Validate(roster, quorum int) error {
	known := make([]bool, max(roster, MaxAgents)) // agents of the roster so far
	for i := range roster {
		known[i] = true
	}
	members := everybody(roster)
	for k, c := range l {
		err := l[:k].successorError(c)
		if err == nil {
			err = c.admit(known, roster)
		}
		if err == nil {
			err = c.stayingError(members)
		}
		if err == nil && quorum > 0 {
			err = checkQuorum(c, quorum, len(slices.DeleteFunc(slices.Clone(known), func(is bool) bool { return !is })))
		}
		if err != nil {
			return dsbo.ConfigErrorf("membership log: %w", err)
		}
		members = c.Members
	}
	return nil
}

// admit updates known, by agent, with c's admissions and removals. It returns an error if a member,
// or a removed agent, is unknown. The roster has n agents at the start.
func (c Change) admit(known []bool, n int) error {
	for _, e := range c.Edges {
		for _, end := range e {
			known[end] = known[end] || end >= n // an agent of the start that was removed stays out
		}
	}
	for _, m := range slices.Concat(c.Members, c.Removed) {
		if !known[m] {
			return fmt.Errorf("agent %d is not known: the roster is 0 to %d, and no edges admit it", m, n-1)
		}
	}
	for _, m := range c.Removed {
		known[m] = false
	}
	return nil
}

// stayingError returns what is wrong with a change, given the members of the epoch before.
func (c Change) stayingError(before []int) error {
	was := func(m int) bool { return slices.Contains(before, m) }
	for k, m := range slices.Concat(c.Lost, c.Slow) {
		which := "has lost its state"
		if k >= len(c.Lost) {
			which = "is left out as slow"
		}
		if !was(m) {
			return fmt.Errorf("agent %d, which %s, must be a member of the epoch before epoch %d", m, which, c.Epoch)
		}
	}
	if !slices.ContainsFunc(c.Members, func(m int) bool { return was(m) && !slices.Contains(c.Lost, m) }) {
		return fmt.Errorf("epoch %d must have a member of the epoch before", c.Epoch)
	}
	return nil
}

func checkQuorum(c Change, quorum, roster int) error {
	switch {
	case 2*quorum <= roster:
		return fmt.Errorf("the quorum must be more than half of the %d agents of the roster at epoch %d; it is %d",
			roster, c.Epoch, quorum)
	case len(c.Members) < quorum:
		return fmt.Errorf("epoch %d must have the quorum, %d members; it has %d", c.Epoch, quorum, len(c.Members))
	}
	return nil
}
