package experiment

import (
	"fmt"
	"time"

	"dsbo/algo"
	"dsbo/experiment/console"
	"dsbo/runs"
	"dsbo/train"
)

// watch begins the progress of a run, which its configuration then keeps up to date.
func (r *stepChooser) watch(c *train.Config) error {
	d := c.WithDefaults()
	m := algo.Clone(r.method)
	if err := m.Init(1, 1, d.K); err != nil { // it makes as many calls whatever p and q are
		return err
	}
	evaluations := plannedEvaluations(d)
	r.pace = &pace{now: time.Now}
	r.pace.plan(iterating, plannedIterations(m, d.K))
	r.pace.plan(evaluating, evaluations)
	r.pace.plan(modelling, modelsPlanned)
	r.pace.begin()
	done := 0
	show := func() { r.view.Show(r.pace.progress("iteration", done, d.K)) }
	show()
	c.OnCheckpoint = r.view.Saved
	c.OnDamage = func(err error) { r.view.Log("checkpoint left out: %v", err) }
	c.OnEpoch = r.noteChange
	c.OnResume = func(before int) {
		r.pace.skip(iterating, plannedIterations(m, before))
		r.pace.skip(evaluating, evaluations*float64(before)/float64(d.K))
		done = before
		show()
	}
	c.OnIteration = func(now int) {
		done = now
		r.pace.step(iterating, iterationWork(m, now-1))
		show()
	}
	records := 0
	c.OnRecord = func(rec runs.Record) {
		r.pace.step(evaluating, evaluationWork(rec.Phi.Known()))
		r.showRecord(rec, records%recordsPerHead == 0)
		records++
		show()
	}
	return nil
}

// plannedIterations returns the work of the first iterations of a method. Of more than
// askedIterations the others have the mean of these.
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

// askedIterations is how many iterations a method is asked about before a run, which begins at once
// however many it has.
const askedIterations = 10000

// plannedEvaluations returns the work of all evaluations, by a configuration with its defaults.
func plannedEvaluations(c train.Config) (work float64) {
	for k := range c.RecordedIterations() {
		work += evaluationWork(c.Evaluate == train.EvaluateExact && c.ExactAt(k))
	}
	return work
}

// showRecord shows a record, with the names of its columns before it or without.
func (r *base) showRecord(rec runs.Record, head bool) {
	text := []string{console.RecordLine(rec)}
	if head {
		text = []string{console.RecordHead, text[0]}
	}
	r.view.Record(rec, text)
	if least := rec.LeastEigenvalue; least.Known() {
		r.view.Note(Note{
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

// recordsPerHead is how many lines about records follow a line with the names of their columns.
const recordsPerHead = 20
