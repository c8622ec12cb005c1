package session

import (
	"fmt"
	"maps"
	"slices"

	"dsbo/network/membership"
	"dsbo/network/pki"
)

// A roll is who may take part in the run beside the agents of the matrix, and who must not: the
// texts that the authority has signed, by agent.
type roll struct {
	admitted map[int]pki.Admission
	removed  map[int]string
	founders int
}

// readRoll reads what the register and the settings have.
func (a *Agent) readRoll() error {
	a.roll = roll{admitted: map[int]pki.Admission{}, removed: map[int]string{}, founders: a.config.Matrix.N()}
	for _, e := range a.state.Log.Last(a.roll.founders).Edges { // an agent that was admitted is the higher one
		m := a.roll.admitted[e[1]]
		m.Agent, m.Neighbours = e[1], append(m.Neighbours, e[0])
		a.roll.admitted[e[1]] = m
	}
	if a.config.Admission != "" {
		if err := a.admitLocked(a.config.Agent, a.config.Admission); err != nil {
			return err
		}
	}
	for _, text := range a.state.Removals {
		if err := a.removeLocked(text); err != nil {
			return err
		}
	}
	for _, text := range a.config.Removals {
		if err := a.removeLocked(text); err != nil {
			return err
		}
	}
	return nil
}

// admitLocked takes in the admission of an agent. The lock is held.
func (a *Agent) admitLocked(agent int, text string) error {
	if _, known := a.roll.admitted[agent]; known {
		return nil
	}
	m, err := a.config.admission(a.identity(), agent, text)
	if err != nil {
		return err
	}
	a.roll.admitted[agent] = m
	if slices.Contains(m.Neighbours, a.config.Agent) && a.lines[agent] == nil {
		a.lines[agent] = &line{agent: agent} // which connects to this one
	}
	return nil
}

// identity returns the certificate of now; nil: there is none.
func (a *Agent) identity() *pki.Identity {
	if a.links == nil {
		return a.config.Identity
	}
	return a.links.identity()
}

// learnRemovals takes in removals of others. The lock is held.
func (a *Agent) learnRemovals(texts map[int]string) {
	for agent, text := range texts {
		if _, known := a.roll.removed[agent]; !known && len(a.roll.removed) < membership.MaxAgents {
			if err := a.removeLocked(text); err != nil {
				a.config.Log.Warn("a removal is refused", "agent", agent, "reason", bounded(err.Error()))
			}
		}
	}
}

// removeLocked takes in a removal. The lock is held.
func (a *Agent) removeLocked(text string) error {
	id := a.identity()
	if id == nil {
		return fmt.Errorf("a removal needs certificates, as the authority signs it")
	}
	agent, err := id.Removal(text, a.config.Run, a.config.Hash)
	if err != nil {
		return err
	}
	a.roll.removed[agent] = text
	why := removedError(agent)
	if l := a.lines[agent]; l != nil && l.conn != nil {
		l.conn.drop(why)
	}
	if s := a.current; s != nil && slices.Contains(s.Epoch.Members, agent) {
		a.endLocked(&Over{Session: s.Number, Agent: a.config.Agent, Why: why.Error()}, true)
	}
	return nil
}

// removedError is why an agent that is out for good gets no connection.
func removedError(agent int) error { return fmt.Errorf("agent %d is removed from the run", agent) }

// Remove takes in removals that the authority has signed, as Config.Removals does: the session
// under way ends where one of those agents is a member, and the next one begins without it. All
// others learn of it. What is known is passed over.
func (a *Agent) Remove(texts []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := slices.Collect(maps.Values(a.roll.removed))
	for _, text := range texts {
		if slices.Contains(known, text) {
			continue
		}
		if err := a.removeLocked(text); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether an agent may be in the run.
func (r *roll) has(agent int) bool {
	_, admitted := r.admitted[agent]
	return agent < r.founders || admitted
}

func (r *roll) isRemoved(agent int) bool {
	_, removed := r.removed[agent]
	return removed
}

// removals returns the texts of removals, by agent.
func (r *roll) removals() map[int]string { return maps.Clone(r.removed) }

// agents returns who may take part, ascending.
func (r *roll) agents(founders int) (all []int) {
	for i := range founders {
		all = append(all, i)
	}
	all = slices.AppendSeq(all, maps.Keys(r.admitted))
	all = slices.DeleteFunc(all, r.isRemoved)
	slices.Sort(all)
	return slices.Compact(all)
}

// neighbours returns an agent's neighbours by the matrix with those that are admitted beside it.
func (r *roll) neighbours(agent int, matrix []int) []int {
	all := slices.Clone(matrix)
	for i, m := range r.admitted {
		if slices.Contains(m.Neighbours, agent) {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// roster returns who may take part, over which edges, and how many must be there.
func (r *roll) roster(c *Config) roster {
	found := roster{agents: r.agents(c.Matrix.N()), quorum: c.Quorum}
	for i := range c.Matrix.N() {
		for _, j := range c.Matrix.Neighbours(i) {
			if i < j {
				found.edges = append(found.edges, [2]int{i, j})
			}
		}
	}
	for i, m := range r.admitted {
		for _, j := range m.Neighbours {
			found.edges = append(found.edges, [2]int{j, i})
		}
	}
	if c.Quorum == 0 {
		found.quorum = len(found.agents)
	}
	return found
}
