package register

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"dsbo/network/membership"
)

// session returns the session that follows from a plan and the answers, without a line of its own
// in the log.
func (m *meeting) session(p plan) Session {
	s := Session{Number: m.number, ID: m.id(p), Epoch: m.epoch, Entering: p.entering, Begin: p.begin, Log: m.log,
		Instances: map[int]uint64{}, Tags: maps.Clone(m.newest.Tags), Removals: m.removals, Refused: m.refused}
	if s.Tags == nil { // of the first session
		s.Tags = map[int]string{}
	}
	for k, i := range p.members {
		a, _ := m.answer(i) // members have answered
		s.Keys = append(s.Keys, a.Key)
		s.Instances[i] = a.Instance
		if _, known := s.Tags[i]; !known { // an agent's first session binds it to its data
			s.Tags[i] = a.Data
		}
		if k == 0 { // of which stays what all others have too
			s.Kept = maps.Clone(a.Kept)
		}
		maps.DeleteFunc(s.Kept, func(name, digest string) bool {
			other, has := a.Kept[name]
			return !has || other != digest
		})
	}
	return s
}

// id returns the digest of all from which a session follows, each agent's fresh key among it.
// What is signed counts, and not the signatures, of which one text has several.
func (m *meeting) id(p plan) [sha256.Size]byte {
	answers := slices.Clone(m.all)
	for k := range answers {
		answers[k].Certificate, answers[k].Signature = nil, nil
	}
	text, err := json.Marshal([]any{m.Run, m.Hash, m.number, p.members, p.entering, p.cut, p.begin, m.log, answers})
	if err != nil {
		panic(err) // numbers and texts alone
	}
	return sha256.Sum256(text)
}

// line returns the line of the log with which a session of an id begins; false where its members,
// their edges and their states are as before.
func (m *meeting) line(p plan, id [sha256.Size]byte) (membership.Change, bool) {
	c := membership.Change{Epoch: len(m.log) + 1, Iteration: max(0, p.begin.Iteration), Session: m.number,
		ID: hex.EncodeToString(id[:]), Members: p.members, Cut: p.cut, Slow: p.slow, Proposer: m.proposer.Agent,
		Time: m.proposer.Time.UTC().Format(time.RFC3339)}
	for _, i := range p.entering {
		if _, was := m.epoch.Position(i); was {
			c.Lost = append(c.Lost, i)
		}
	}
	for _, e := range m.edges {
		if slices.Contains(p.members, e[1]) {
			c.Edges = append(c.Edges, e)
		}
	}
	before := m.log.Removed()
	for _, i := range slices.Sorted(maps.Keys(m.removed)) {
		if !slices.Contains(before, i) && m.isKnown(i) { // the log names no agent that it has never had
			c.Removed = append(c.Removed, i)
		}
	}
	c.Why = m.reasons(p, c)
	return c, len(p.entering)+len(c.Removed) > 0 || !slices.Equal(p.members, m.epoch.Members) ||
		!slices.Equal(p.cut, m.epoch.Cut)
}

// isKnown reports whether an agent is of the roster at the start, or the log admits it.
func (m *meeting) isKnown(agent int) bool {
	return agent < m.Matrix.N() ||
		slices.ContainsFunc(m.epoch.Edges, func(e [2]int) bool { return e[0] == agent || e[1] == agent })
}

// reasons returns why a line is in the log, a sentence each: why members left, why members came in,
// and which edges are cut or up again. c is the line without them.
func (m *meeting) reasons(p plan, c membership.Change) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, i := range m.epoch.Members {
		switch _, answers := m.answer(i); {
		case slices.Contains(p.members, i):
		case slices.Contains(c.Removed, i):
			add("agent %d is removed by the operators", i)
		case m.refused[i] != "":
			add("agent %d left: %s", i, m.refused[i])
		case slices.Contains(p.slow, i):
			add("agent %d left: slow, as it computes and all its neighbours have waited too long for it (time %d)", i,
				m.log.SlowDepartures(i)+1)
		case answers:
			add("agent %d is kept out until there is a newer checkpoint: lost %d times since the last one", i,
				m.losses(i, p.begin.Iteration))
		default:
			add("agent %d left: no answer", i)
		}
	}
	for _, i := range p.members {
		switch _, was := m.epoch.Position(i); {
		case slices.Contains(c.Lost, i):
			add("agent %d has no checkpoint any more", i)
		case !was && m.isKnown(i):
			add("agent %d returned", i)
		case !was:
			add("agent %d joined", i)
		}
	}
	for _, e := range p.cut {
		if !slices.Contains(m.epoch.Cut, e) {
			add("edge %d-%d cut: it is not up at both ends", e[0], e[1])
		}
	}
	for _, e := range m.epoch.Cut {
		if slices.Contains(p.members, e[0]) && slices.Contains(p.members, e[1]) && !slices.Contains(p.cut, e) {
			add("edge %d-%d is up again", e[0], e[1])
		}
	}
	return all
}

// Name returns the first 8 bytes of the id as a number, by which frames are named; it is never 0.
func (s Session) Name() uint64 {
	var name uint64
	for _, b := range s.ID[:8] {
		name = name<<8 | uint64(b)
	}
	return cmp.Or(name, 1)
}
