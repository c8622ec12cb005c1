package train

import (
	"dsbo"
	"dsbo/internal/disk"
	"dsbo/network"
	"dsbo/runs"
)

// writeCheckpoint writes the checkpoint after the iterations done to the run folder, if there is
// one, and removes checkpoints that are no longer needed. The agents stand still.
func (r *runner) writeCheckpoint() error {
	if r.Dir == "" {
		return nil
	}
	if s, ok := r.exchange.(network.Saver); ok {
		defer s.Saving()()
	}
	config, err := r.identity(r.epoch.Number)
	if err != nil {
		return err
	}
	c := checkpoint{checkpointHead: checkpointHead{
		Config: config, Epoch: r.epoch.Number, Iteration: r.done, Evaluated: r.evaluated, Round: r.round,
		Seconds: r.seconds, Start: r.Start, Agents: r.Problem.agentNumbers(r.Local()), Alike: r.alike,
		Evaluation: r.eval.sent, EvaluationDue: r.evaluationDue(),
	}}
	path := runs.Folder(r.Dir).CheckpointPath(r.checkpointAgents(), r.done)
	if c.EvaluationDue {
		if earlier, err := readCheckpoint(path); err == nil && earlier.Epoch == c.Epoch && !earlier.EvaluationDue {
			return nil // of a run that has gone back: another epoch may begin with it
		}
	}
	if c.MetricsBytes, c.MetricsSHA256, err = r.metrics.Sync(); err != nil {
		return err
	}
	c.Usage, c.Arrays, c.values = r.checkpoint.Usage[:0], r.checkpoint.Arrays[:0], r.checkpoint.values[:0]
	for k, i := range r.Local() {
		c.Usage = append(c.Usage, r.agents[i].usage())
		if k == 0 || !c.Alike {
			c.add(r.agents[i].id, r.agents[i].state())
		}
		c.add(r.agents[i].id, r.agents[i].mixer.State())
	}
	c.add(scaleArrays, []dsbo.Named{{Name: "method", Value: r.agents[r.Local()[0]].mixer.Scales()},
		{Name: "evaluation", Value: r.eval.Scales()}})
	c.add(evaluationArrays, r.eval.state())
	if r.done == r.end || r.eval.adoptablePairs() == nil {
		c.add(pairArrays, r.eval.pairs())
	}
	if r.Changing || r.roster != nil {
		c.add(evaluationArrays, r.eval.usageState())
	}
	r.checkpoint = c
	if err := disk.Write(path, c.writeTo); err != nil {
		return err
	}
	r.newEpoch = false
	if r.OnCheckpoint != nil {
		r.OnCheckpoint(r.done)
	}
	return runs.Folder(r.Dir).RemoveOldCheckpoints(r.checkpointAgents(), r.done, r.Held)
}

// evaluationDue reports whether an evaluation is due after the iterations done that has not been
// made: the run was interrupted before. At the beginning of an epoch none is, whose members might
// make it.
func (r *runner) evaluationDue() bool {
	begins := r.epoch.Number > 0 && r.done == r.epoch.Iteration
	return r.isDue(r.EvalEvery) && r.evaluated < r.done && !begins
}
