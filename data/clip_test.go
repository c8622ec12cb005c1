package data_test

import (
	"errors"
	"math"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
)

// TestClip: no row is longer than the bound, of short ones nothing changes, and directions stay.
func TestClip(t *testing.T) {
	rows := []float64{3, 4, 0.3, 0.4, 0, 0, 1e30, -1e30, 0.66, 0.88}
	e := data.Examples{X: testkit.Get(ad.FloatTable(5, 2, rows)),
		Target: testkit.Get(ad.FloatTable(5, 1, make([]float64, 5)))}
	task := data.Task{Shards: []data.Shard{{Train: e, Val: e}}, Test: e, Features: 2}
	got := testkit.Get(data.Clip(task, 1, []int{0}))
	want := []float64{0.6, 0.8, 0.3, 0.4, 0, 0, math.Sqrt(0.5), -math.Sqrt(0.5), 0.6, 0.8}
	for name, clipped := range map[string]data.Examples{"training": got.Shards[0].Train,
		"validation": got.Shards[0].Val, "test": got.Shards[0].Test} {
		for i := range 5 {
			a, b := clipped.X.At(i, 0), clipped.X.At(i, 1)
			// 1e-6 is kept from the bound, and float32 rounds by 6e-8.
			if !(math.Abs(a-want[2*i]) <= 1.1e-6) || !(math.Abs(b-want[2*i+1]) <= 1.1e-6) || math.Hypot(a, b) > 1 {
				t.Errorf("%s row %d is (%g, %g), want (%g, %g)", name, i, a, b, want[2*i], want[2*i+1])
			}
		}
	}
	if task.Shards[0].Train.X.At(0, 0) != 3 {
		t.Error("the rows that were given must stay as they are")
	}
	if _, err := data.Clip(task, 0, nil); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a bound of 0: error %v", err)
	}
}
