package train

import (
	"errors"
	"fmt"

	"dsbo"
	"dsbo/internal/atomicfile"
	"dsbo/runs"
)

// openFiles begins the run's files: anew, or where the checkpoint is.
func (r *runner) openFiles() (err error) {
	if r.Dir == "" {
		return nil
	}
	var c *checkpoint
	if r.Resume {
		if c, err = r.readCheckpoint(); err != nil {
			return err
		}
	}
	after := -1
	if c != nil {
		after = c.Iteration
		err = r.resume(c)
	} else if r.writesMetrics() {
		r.metrics, err = runs.Folder(r.Dir).CreateMetrics()
	}
	if err != nil {
		return err
	}
	if err = r.removeAfter(runs.Folder(r.Dir), after); err == nil {
		err = r.metrics.Cut()
	}
	if err != nil {
		return errors.Join(err, r.metrics.Close())
	}
	return nil
}

// readCheckpoint returns the checkpoint to resume from, nil if there is none yet. It has to be of a run with this
// configuration.
func (c *Config) readCheckpoint() (*checkpoint, error) {
	g, err := c.Problem.group()
	if err != nil {
		return nil, err
	}
	data, path, err := g.readCheckpoint(runs.Folder(c.Dir), c.From)
	if data == nil || err != nil {
		return nil, err
	}
	found, err := parseCheckpoint(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	here, err := c.identity()
	if err != nil {
		return nil, err
	}
	if diff, err := runs.Diff(found.Config, here); err != nil {
		return nil, err
	} else if len(diff) > 0 {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s is of a run with other settings: %v", path, diff)
	}
	if len(found.Usage) != len(g.local) || found.Iteration > c.K {
		return nil, fmt.Errorf("%s: %w", path, corrupt("%d agents after %d iterations", len(found.Usage), found.Iteration))
	}
	return found, nil
}

// save writes the checkpoint.
func (r *runner) save() error {
	if r.Dir == "" {
		return nil
	}
	config, err := r.identity()
	if err != nil {
		return err
	}
	c := checkpoint{checkpointHead: checkpointHead{
		Config: config, Iteration: r.done, Evaluated: r.evaluated, Round: r.round, Seconds: r.seconds, Curvature: r.Curvature,
	}}
	if c.MetricsBytes, c.MetricsSHA256, err = r.metrics.Sync(); err != nil {
		return err
	}
	for _, i := range r.local {
		c.Usage = append(c.Usage, r.agents[i].usage())
		c.add(i, r.agents[i].state())
	}
	c.add(-1, r.eval.state())
	path := r.checkpointPath(runs.Folder(r.Dir), r.done)
	if err := atomicfile.Write(path, c.writeTo); err != nil {
		return err
	}
	if r.OnCheckpoint != nil {
		r.OnCheckpoint(r.done)
	}
	return r.prune(runs.Folder(r.Dir))
}

// resume makes the run stand where the checkpoint was written.
func (r *runner) resume(c *checkpoint) (err error) {
	path := r.checkpointPath(runs.Folder(r.Dir), c.Iteration)
	for k, i := range r.local {
		if err := c.restore(i, r.agents[i].state()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		r.agents[i].resume(c.Iteration, c.Usage[k])
	}
	if err := c.restore(-1, r.eval.state()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r.done, r.evaluated, r.seconds = c.Iteration, c.Evaluated, c.Seconds
	if !r.writesMetrics() {
		return nil
	}
	r.metrics, r.records, err = runs.Folder(r.Dir).ReopenMetrics(c.MetricsBytes, c.MetricsSHA256)
	return err
}
