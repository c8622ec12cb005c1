package main

import (
	"math/rand/v2"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestNothingKept: an answer that was kept, as ad keeps a whole Hessian that is asked for twice at
// one point, is not timed; answers at new points are, of each model and each question.
func TestNothingKept(t *testing.T) {
	for i, c := range growingModels() {
		if testing.Short() && i > 1 {
			break // networks take a while
		}
		m, features := c.model(c.sizes[0])
		_, q := m.Dims()
		r := rand.New(rand.NewPCG(5, 5))
		e, v := drawnExamples(m, features, r), normal(r, q, .1)
		for _, asked := range questions(v) {
			err := testkit.Catch(func() {
				if ms, mb := costOf(m, e, asked, 2); !(ms >= 0) || !(mb > 0) {
					t.Errorf("%s: the %s takes %v ms and %v MB", c.name, asked.name, ms, mb)
				}
			})
			if err != nil {
				t.Errorf("%s: %s: %v", c.name, asked.name, err)
			}
			fixed := asked // it is asked where it was asked before
			fixed.ask = func(o *models.Oracle, dst, x, y []float64) error { return asked.ask(o, dst, x, v) }
			if err := testkit.Catch(func() { costOf(m, e, fixed, 2) }); err == nil {
				t.Errorf("%s: a kept answer for the %s must be an error", c.name, asked.name)
			}
		}
	}
}
