package models_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestGorgonia: Gorgonia's TapeMachine runs each model, by draws and on all examples, and answers
// to 1e-12 of the largest entry as compiled programs do. None has an op that it refuses.
func TestGorgonia(t *testing.T) {
	for _, c := range slices.Concat(namedCases(), modelCases()) {
		t.Run(c.name, func(t *testing.T) {
			var oracles [2]*models.Oracle
			config := models.Config{Batch: 8}
			if joint, ok := c.model.(models.Joint); ok && joint.Joint() {
				config.Batch = 0
			}
			for i := range oracles {
				config.Gorgonia = i == 1
				oracles[i] = testkit.Get(models.NewOracle(c.model, c.shard, config))
			}
			r := rand.New(rand.NewPCG(5, 3))
			p, q := c.model.Dims()
			x, y, v := normal(r, p, .3), normal(r, q, .3), normal(r, q, 1)
			for _, set := range []dsbo.Set{dsbo.Whole, dsbo.Curvature} {
				s := dsbo.Sample{Set: set}
				var answers [2][]float64
				for i, o := range oracles {
					upper, lower, err := o.Values(x, y, s)
					both, joint := make([]float64, p+q), make([]float64, p+q)
					hvp, jvp := make([]float64, q), make([]float64, p)
					testkit.OK(errors.Join(err, o.UpperGrad(both[:p], both[p:], x, y, s),
						o.LowerJointGrad(joint[:p], joint[p:], x, y, s), o.HVP(hvp, x, y, v, s),
						o.JVP(jvp, x, y, v, s)))
					answers[i] = slices.Concat([]float64{upper, lower}, both, joint, hvp, jvp)
				}
				most := max(slices.Max(answers[0]), -slices.Min(answers[0]))
				for i, want := range answers[0] {
					if got := answers[1][i]; !(math.Abs(got-want) <= 1e-12*most) {
						t.Fatalf("%v, answer %d: %v on the TapeMachine, %v compiled", set, i, got, want)
					}
				}
			}
		})
	}
}

// BenchmarkGorgonia tells how many times the TapeMachine takes the processor time of a compiled
// program, for a product on 1000 pictures of 784 pixels at a new point each.
func BenchmarkGorgonia(b *testing.B) {
	shard := byteShard(1000, 784, 10)
	for _, m := range []models.Model{models.Softmax{Features: 784, Classes: 10},
		models.MLP{Features: 784, Outputs: 10}} {
		b.Run(fmt.Sprintf("%T", m), func(b *testing.B) {
			p, q := m.Dims()
			r := rand.New(rand.NewPCG(1, 1))
			x, y, v, dst := normal(r, p, .1), normal(r, q, .1), normal(r, q, 1), make([]float64, q)
			var took [2]time.Duration
			oracles := [2]*models.Oracle{testkit.Get(models.NewOracle(m, shard, models.Config{})),
				testkit.Get(models.NewOracle(m, shard, models.Config{Gorgonia: true}))}
			for _, o := range oracles {
				testkit.OK(o.HVP(dst, x, y, v, dsbo.Sample{Set: dsbo.Whole})) // compiles
			}
			for b.Loop() {
				y[0] = -y[0]
				for i, o := range oracles {
					from := testkit.ProcessorTime()
					testkit.OK(o.HVP(dst, x, y, v, dsbo.Sample{Set: dsbo.Whole}))
					took[i] += testkit.ProcessorTime() - from
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "times")
		})
	}
}
