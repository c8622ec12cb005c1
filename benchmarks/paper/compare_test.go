package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/algo"
	"dsbo/runs"
	"dsbo/train"
)

// made is a run that spends so many seconds and bytes an iteration, with these Φ.
func made(cost float64, phi ...float64) *train.Result {
	res := &train.Result{}
	for k, v := range phi {
		res.Records = append(res.Records, runs.Record{
			Iteration: k, Phi: runs.Number(v), Seconds: float64(k) * cost, Sent: runs.Sent{Bytes: int64(float64(k) * cost * 1000)},
			Calls: algo.Calls{UpperGrad: k, LowerGrad: k, HVP: k, JVP: k, Hessian: 2 * k, Jacobian: k},
		})
	}
	return res
}

// contest is two seeds of three methods: one to the letter and slow, one of ours, one with matrices.
func contest() (*comparison, []trial) {
	return &comparison{features: 10, seeds: 2}, []trial{
		{candidate{contestant: contestant{name: "letter"}, ours: true, letter: true}, 1, []*train.Result{made(1, 10, 9.5, 9), made(1, 20, 19.5, 19)}},
		{candidate{contestant: contestant{name: "ours"}, ours: true}, 5, []*train.Result{made(1, 10, 7, 4), made(1, 20, 17, 14)}},
		{candidate{contestant: contestant{name: "dense"}}, 5, []*train.Result{made(50, 10, 7, 5, 8), made(50, 20, 17, math.NaN(), 15)}},
	}
}

func TestLevels(t *testing.T) {
	c, trials := contest()
	levels := c.levels(trials)
	if len(levels) != 2 {
		t.Fatalf("%d levels, want that of all and that without the letter", len(levels))
	}
	// Nine tenths of the way: from 10 to the letter's 9 and from 20 to its 19; from 10 and 20 to the dense one's 5 and 15.
	if diff := cmp.Diff([][]float64{{9.1, 19.1}, {5.5, 15.5}}, [][]float64{levels[0].phi, levels[1].phi}); diff != "" {
		t.Error(diff)
	}
	after := func(k, cost float64) expense { return expense{k, k * cost, k * (4 + 3*10), 1000 * k * cost} }
	for i, want := range []struct {
		runs  []int
		spent []expense
	}{
		{[]int{2, 2, 2}, []expense{after(2, 1), after(1, 1), after(1, 50)}},
		{[]int{0, 2, 2}, []expense{{}, after(2, 1), after(2.5, 50)}}, // the dense one's second record with one seed, its third with the other
	} {
		for j, spent := range levels[i].spent {
			if levels[i].runs[j] != want.runs[j] || want.runs[j] > 0 && spent != want.spent[j] {
				t.Errorf("level %d, method %d: %d runs with %v, want %d with %v", i, j, levels[i].runs[j], spent, want.runs[j], want.spent[j])
			}
		}
	}
}

func TestChosenLevel(t *testing.T) {
	c, trials := contest()
	c.phi = 4.5
	levels := c.levels(trials)
	if diff := cmp.Diff([]int{0, 1, 0}, levels[0].runs); diff != "" || len(levels) != 1 {
		t.Errorf("%d levels: %s", len(levels), diff)
	}
}

func TestBudget(t *testing.T) {
	c, trials := contest()
	least, within := c.budget(trials)
	if want := (expense{3, 150, 102, 150e3}); least != want {
		t.Errorf("budget %v, want %v", least, want)
	}
	// Medians of the two seeds. The dense one's best was before its end.
	if diff := cmp.Diff([][]float64{{14, 14, 14}, {9, 9, 9}, {10, 10, 10}}, within); diff != "" {
		t.Error(diff)
	}
}
