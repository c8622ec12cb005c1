package register

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"dsbo/internal/wording"
	"dsbo/network/membership"
)

// A meeting is what the answers to one proposal have in common.
type meeting struct {
	Rule                      // of the run
	number   uint64           // of the proposal
	all      []Answer         // by agent
	answers  []Answer         // of all that may take part, by agent
	proposer Answer           // of the agent that proposes
	newest   Answer           // has begun the newest session
	log      membership.Log   // of that session
	epoch    membership.Epoch // the log's last
	roster   []int            // of the run, ascending: admitted and not removed
	edges    membership.Edges // that admissions of this meeting add
	// removals and refused are texts, by agent; removed are all that are out for good.
	removals, refused map[int]string
	removed           map[int]bool // by agent
}

// Decide returns the session that follows from the answers to one proposal, which must be verified
// ([Rule.Verify]); it is the same for all that have the same answers, in any order. Errors that
// time may mend are [*WaitError]; others are [*RefusedError], [ErrLost], and what is wrong with
// answers that do not belong together. The cost is a digest of all answers.
func Decide(rule Rule, answers []Answer) (Session, error) {
	m, err := meetingOf(rule, answers)
	if err != nil {
		return Session{}, err
	}
	var there []int
	for _, a := range m.answers {
		there = append(there, a.Agent)
	}
	p, err := m.plan(there, nil)
	if err != nil {
		return Session{}, err
	}
	// At the start all agents are needed, and with the result nobody computes any more.
	if p.begin.Iteration != Start && p.begin.Iteration != Result {
		p = m.leaveOut(p)
	}
	s := m.session(p)
	if line, is := m.line(p, s.ID); is {
		log := append(slices.Clone(m.log), line)
		if s.Epoch = log.Last(m.Matrix.N()); p.begin.Iteration != Result {
			s.Log = log
		} else { // the result stays the one of its epoch
			s.Epoch.Session, s.Epoch.ID = m.epoch.Session, m.epoch.ID
		}
	}
	return s, nil
}

// leaveOut returns a plan without the agents that are slow or come and go, each only if the rest
// can continue without it, from a checkpoint: with one agent less the newest point may be another
// one.
func (m *meeting) leaveOut(p plan) plan {
	for _, agent := range p.members { // of the first plan: p changes below
		isSlow, comesAndGoes := m.isSlow(agent), m.losses(agent, p.begin.Iteration) >= mostLosses
		if !isSlow && !comesAndGoes {
			continue
		}
		slow := p.slow // for the log, which counts departures of members alone
		if _, was := m.epoch.Position(agent); isSlow && was {
			slow = append(slices.Clone(slow), agent)
		}
		others := slices.DeleteFunc(slices.Clone(p.members), func(i int) bool { return i == agent })
		if without, err := m.plan(others, slow); err == nil && without.begin.Iteration != Start {
			p = without
		}
	}
	return p
}

// mostLosses is how often a member may be lost at one point until it is let in no more before
// another one.
const mostLosses = 3

// losses returns how often an agent was lost at the point of an iteration: it left, but not as
// slow, or began with another's state.
func (m *meeting) losses(agent, iteration int) (times int) {
	n := m.Matrix.N()
	for k := len(m.log) - 1; k >= 0 && m.log[k].Iteration == iteration; k-- {
		before, _ := m.log.At(k, n) // there is one
		_, was := before.Position(agent)
		_, is := slices.BinarySearch(m.log[k].Members, agent)
		if was && (!is && !slices.Contains(m.log[k].Slow, agent) || slices.Contains(m.log[k].Lost, agent)) {
			times++
		}
	}
	return times
}

// isSlow reports whether all neighbours of an agent that have answered, one at least, have waited
// too long for it.
func (m *meeting) isSlow(agent int) bool {
	slow := false
	for _, e := range m.graph() {
		if e[0] != agent && e[1] != agent {
			continue
		}
		if a, is := m.answer(e[0] + e[1] - agent); is {
			if slow = slices.Contains(a.Slow, agent); !slow {
				return false
			}
		}
	}
	return slow
}

// meetingOf returns what answers have in common. An error shows that they do not belong together:
// they are of several proposals, one agent's twice, of several logs of one session, or without the
// proposer's.
func meetingOf(rule Rule, answers []Answer) (*meeting, error) {
	m := &meeting{Rule: rule, all: slices.Clone(answers), removals: map[int]string{}, refused: map[int]string{},
		removed: map[int]bool{}}
	slices.SortFunc(m.all, func(a, b Answer) int { return cmp.Compare(a.Agent, b.Agent) })
	for k, a := range m.all {
		switch {
		case a.Number != m.all[0].Number:
			return nil, fmt.Errorf("answers must be to one proposal; they are to %d and %d", m.all[0].Number, a.Number)
		case k > 0 && a.Agent == m.all[k-1].Agent:
			return nil, fmt.Errorf("an agent must answer once; agent %d has answered twice", a.Agent)
		case k == 0 || a.Last > m.newest.Last:
			m.newest = a
		case a.Last == m.newest.Last && string(a.Log.Bytes()) != string(m.newest.Log.Bytes()):
			return nil, fmt.Errorf("agents %d and %d must have one log of session %d; they have two", m.newest.Agent,
				a.Agent, a.Last)
		}
		for agent, text := range a.Removals {
			m.removed[agent] = true
			m.removals[agent] = max(m.removals[agent], text) // of several signatures the same at all agents
		}
	}
	proposer := slices.IndexFunc(m.all, func(a Answer) bool { return a.Agent == proposerOf(a.Number) })
	if proposer < 0 {
		return nil, errors.New("the agent that proposes a session must answer; it does not")
	}
	m.proposer = m.all[proposer]
	m.number, m.log = m.newest.Number, m.newest.Log
	m.epoch = m.log.Last(rule.Matrix.N())
	for _, agent := range m.log.Removed() {
		m.removed[agent] = true
	}
	if err := m.enroll(); err != nil {
		return nil, err
	}
	m.refuse()
	return m, nil
}

// enroll finds the roster: the agents of the start and those that are admitted, without those that
// are removed. An agent whose admission is new counts if the quorum stays more than half; until a
// session has begun without them, removed agents count too.
func (m *meeting) enroll() error {
	n := m.Matrix.N()
	known := map[int]bool{}
	for i := range n {
		known[i] = true
	}
	for _, e := range m.epoch.Edges { // of admissions of before
		known[e[0]], known[e[1]] = true, true
	}
	size := len(known) - len(m.log.Removed()) // of the roster
	for _, a := range m.all {
		if known[a.Agent] || m.removed[a.Agent] {
			continue
		}
		switch {
		case m.Authority == nil || m.Quorum == 0:
			m.refused[a.Agent] = "it is not of the roster, and a run without certificates or a quorum admits nobody"
			continue
		case 2*m.Quorum <= size+1:
			m.refused[a.Agent] = fmt.Sprintf("the quorum, %d, must be more than half of the roster, which has %d "+
				"agents without it", m.Quorum, size)
			continue
		}
		neighbours, err := m.admission(a)
		if err != nil {
			return err
		}
		known[a.Agent] = true
		size++
		for _, j := range neighbours {
			m.edges = append(m.edges, [2]int{j, a.Agent})
		}
	}
	sortEdges(m.edges)
	m.roster = slices.Sorted(maps.Keys(known))
	m.roster = slices.DeleteFunc(m.roster, func(i int) bool { return m.removed[i] })
	return nil
}

// OtherData is why an agent is refused whose tag is another one than in sessions before.
const OtherData = "its data, or its certificate's key, is another one than at the start; they must stay the same " +
	"during a run"

// refuse takes out of the answers what is of agents that must not take part.
func (m *meeting) refuse() {
	for _, a := range m.all {
		if m.removed[a.Agent] {
			m.refused[a.Agent] = "it is removed from the run"
		} else if tag, known := m.newest.Tags[a.Agent]; known && tag != a.Data {
			m.refused[a.Agent] = OtherData
		}
	}
	m.answers = slices.DeleteFunc(slices.Clone(m.all), func(a Answer) bool { return m.refused[a.Agent] != "" })
}

// graph returns the edges of the roster's graph, each [i, j] with i < j, ascending.
func (m *meeting) graph() membership.Edges {
	edges := slices.Concat(m.epoch.Edges, m.edges, m.Matrix.Edges())
	sortEdges(edges)
	return slices.Compact(edges)
}

func sortEdges(edges membership.Edges) {
	slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
}

// answer returns an agent's answer, and false if it has given none or must not take part.
func (m *meeting) answer(agent int) (Answer, bool) {
	k, is := slices.BinarySearchFunc(m.answers, agent, func(a Answer, i int) int { return cmp.Compare(a.Agent, i) })
	if !is {
		return Answer{}, false
	}
	return m.answers[k], true
}

// away lists the agents of the roster that are not among some.
func (m *meeting) away(there []int) string {
	return wording.List(slices.DeleteFunc(slices.Clone(m.roster),
		func(i int) bool { return slices.Contains(there, i) }))
}
