package models_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestLiveVectors: what the oracle of a deep network holds for gradients of both losses and
// products, on draws and on all examples, is a few vectors of the length of y, in float32, and a
// tile for a processor that helps.
func TestLiveVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("700,000 weights")
	}
	for _, processors := range []int{1, 2} { // which help each other
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			liveVectors(t, processors)
		})
	}
}

func liveVectors(t *testing.T, processors int) {
	m := models.MLP{Features: 784, Outputs: 10, Hidden: []int{512, 512}}
	s := byteShard(160, 784, 10)
	p, q := m.Dims()
	x, y, v := make([]float64, p), make([]float64, q), make([]float64, q)
	dx, dy := make([]float64, p), make([]float64, q)
	m.Start(y)
	copy(v, y)
	before := num.LiveBytes()
	o := testkit.Get(models.NewOracle(m, s, models.Config{Batch: 128, Float32: true}))
	for _, sample := range []dsbo.Sample{{Set: dsbo.Curvature}, {Set: dsbo.Whole}} {
		_, _, err := o.Values(x, y, sample)
		testkit.OK(errors.Join(err, o.LowerGrad(dy, x, y, sample), o.HVP(dy, x, y, v, sample),
			o.JVP(dx, x, y, v, sample), o.UpperGrad(dx, dy, x, y, sample)))
	}
	vectors := (num.LiveBytes() - before) / float64(4*q)
	t.Logf("%.1f vectors", vectors)
	if most := float64(10 + 2*processors); vectors > most {
		t.Errorf("the oracle holds %.1f vectors of the length of y, want at most %g", vectors, most)
	}
	runtime.KeepAlive(o)
	runtime.KeepAlive([][]float64{x, y, v, dx, dy})
}

// TestAgentsMemory: an agent of many has its vectors and its examples, as bytes; what their
// conversion to numbers takes, it shares with all.
func TestAgentsMemory(t *testing.T) {
	const agents, rows = 24, 200
	m := models.Softmax{Features: 784, Classes: 10}
	s := byteShard(rows, 784, 10)
	p, q := m.Dims()
	x, y, dst := make([]float64, p), make([]float64, q), make([]float64, q)
	programs := models.NewPrograms(m)
	one := func(agent int) *models.Oracle {
		o := testkit.Get(programs.Oracle(s, models.Config{Agent: agent, Float32: true}))
		_, _, err := o.Values(x, y, dsbo.Sample{Set: dsbo.Whole})
		testkit.OK(errors.Join(err, o.Diagonal(dst, x, y, dsbo.Sample{Set: dsbo.Whole}),
			o.Double().Diagonal(dst, x, y, dsbo.Sample{Set: dsbo.Whole})))
		return o
	}
	oracles := []*models.Oracle{one(0)} // and what all share
	before := num.LiveBytes()
	for agent := range agents {
		oracles = append(oracles, one(1+agent))
	}
	each := (num.LiveBytes() - before) / agents / float64(8*q)
	t.Logf("%.1f vectors an agent", each)
	if each > 8 { // the numbers of all rows in float64 are 20, in float32 10
		t.Errorf("an agent holds %.1f vectors of the length of y, want at most 8", each)
	}
	runtime.KeepAlive(oracles)
}
