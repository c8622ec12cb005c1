package data_test

import (
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
)

// TestWithoutTargets: examples that have no targets are dealt out, and have a name by their rows.
func TestWithoutTargets(t *testing.T) {
	x := make([]float64, 40)
	for i := range x {
		x[i] = float64(i)
	}
	e := data.Examples{X: testkit.Get(ad.FloatTable(20, 2, x))}
	task := testkit.Get(data.NewTask(e, data.Examples{}, data.Split{Agents: 4, Seed: 1}))
	for i, s := range task.Shards {
		if s.Train.Len() == 0 || s.Val.Len() == 0 || s.Train.Target != nil || s.Val.Target != nil {
			t.Errorf("agent %d has %d and %d examples, want some of both, without targets",
				i, s.Train.Len(), s.Val.Len())
		}
	}
}
