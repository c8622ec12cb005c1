package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/files"
	"dsbo/network/membership"
	"dsbo/runs"
)

// Handover returns the state that an agent that joins in the next epoch takes over from this agent,
// as a checkpoint for [Config.Receive]. It is made of this agent's checkpoint at a point and
// contains x, y, the state that all agents of the method share, and the iteration, but nothing else
// that depends on this agent's examples. It has about p + q numbers (with newtoncg 3p + 4q more).
// Of c it needs Dir, Method and K.
func (c Config) Handover(agent int, at Point) ([]byte, error) {
	c = c.WithDefaults()
	path := runs.Folder(c.Dir).CheckpointPath([]int{agent}, at.Iteration)
	found, err := readCheckpoint(path)
	if err != nil {
		return nil, err
	}
	of := checkpoint{checkpointHead: checkpointHead{
		Epoch: found.Epoch, Iteration: found.Iteration, Evaluated: found.Evaluated, Seconds: found.Seconds,
		Evaluation: found.Evaluation, Start: found.Start, Handover: true, Agents: []int{agent},
	}}
	if of.Config, err = dropExamples(found.Config); err != nil {
		return nil, err
	}
	var names []string
	if !found.Handover {
		if names, err = c.handoverNames(found.arraysAfter(agent, 0)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, a := range found.Arrays {
		ofAll := a.Agent < 0 && (a.Name == dampingName || a.Name == usageName)
		// A checkpoint that is itself a handover has nothing but such state: all is passed on.
		shared := found.Handover || slices.Contains(names, a.Name)
		if ofAll || a.Agent == agent && shared {
			of.Arrays = append(of.Arrays, a)
		}
	}
	var file bytes.Buffer
	err = of.writeTo(&file)
	return file.Bytes(), err
}

// handoverNames returns the names of the parts of a state that its method hands over.
func (c Config) handoverNames(state []dsbo.Named) ([]string, error) {
	m, ok := algo.Clone(c.Method).(algo.Reformer)
	if !ok || len(state) < 2 {
		return nil, dsbo.Errorf(dsbo.ErrCapability, "%s hands nothing over", algo.NameOf(c.Method))
	}
	if err := m.Init(len(state[0].Value), len(state[1].Value), c.K); err != nil {
		return nil, err
	}
	var names []string
	for _, part := range m.Handover() {
		names = append(names, part.Name)
	}
	return names, nil
}

// Receive stores a handover, made by [Config.Handover], as a checkpoint of an agent that joins in
// epoch e, in its folder c.Dir, and returns the point for Config.From. Arrays of the agent that
// made it become the joining agent's; others, with negative numbers, are of no agent. [Run] checks
// later that the checkpoint is of this run.
func (c Config) Receive(agent int, e membership.Epoch, handover []byte) (Point, error) {
	found, err := parseCheckpoint(handover)
	if err != nil {
		return Point{}, fmt.Errorf("what agent %d takes over: %w", agent, err)
	}
	if !found.Handover {
		return Point{}, fmt.Errorf("what agent %d takes over: %w", agent,
			corruptError("it is another agent's checkpoint"))
	}
	found.EntryEpoch, found.Session, found.Agents = e.Number, e.Session, []int{agent}
	for i := range found.Arrays {
		if found.Arrays[i].Agent >= 0 {
			found.Arrays[i].Agent = agent
		}
	}
	path := runs.Folder(c.Dir).CheckpointPath([]int{agent}, found.Iteration)
	return found.point(), files.Write(path, found.writeTo)
}

// dropExamples returns an identity without the digests of the agents' examples.
func dropExamples(identity json.RawMessage) (json.RawMessage, error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(identity, &parts); err != nil {
		return nil, err
	}
	delete(parts, "examples")
	return json.Marshal(parts)
}

// checkEpoch returns an error unless c's epoch can begin from a checkpoint. The checkpoint must be
// of that epoch, or of an earlier one if all later epochs, up to c's, begin at its iteration. It
// must be of the session that the membership log names for its epoch.
func (c *Config) checkEpoch(found *checkpoint) error {
	epoch, of := c.epoch.Number, max(found.Epoch, found.EntryEpoch)
	if of > epoch {
		return dsbo.ConfigErrorf(
			"the checkpoint is of epoch %d, which must not be after the last one of the membership log, %d", of, epoch)
	}
	began := uint64(0)
	if of > 0 {
		began = c.Membership[of-1].Session
	}
	if found.Session != began {
		return dsbo.ConfigErrorf("the checkpoint must be of epoch %d as session %d began it; it is of session %d", of,
			began, found.Session)
	}
	for _, change := range c.Membership[found.Epoch:epoch] {
		if change.Iteration != found.Iteration {
			return dsbo.ConfigErrorf(
				"the checkpoint must be of iteration %d, at which epoch %d begins; it is of iteration %d of epoch %d",
				change.Iteration, change.Epoch, found.Iteration, found.Epoch)
		}
	}
	if epoch < len(c.Membership) && c.Membership[epoch].Iteration < found.Iteration {
		return dsbo.ConfigErrorf(
			"membership log: epoch %d must not begin before the checkpoint, which is of iteration %d; it begins at %d",
			epoch+1, found.Iteration, c.Membership[epoch].Iteration)
	}
	return nil
}

// restoreEpochStart sets the agents to the beginning of the present epoch, from a checkpoint of an
// earlier epoch or from a handover. The states pass through all epochs in between, which begin
// after the same iteration. An agent's usage is in its own checkpoint; a handover has it as of the
// last record.
func (r *runner) restoreEpochStart(c *checkpoint) error {
	own := r.Problem.agentNumbers(r.Local())
	states, err := r.methodsOf(c)
	if err == nil && c.Handover {
		err = r.moveWithSource(states, c)
	}
	for epoch := max(c.Epoch, c.EntryEpoch); err == nil && epoch < r.epoch.Number; epoch++ {
		before, _ := r.Membership.At(epoch, r.roster.w.N()) // there is one
		var next Config
		if next, err = r.Config.inEpoch(epoch + 1); err == nil {
			states, err = next.epochMethods(states, before, own)
		}
	}
	if err != nil {
		return err
	}
	r.eval.restoreShared(c)
	for k, i := range r.Local() {
		a := r.agents[i]
		if a.alg = states[a.id]; r.shared != nil { // all have the first one's method
			a.alg = states[own[0]]
		}
		a.k, a.usageBefore = c.Iteration, r.eval.usageOf(a.id)
		if !c.Handover {
			a.usageBefore = c.Usage[k]
		}
	}
	// evaluated is set to done: an evaluation that was still due was one of the old members.
	r.done, r.evaluated, r.seconds, r.eval.sent = c.Iteration, c.Iteration, c.Seconds, c.Evaluation
	r.Start = c.Start
	r.epochBegun()
	return nil
}

// moveWithSource applies the source's moves since its checkpoint, of epochs that began after the
// same iteration, to the state taken over from it.
func (r *runner) moveWithSource(states map[int]dsbo.Algorithm, c *checkpoint) error {
	for epoch := c.Epoch + 1; epoch <= c.EntryEpoch; epoch++ {
		next, err := r.Config.inEpoch(epoch)
		if err != nil {
			return err
		}
		for _, m := range states {
			next.moveState(m)
		}
	}
	return nil
}

// methodsOf returns the methods restored from a checkpoint, or begun from a handover, by their
// agents' numbers.
func (r *runner) methodsOf(c *checkpoint) (map[int]dsbo.Algorithm, error) {
	states := map[int]dsbo.Algorithm{}
	for _, number := range c.Agents {
		m, err := r.newMethod()
		switch {
		case err != nil:
		case c.Handover:
			err = takeOver(m, c.arraysAfter(number, 0))
		default:
			err = c.restore(number, (&agent{alg: m}).state())
		}
		if err != nil {
			return nil, err
		}
		states[number] = m
	}
	return states, nil
}
