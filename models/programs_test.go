package models_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

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
