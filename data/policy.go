package data

import (
	"math/rand/v2"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/num"
)

// StateColumn names the column of an example's state in [Policy].
const StateColumn = "state"

// Policy draws the data of policy evaluation: a Markov chain shared by the agents, and each agent's
// own transitions with rewards. From each state an agent has a number of transitions for training,
// and one for validation, whose state alone is used. An agent's reward in a state is off by Rate
// times a standard normal number, and each reward has noise. A state's value is for the expected
// reward over both.
//
// Features φ(s) are normal, with a constant first one. The value of a state is φ(s)'w for a drawn
// w, so a linear model can represent it. An example of a transition from s to s' with reward r has
// X = φ(s) − γ φ(s'), the target r, and s in the column [StateColumn]. A test example is a state: X
// = φ(s), and its value as the target.
type Policy struct {
	Agents, States, Features int
	Transitions              int     // of each agent from each state, for training
	Discount                 float64 // γ, in [0, 1)
	Rate                     float64 // how unlike the rewards of the agents are
	Seed                     uint64
}

// Validate reports the first setting that cannot work, as [dsbo.ErrConfig].
func (c Policy) Validate() error {
	for _, v := range []struct {
		name  string
		value int
	}{{"agents", c.Agents}, {"states", c.States}, {"features", c.Features}, {"transitions", c.Transitions}} {
		if v.value < 1 {
			return dsbo.ConfigErrorf("%s must be at least 1; they are %d", v.name, v.value)
		}
	}
	switch {
	case c.Features > c.States:
		return dsbo.ConfigErrorf("features must be at most as many as the %d states; they are %d",
			c.States, c.Features)
	case !(c.Discount >= 0 && c.Discount < 1):
		return dsbo.ConfigErrorf("the discount must be at least 0 and below 1; it is %g", c.Discount)
	case !(c.Rate >= 0 && c.Rate < 1e6):
		return dsbo.ConfigErrorf("the rate of heterogeneity must be at least 0; it is %g", c.Rate)
	}
	return nil
}

// Task draws the data of the given agents; without agents, of all. An agent's data do not depend on
// which others are drawn. The test examples are common to all.
func (c Policy) Task(agents ...int) (Task, error) {
	if err := c.Validate(); err != nil {
		return Task{}, err
	}
	chain := c.chain()
	task := Task{Features: c.Features, Shards: make([]Shard, c.Agents)}
	if len(agents) == 0 {
		agents = countFrom(0, c.Agents)
	}
	for _, i := range agents {
		r := newRand(c.Seed, streamPolicy, 1, uint64(i))
		offsets := normals(r, c.States, c.Rate)
		var err error
		if task.Shards[i].Train, err = chain.transitions(r, c.Transitions, offsets); err != nil {
			return Task{}, err
		}
		if task.Shards[i].Val, err = chain.transitions(r, 1, offsets); err != nil {
			return Task{}, err
		}
	}
	var err error
	task.Test, err = floatExamples(chain.features, chain.values)
	return task, err
}

// A markovChain is the part of the problem shared by the agents.
type markovChain struct {
	Policy
	features []float64 // φ, a row for each state
	next     []float64 // probabilities of the next state, a row for each state
	rewards  []float64 // expected reward in each state
	values   []float64 // of each state
}

// chain draws the Markov chain. Probabilities of next states are fourth powers of uniform numbers,
// divided by their sum, so that few are large. Values are linear in the features, and rewards
// follow from them by Bellman's equation.
func (c Policy) chain() markovChain {
	r := newRand(c.Seed, streamPolicy, 0)
	m := markovChain{Policy: c, features: normals(r, c.States*c.Features, 1), next: make([]float64, c.States*c.States)}
	for s := range c.States {
		m.features[s*c.Features] = 1
		row, sum := m.next[s*c.States:][:c.States], 0.0
		for k := range row {
			u := r.Float64()
			row[k] = float64(u * u * u * u)
			sum += row[k]
		}
		for k := range row {
			row[k] /= sum
		}
	}
	w := normals(r, c.Features, 1)
	m.values, m.rewards = make([]float64, c.States), make([]float64, c.States)
	for s := range m.values {
		for j, v := range w {
			m.values[s] += float64(v * m.features[s*c.Features+j])
		}
	}
	for s := range m.rewards {
		m.rewards[s] = m.values[s]
		for k, p := range m.next[s*c.States:][:c.States] {
			m.rewards[s] -= float64(c.Discount * float64(p*m.values[k]))
		}
	}
	return m
}

// transitions draws n transitions from each state for one agent, whose mean reward in state s is
// off by offsets[s].
func (m markovChain) transitions(r *rand.Rand, each int, offsets []float64) (Examples, error) {
	const noise = 0.1
	var x, rewards, states []float64
	for s := range m.States {
		for range each {
			to := m.step(r, s)
			for j := range m.Features {
				x = append(x, m.features[s*m.Features+j]-float64(m.Discount*m.features[to*m.Features+j]))
			}
			rewards = append(rewards, m.rewards[s]+offsets[s]+float64(noise*num.Normal(r)))
			states = append(states, float64(s))
		}
	}
	e, err := floatExamples(x, rewards)
	if err != nil {
		return e, err
	}
	column, err := ad.FloatTable(len(states), 1, states)
	e.Columns = []Column{{StateColumn, column}}
	return e, err
}

// step draws the state after s.
func (m markovChain) step(r *rand.Rand, s int) int {
	left := r.Float64()
	for k, p := range m.next[s*m.States:][:m.States] {
		if left -= p; left < 0 {
			return k
		}
	}
	return m.States - 1 // by rounding, the weights sum to less
}

// normals draws n normal numbers of mean 0.
func normals(r *rand.Rand, n int, deviation float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = deviation * num.Normal(r)
	}
	return v
}
