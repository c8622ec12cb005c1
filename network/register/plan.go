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

	"dsbo/internal/wording"
	"dsbo/network/membership"
)

// fewestMembers is how many members hide each other's terms in a sum.
const fewestMembers = 3

// A plan is what follows for given members.
type plan struct {
	members, entering []int // ascending
	slow              []int // members before that are left out as slow, ascending
	cut               membership.Edges
	begin             Point
}

// plan returns the session that follows if the given agents, which have answered, are its members.
// slow are the agents left out as slow.
func (m *meeting) plan(members, slow []int) (plan, error) {
	p := plan{members: slices.Clone(members), slow: slow}
	if err := m.quorumError(members); err != nil {
		return p, err
	}
	var holders []int
	if p.begin, holders = m.choose(members); p.begin.Iteration == Start {
		if err := m.startError(members); err != nil {
			return p, err
		}
		p.members = slices.DeleteFunc(p.members, func(i int) bool { return i >= m.Matrix.N() }) // they come in later
	} else {
		p.entering = slices.DeleteFunc(slices.Clone(members), func(i int) bool { return slices.Contains(holders, i) })
	}
	for _, e := range m.graph() {
		if slices.Contains(p.members, e[0]) && slices.Contains(p.members, e[1]) && !m.isUp(e) {
			p.cut = append(p.cut, e)
		}
	}
	return p, m.mixingError(p)
}

// quorumError returns why some agents are no quorum: they are too few, or too few of them have
// begun a session where others have. Any two quorums share an agent, so that one of quorum agents
// that have begun a session knows the newest. Quorum 0 is the whole roster. Where the refused
// agents would make it up, no wait helps. Where all of the roster are there, none is waited for.
func (m *meeting) quorumError(members []int) error {
	quorum, experienced := m.Quorum, 0
	if quorum == 0 {
		quorum = len(m.roster)
	}
	for _, i := range members {
		if a, _ := m.answer(i); a.Last > 0 {
			experienced++
		}
	}
	refused := slices.DeleteFunc(slices.Sorted(maps.Keys(m.refused)), // without strangers
		func(i int) bool { return !slices.Contains(m.roster, i) })
	switch away := m.away(members); {
	case len(members) < quorum && len(members)+len(refused) >= quorum:
		return &RefusedError{refused[0], m.refused[refused[0]]}
	case len(members) < quorum:
		return waitErrorf("a session must have %d agents, and %d are there: waiting for agent %s", quorum, len(members),
			away)
	case m.newest.Last > 0 && experienced < quorum && away != "":
		return waitErrorf("a session must have %d agents that know what the run has done, and %d do, as others are "+
			"new or have lost their disks: waiting for agent %s", quorum, experienced, away)
	}
	return nil
}

// startError returns why some agents cannot begin with nothing, which all of the roster must do
// together, and none after a change of members: what was computed before is lost then.
func (m *meeting) startError(members []int) error {
	away := m.away(members)
	for i := range m.Matrix.N() {
		if m.removed[i] && len(m.log) == 0 {
			return fmt.Errorf("agent %d is removed before there is a checkpoint: %w", i, ErrLost)
		}
	}
	switch {
	case away != "":
		return waitErrorf("all agents are needed, as those that are there have no checkpoint: waiting for agent %s",
			away)
	case len(m.log) > 0:
		return ErrLost
	}
	return nil
}

// mixingError returns why the members of a plan cannot compute together: they are too few to hide a
// term in a sum, an edge is down at the start, or their graph falls apart.
func (m *meeting) mixingError(p plan) error {
	e := membership.Epoch{Number: m.epoch.Number + 1, Members: p.members,
		Edges: slices.Concat(m.epoch.Edges, m.edges), Cut: p.cut}
	if slices.Equal(p.members, m.epoch.Members) && slices.Equal(p.cut, m.epoch.Cut) {
		e = m.epoch // of epoch 0 the matrix is the roster's own
	}
	_, err := m.Matrix.Members(e)
	least := m.LeastMembers
	if m.Masked && !m.FewMembers {
		least = max(least, min(fewestMembers, m.Matrix.N()))
	}
	switch {
	case len(p.members) < least:
		return waitErrorf("sums over fewer than %d members are refused, as they show more of a term, and agents %s "+
			"alone are there: waiting for agent %s", least, wording.List(p.members), m.away(p.members))
	case p.begin.Iteration == Start && len(p.cut) > 0:
		return waitErrorf("all edges are needed until there is a checkpoint: waiting for %d-%d", p.cut[0][0],
			p.cut[0][1])
	case err != nil:
		return &WaitError{err.Error()}
	}
	return nil
}

// isUp reports whether both ends have reported an edge as up.
func (m *meeting) isUp(e [2]int) bool {
	a, _ := m.answer(e[0])
	b, _ := m.answer(e[1])
	return slices.Contains(a.Links, e[1]) && slices.Contains(b.Links, e[0])
}

// choose returns the point with which some agents begin, and the agents that have it. It is the
// result if an agent has it, since it may be final; else the checkpoint that most agents have, of
// several the newest. A checkpoint with different digests at its members does not count: their
// exchanges differed.
func (m *meeting) choose(members []int) (Point, []int) {
	holders := map[int][]int{} // by iteration
	told := map[Point]string{} // digests, by a point without its own
	torn := map[int]bool{}     // iterations of which digests differ
	newest := map[int]Point{}  // by iteration, of epochs
	for _, i := range members {
		a, _ := m.answer(i)
		for _, p := range a.Points {
			if !m.isUsable(i, p) {
				continue
			}
			name := Point{Epoch: p.Epoch, Iteration: p.Iteration}
			if before := told[name]; p.Digest != "" {
				torn[p.Iteration] = torn[p.Iteration] || before != "" && before != p.Digest
				told[name] = p.Digest
			}
			if who := holders[p.Iteration]; len(who) == 0 || who[len(who)-1] != i {
				holders[p.Iteration] = append(who, i)
			}
			if p.Epoch >= newest[p.Iteration].Epoch {
				newest[p.Iteration] = name
			}
		}
	}
	best := Start
	for iteration, who := range holders {
		switch most := len(holders[best]); {
		case best == Result:
		case iteration == Result, !torn[iteration] && (len(who) > most || len(who) == most && iteration > best):
			best = iteration
		}
	}
	if best == Start || best == first && m.lacksFirst(members, holders[first]) {
		return Point{Epoch: m.epoch.Session, Iteration: Start}, nil
	}
	return Point{m.epoch.Session, best, told[newest[best]]}, holders[best]
}

// first is the iteration of the first checkpoint.
const first = 0

// lacksFirst reports whether an agent was lost while it wrote the first checkpoint, which other
// agents have. If all agents are present they begin anew, and the run has the bits of an
// undisturbed one.
func (m *meeting) lacksFirst(members, holders []int) bool {
	return len(m.log) == 0 && m.away(members) == "" && slices.ContainsFunc(members, func(i int) bool {
		a, _ := m.answer(i)
		return a.Last > 0 && !slices.Contains(holders, i)
	})
}

// isUsable reports whether an agent can begin the epoch of the log with a point: it is of that
// epoch, or of one before, at whose end all later ones began (no iteration is between them), in
// which the agent kept its state. The result of the epoch is good for all.
func (m *meeting) isUsable(agent int, p Point) bool {
	if p.Iteration == Result {
		return p.Epoch == m.epoch.Session
	}
	from := len(m.log)
	for ; from > 0 && m.log[from-1].Session != p.Epoch; from-- {
		if m.log[from-1].Iteration != p.Iteration {
			return false
		}
	}
	return (from > 0 || p.Epoch == 0) && m.log.StateKept(from, len(m.log), agent, m.Matrix.N())
}

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
