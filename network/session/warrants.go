package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"dsbo"
	"dsbo/network/pki"
	"dsbo/network/register"
)

// Warrants are what the authority has signed: who may take part in the run beside the agents of the
// matrix, and who must not.
type warrants struct {
	admitted map[int][]int // their neighbours
	removed  map[int]string
	founders int
}

// newWarrants returns the warrants of the register, which were checked before they were written,
// and of the settings, of which one that is not signed for this run is an error.
func newWarrants(c *Config, state register.State) (warrants, error) {
	r := warrants{admitted: map[int][]int{}, removed: map[int]string{}, founders: c.Matrix.N()}
	for _, e := range state.Log.Last(r.founders).Edges { // an agent that was admitted is the higher one
		r.admitted[e[1]] = append(r.admitted[e[1]], e[0])
	}
	if c.Admission != "" {
		if _, err := r.admit(c, c.Identity, c.Agent, c.Admission); err != nil {
			return r, dsbo.ConfigErrorf("%w", err)
		}
	}
	for _, text := range slices.Concat(slices.Collect(maps.Values(state.Removals)), c.Removals) {
		if _, _, err := r.remove(c, c.Identity, text); err != nil {
			return r, err
		}
	}
	return r, nil
}

// admit takes in the admission of an agent, and returns its neighbours.
func (r *warrants) admit(c *Config, id *pki.Identity, agent int, text string) (neighbours []int, err error) {
	neighbours, known := r.admitted[agent]
	if !known {
		if neighbours, err = c.rule(id).Admission(agent, text); err == nil {
			r.admitted[agent] = neighbours
		}
	}
	return neighbours, err
}

// remove takes in a removal, and returns whose it is. known is true of a text that has come before,
// whose signature is not checked again.
func (r *warrants) remove(c *Config, id *pki.Identity, text string) (agent int, known bool, err error) {
	for agent, before := range r.removed {
		if before == text {
			return agent, true, nil
		}
	}
	if id == nil {
		return 0, false, errors.New("a removal needs certificates, as the authority signs it")
	}
	if agent, err = id.Removal(text, c.Run, c.Hash); err == nil {
		r.removed[agent] = text
	}
	return agent, false, err
}

// A removedError is why an agent that is out for good gets no connection, and why its own part
// ends.
type removedError struct{ agent int }

func (e *removedError) Error() string {
	return fmt.Sprintf("agent %d is removed from the run", e.agent)
}

// Is reports whether target is dsbo.ErrConfig: a supervisor must not start the agent again.
func (e *removedError) Is(target error) bool { return target == dsbo.ErrConfig }

func (r *warrants) has(agent int) bool {
	_, admitted := r.admitted[agent]
	return agent < r.founders || admitted
}

func (r *warrants) isRemoved(agent int) bool {
	_, removed := r.removed[agent]
	return removed
}

func (r *warrants) removals() map[int]string { return maps.Clone(r.removed) }

// agents returns who may take part, ascending.
func (r *warrants) agents() (all []int) {
	for i := range r.founders {
		all = append(all, i)
	}
	all = slices.AppendSeq(all, maps.Keys(r.admitted))
	all = slices.DeleteFunc(all, r.isRemoved)
	slices.Sort(all)
	return slices.Compact(all)
}

// neighbours returns an agent's neighbours: matrix, by the mixing matrix, and admitted ones.
func (r *warrants) neighbours(agent int, matrix []int) []int {
	all := slices.Clone(matrix)
	for i, beside := range r.admitted {
		if slices.Contains(beside, agent) {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// roster returns who may take part, over which edges, and how many must be there.
func (r *warrants) roster(c *Config) roster {
	found := roster{agents: r.agents(), edges: c.Matrix.Edges(), quorum: c.Quorum}
	for i, beside := range r.admitted {
		for _, j := range beside {
			found.edges = append(found.edges, [2]int{j, i})
		}
	}
	if c.Quorum == 0 {
		found.quorum = len(found.agents)
	}
	return found
}
