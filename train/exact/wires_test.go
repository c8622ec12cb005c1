package exact_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

// twoClasses is a task of three agents with a number of examples each, of the second class where
// two features together are above a threshold.
func twoClasses(rows, features int, threshold float64) data.Task {
	r := rand.New(rand.NewPCG(3, 1))
	set := func() data.Examples {
		x, labels := make([]float64, rows*features), make([]uint8, rows)
		for i := range labels {
			for j := range features {
				x[i*features+j] = r.NormFloat64()
			}
			if x[i*features]+x[i*features+1]+0.5*r.NormFloat64() > threshold {
				labels[i] = 1
			}
		}
		return data.Examples{X: testkit.Get(ad.FloatTable(rows, features, x)),
			Target: testkit.Get(ad.LabelTable(labels, 2))}
	}
	task := data.Task{Features: features, Classes: 2, Test: set()}
	for range 3 {
		task.Shards = append(task.Shards, data.Shard{Train: set(), Val: set()})
	}
	return task
}

// Φ of classes is the Φ of the wire that rounds nothing, wherever a solve starts: the intercepts of
// all classes may be shifted by one number without a change of any probability, and what a wire
// rounds off must not be taken for a way along there. Where few examples have weak penalties the
// lower problem is nearly flat elsewhere too, so that what is rounded off gradients must not
// add up.
func TestOnNarrowWires(t *testing.T) {
	for _, c := range []struct {
		name           string
		rows, features int
		threshold      float64
		lambdas        []float64
		off            float64 // the share of Φ that its error may be
	}{
		{"a quarter in one class", 300, 12, 1, []float64{-3, 0, 2, -1}, 2e-4}, // about PhiTol
		{"few, and weak penalties", 80, 30, 3.4, []float64{-7, 0, -7}, 1e-3},
		{"fewer rows than features", 20, 100, 1, []float64{-3, 0, -5}, 1e-3},
	} {
		problem := testkit.Get(train.NewProblem(twoClasses(c.rows, c.features, c.threshold),
			models.Linear{Features: c.features, Outputs: 2}, models.Config{}))
		problem.W = testkit.Get(network.New("ring", 3, network.Options{W: 0.5})).W
		sharp := problem.Solver()
		sharp.Tol, sharp.AdjointTol = 1e-12, 1e-10
		var want []float64 // Φ at each λ
		for _, lambda := range c.lambdas {
			want = append(want, testkit.Get(
				sharp.Solve(context.Background(), slices.Repeat([]float64{lambda}, c.features))).Phi)
		}
		wires := []network.Wire{network.Int8, network.BF16, network.Float32}
		if testing.Short() {
			wires = wires[:1] // which rounds off most
		}
		for _, wire := range wires {
			problem.Average.Wire = wire
			solver := problem.Solver()
			for k, lambda := range c.lambdas {
				got := testkit.Get(solver.Solve(context.Background(), slices.Repeat([]float64{lambda}, c.features)))
				if off := math.Abs(got.Phi - want[k]); !got.Converged || off > c.off*want[k] {
					t.Errorf("%s, wire %v, λ = %g: Φ %.6f, want %.6f; converged %v after %d products",
						c.name, wire, lambda, got.Phi, want[k], got.Converged, got.Products)
				}
			}
		}
	}
}
