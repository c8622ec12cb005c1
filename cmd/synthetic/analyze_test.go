package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/experiment"
	"dsbo/tasks"
	"dsbo/train"
)

// made is a run that spends so many seconds and bytes an iteration, with these Φ.
func made(cost float64, phi ...float64) experiment.Outcome {
	var o experiment.Outcome
	for k, v := range phi {
		o.Records = append(o.Records, train.Record{
			Iteration: k, Phi: train.Number(v), Seconds: float64(k) * cost, Bytes: int64(float64(k) * cost * 1000),
			UpperGrad: k, LowerGrad: k, HVP: k, JVP: k, Hessian: 2 * k, Jacobian: k,
		})
	}
	o.Summary.PhiEnd = train.Number(phi[len(phi)-1])
	return o
}

// contest is two seeds of three methods: one to the letter and slow, one of ours, one with matrices.
func contest() (*command, []trial) {
	c := &command{task: &tasks.SyntheticTask{Features: 10}, seeds: 2}
	return c, []trial{
		{contestant{name: "letter", ours: true, letter: true, symbol: "α = %g"}, 1, []experiment.Outcome{made(1, 10, 9.5, 9), made(1, 20, 19.5, 19)}},
		{contestant{name: "ours", ours: true, symbol: "η = %g"}, 5, []experiment.Outcome{made(1, 10, 7, 4), made(1, 20, 17, 14)}},
		{contestant{name: "dense", symbol: "α = %g"}, 5, []experiment.Outcome{made(50, 10, 7, 5, 8), made(50, 20, 17, math.NaN(), 15)}},
	}
}

func TestLevels(t *testing.T) {
	c, trials := contest()
	res, err := c.analyze(trials)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Levels) != 2 {
		t.Fatalf("%d levels, want that of all and that without the letter", len(res.Levels))
	}
	// Nine tenths of the way: from 10 to the letter's 9 and from 20 to its 19; from 10 and 20 to the dense one's 5 and 15.
	if diff := cmp.Diff([][]float64{{9.1, 19.1}, {5.5, 15.5}}, [][]float64{res.Levels[0].Phi, res.Levels[1].Phi}); diff != "" {
		t.Error(diff)
	}
	at := func(k, cost float64) spent {
		return spent{Iterations: k, Seconds: k * cost, Products: k * (4 + 3*10), Bytes: 1000 * k * cost}
	}
	for i, want := range [][]reach{
		{{2, at(2, 1)}, {2, at(1, 1)}, {2, at(1, 50)}},
		{{}, {2, at(2, 1)}, {2, at(2.5, 50)}}, // the dense one's second record with one seed, its third with the other
	} {
		if diff := cmp.Diff(want, res.Levels[i].Reach, cmp.AllowUnexported(reach{})); diff != "" {
			t.Errorf("level %d: %s", i, diff)
		}
	}
}

func TestLevelOfOnesOwn(t *testing.T) {
	c, trials := contest()
	c.phi = 4.5
	res, err := c.analyze(trials)
	if err != nil {
		t.Fatal(err)
	}
	var runs []int
	for _, r := range res.Levels[0].Reach {
		runs = append(runs, r.Runs)
	}
	if diff := cmp.Diff([]int{0, 1, 0}, runs); diff != "" || len(res.Levels) != 1 {
		t.Errorf("%d levels: %s", len(res.Levels), diff)
	}
}

func TestBudget(t *testing.T) {
	c, trials := contest()
	res, err := c.analyze(trials)
	if err != nil {
		t.Fatal(err)
	}
	want := spent{Iterations: 3, Seconds: 150, Products: 102, Bytes: 150e3}
	if diff := cmp.Diff(want, res.Budget); diff != "" {
		t.Error(diff)
	}
	// Medians of the two seeds. The dense one's best was before its end.
	if diff := cmp.Diff([][]float64{{14, 14, 14}, {9, 9, 9}, {10, 10, 10}}, res.Within); diff != "" {
		t.Error(diff)
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{5, 1, 3}, 3}, {[]float64{4, 1}, 2.5}} {
		if got := median(tt.in); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
}
