package experiment

import (
	"fmt"
	"time"

	"dsbo/algo"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train"
)

// watchRun starts the progress of a run and sets the callbacks of c that update it; the returned
// watcher continues with the models after the iterations. In a resumed run, earlier iterations and
// their share of the evaluations count as done. Costs count calls, so the method is initialized
// with p = q = 1.
func (r *run) watchRun(c *train.Config) (modelWatcher, error) {
	watch := modelWatcher{r.view, &pace{now: time.Now}}
	d, p := c.WithDefaults(), watch.pace
	m := algo.Clone(c.Method)
	if err := m.Init(1, 1, d.K); err != nil {
		return watch, err
	}
	evaluations := plannedEvaluations(d)
	p.plan(iterating, plannedIterations(m, d.K))
	p.plan(evaluating, evaluations)
	p.plan(modelling, modelsPlanned)
	p.begin()
	done := 0
	show := func() { r.view.Show(p.progress("iteration", done, d.K)) }
	show()
	c.OnCheckpoint = r.view.Saved
	c.OnDamage = func(err error) { r.view.Log("checkpoint left out: %v", err) }
	c.OnEpoch = func(e membership.Epoch) { noteChange(r.view, d.Membership, e) }
	c.OnResume = func(before int) {
		p.skip(iterating, plannedIterations(m, before))
		p.skip(evaluating, evaluations*float64(before)/float64(d.K))
		done = before
		show()
	}
	c.OnIteration = func(now int) {
		done = now
		p.step(iterating, iterationWork(m, now-1))
		show()
	}
	records := 0
	c.OnRecord = func(rec runs.Record) {
		p.step(evaluating, evaluationWork(rec.Phi.Known()))
		showRecord(r.view, rec, records%recordsPerHead == 0)
		records++
		show()
	}
	return watch, nil
}

// plannedIterations returns the work of the first iterations of a method. Beyond askedIterations it
// uses their mean.
func plannedIterations(m algo.Method, count int) float64 {
	work, asked := 0.0, min(count, askedIterations)
	for k := range asked {
		work += iterationWork(m, k)
	}
	if count > asked {
		work *= float64(count) / float64(asked)
	}
	return work
}

// askedIterations is the number of iterations whose cost is asked for before a run, which bounds
// that time.
const askedIterations = 10000

// plannedEvaluations returns the work of all evaluations, by a configuration with its defaults.
func plannedEvaluations(c train.Config) (work float64) {
	for _, k := range c.RecordedIterations() {
		work += evaluationWork(c.Evaluate == train.EvaluateExact && c.ExactAt(k))
	}
	return work
}

// showRecord shows a record, with the names of its columns before it or without.
func showRecord(v Viewer, rec runs.Record, head bool) {
	text := []string{recordLine(rec)}
	if head {
		text = []string{recordHead, text[0]}
	}
	v.Record(rec, text)
	if least := rec.LeastEigenvalue; least.Known() {
		v.Note(Note{
			Text: fmt.Sprintf("least eigenvalue of the averaged Hessian after iteration %d: %.2g", rec.Iteration,
				float64(least)),
			Name: "spectrum", Facts: []any{"iteration", rec.Iteration, "least_eigenvalue", least},
		})
	}
}

// evaluationWork returns the work of an evaluation, as a share of one with exact values.
func evaluationWork(exact bool) float64 {
	if exact {
		return 1
	}
	return 0.05
}

// iterationWork returns the work of the agents in an iteration of a method, about in gradients.
func iterationWork(m algo.Method, k int) float64 {
	c := m.Cost(k)
	return float64(max(1, c.UpperGrad+c.LowerGrad+2*(c.HVP+c.JVP)))
}

// recordsPerHead is the number of lines of records between two lines of column names.
const recordsPerHead = 20
