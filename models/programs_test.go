package models_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// A counted counts how often its losses are built.
type counted struct {
	models.Softmax
	lower, upper *atomic.Int64
}

func (m counted) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	m.lower.Add(1)
	return m.Softmax.Lower(x, y, b)
}

func (m counted) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	m.upper.Add(1)
	return m.Softmax.Upper(x, y, b)
}

// TestPrograms: oracles of several agents on the same tables that are asked at once have the bits
// of oracles that are asked alone, whether they share programs or not. Who shares them builds each
// loss once for each number of rows.
func TestPrograms(t *testing.T) {
	const agents = 8
	m := counted{models.Softmax{Features: 12, Classes: 3}, new(atomic.Int64), new(atomic.Int64)}
	p, q := m.Dims()
	x, y, v := make([]float64, p), make([]float64, q), make([]float64, q)
	for i := range v {
		y[i], v[i] = float64(i%7)/10, float64(i%5)
	}
	ask := func(o *models.Oracle) (all [][]float64) {
		for _, name := range []dsbo.Sample{{Set: dsbo.Curvature}, {Set: dsbo.Whole}, {Set: dsbo.Lower, K: 1}} {
			all = append(all, answers(o, name, x, y, v)...)
		}
		return all
	}
	s, programs := byteShard(50, 12, 3), models.NewPrograms(m)
	var want, own, shared [agents][][]float64
	var wg sync.WaitGroup
	for i := range agents {
		c := models.Config{Agent: i, Batch: 20, Seed: 1}
		want[i] = ask(testkit.Get(models.NewOracle(m.Softmax, s, c)))
		alone, o := testkit.Get(models.NewOracle(m.Softmax, s, c)), testkit.Get(programs.Oracle(s, c))
		wg.Go(func() { own[i] = ask(alone) })
		wg.Go(func() { shared[i] = ask(o) })
	}
	wg.Wait()
	for i := range agents {
		for j := range want[i] {
			if !slices.Equal(own[i][j], want[i][j]) || !slices.Equal(shared[i][j], want[i][j]) {
				t.Errorf("agent %d: answer %d differs from that of an oracle alone", i, j)
			}
		}
	}
	if l, u := m.lower.Load(), m.upper.Load(); l != 2 || u != 2 {
		t.Errorf("Lower was built %d times and Upper %d times; want 2 each, on draws and on all examples", l, u)
	}
}

// Two agents with data of their own: the loss is compiled once.
func ExamplePrograms() {
	programs := models.NewPrograms(Ridge{Features: 1})
	targets, _ := ad.FloatTable(2, 1, []float64{2, 4})
	for agent, features := range [][]float64{{1, 2}, {2, 4}} {
		table, _ := ad.FloatTable(2, 1, features)
		seen := data.Examples{X: table, Target: targets}
		oracle, err := programs.Oracle(data.Shard{Train: seen, Val: seen}, models.Config{Agent: agent})
		if err != nil {
			fmt.Println(err)
			return
		}
		grad := make([]float64, 1)
		err = oracle.LowerGrad(grad, []float64{0}, []float64{1}, dsbo.Sample{Set: dsbo.Whole})
		fmt.Println("agent", agent, "∇_y g:", grad, err)
	}
	// Output:
	// agent 0 ∇_y g: [-1.5] <nil>
	// agent 1 ∇_y g: [1] <nil>
}

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
