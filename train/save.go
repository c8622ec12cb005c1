package train

import (
	"context"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/network"
	"dsbo/runs"
)

// writeCheckpoint writes the checkpoint after the iterations done to the run folder, if there is
// one, and removes checkpoints older than the newest one that all agents have. No agent computes
// meanwhile.
func (r *runner) writeCheckpoint(ctx context.Context) error {
	if r.Dir == "" {
		return nil
	}
	c, err := r.makeCheckpoint()
	if err != nil {
		return err
	}
	folder, agents := runs.Folder(r.Dir), r.layout.local
	write := func() error { return files.Write(folder.CheckpointPath(agents, r.done), c.writeTo) }
	if s, ok := r.exchange.(network.Saver); ok {
		err = s.Save(ctx, write)
	} else {
		err = write()
	}
	if err != nil {
		return err
	}
	r.newEpoch = false
	if r.OnCheckpoint != nil {
		r.OnCheckpoint(r.done)
	}
	return folder.RemoveOldCheckpoints(agents, r.done, r.checkpointsKept())
}

// makeCheckpoint returns the checkpoint after the iterations done, with views of the agents' state.
// It syncs the metrics file first, since the checkpoint has that file's length and digest. It
// reuses the lists of the checkpoint before.
func (r *runner) makeCheckpoint() (c *checkpoint, err error) {
	config, err := r.identity(r.epoch.Number)
	if err != nil {
		return nil, err
	}
	c = &checkpoint{checkpointHead: checkpointHead{
		Config: config, Epoch: r.epoch.Number, Session: r.epoch.Session, Iteration: r.done, Evaluated: r.evaluated,
		Seconds: r.seconds, Start: r.Start, Agents: r.Problem.agentNumbers(r.Local()), Alike: r.alike,
		Evaluation: r.eval.sent,
	}}
	if c.MetricsBytes, c.MetricsSHA256, err = r.metrics.Sync(); err != nil {
		return nil, err
	}
	c.Usage, c.Arrays = r.checkpoint.Usage[:0], r.checkpoint.Arrays[:0]
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
	if r.done == r.end || r.eval.adoptablePairs() == nil { // else the next solve takes the method's pairs
		_, pairs := r.eval.solverState()
		c.add(pairArrays, pairs)
	}
	if r.Changing || r.roster != nil { // an agent that joins takes these over
		var spent []float64 // of each agent of the roster
		for _, u := range r.eval.lastUsage {
			spent = append(spent, u.Pack()...)
		}
		c.add(evaluationArrays, []dsbo.Named{{Name: usageName, Value: spent}})
	}
	r.checkpoint = *c
	return c, nil
}
