package experiment

import (
	"fmt"
	"math"
	"time"

	"dsbo"
	"dsbo/models"
	"dsbo/train"
)

// A problem is the bilevel problem that a task has loaded, with its descriptions.
type problem struct {
	train.Problem
	convex   bool           // the lower problem has one solution, so that Φ is defined
	shapeY   []int          // shape of omega.npy
	settings map[string]any // the task's part of config.json and of what a checkpoint belongs to
	line     string         // description for people
}

// load makes the problem and checks the settings against it.
func (r *runner) load() error {
	began := time.Now()
	s, here := r.Settings, []int{}
	for i := range s.Agents {
		here = append(here, i)
	}
	if r.team != nil {
		here = r.team.Local()
	}
	task, model, err := r.Task.Load(Agents{N: s.Agents, Here: here, Seed: s.Seed})
	if err != nil {
		return err
	}
	if len(task.Shards) != s.Agents {
		return dsbo.Errorf(dsbo.ErrConfig, "-agents must be %d, for which %s has data; it is %d", len(task.Shards), r.Task.Name(), s.Agents)
	}
	var p problem
	if p.Problem, err = train.NewPart(r.team, task, model, models.Config{Seed: s.Seed, Batch: s.Batch, Float32: s.DType == "float32"}); err != nil {
		return err
	}
	rows := math.MaxInt // fewest training or validation examples of an agent in this process
	for _, i := range here {
		rows = min(rows, task.Shards[i].Train.Len(), task.Shards[i].Val.Len())
	}
	if s.Batch > rows {
		return dsbo.Errorf(dsbo.ErrConfig, "-batch must be at most %d, as an agent has so many examples, or 0 for all; it is %d", rows, s.Batch)
	}
	_, p.convex = model.(models.StronglyConvex)
	nx, ny := model.Dims()
	p.shapeY = []int{ny}
	if matrix, ok := model.(models.Shaper); ok {
		rows, cols := matrix.Shape()
		p.shapeY = []int{rows, cols}
	}
	if d, ok := r.Task.(Describer); ok {
		p.settings, p.line = d.Describe(task, model)
	} else {
		p.settings = r.task
		p.line = fmt.Sprintf("%s, p = %d, q = %d, %d agents", r.Task.Name(), nx, ny, s.Agents)
	}
	r.problem, r.loading = p, time.Since(began)
	return nil
}
