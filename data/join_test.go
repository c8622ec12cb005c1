package data_test

import (
	"errors"
	"slices"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
)

// labelled returns examples of one feature, whose labels are of three classes.
func labelled(x []float64, labels ...uint8) data.Examples {
	return data.Examples{X: testkit.Get(ad.FloatTable(len(x), 1, x)), Target: testkit.Get(ad.LabelTable(labels, 3))}
}

func TestJoin(t *testing.T) {
	a, b := labelled([]float64{1, 2, 3}, 0, 1, 2), labelled([]float64{4, 5}, 2, 0)
	a.ID = []int{7, 8, 9}
	b.X, b.Target = testkit.Get(b.X.Pick([]int{1, 0})), testkit.Get(b.Target.Pick([]int{1, 0})) // rows in another order
	joined := testkit.Get(data.Join(a, b, 20))
	var x []float64
	var labels []int
	for i := range joined.Len() {
		label, ok := joined.Target.Label(i)
		if !ok {
			t.Fatalf("row %d has no label", i)
		}
		x, labels = append(x, joined.X.At(i, 0)), append(labels, label)
	}
	if !slices.Equal(x, []float64{1, 2, 3, 5, 4}) || !slices.Equal(labels, []int{0, 1, 2, 0, 2}) ||
		!slices.Equal(joined.ID, []int{7, 8, 9, 20, 21}) {
		t.Errorf("joined examples are %v with labels %v and IDs %v", x, labels, joined.ID)
	}
}

func TestJoinRefuses(t *testing.T) {
	a := labelled([]float64{1, 2}, 0, 1)
	for name, b := range map[string]data.Examples{
		"features": {X: testkit.Get(ad.FloatTable(1, 2, []float64{1, 2})), Target: a.Target},
		"classes":  {X: a.X, Target: testkit.Get(ad.LabelTable([]uint8{0, 1}, 2))},
		"targets":  {X: a.X, Target: a.X},
		"weights":  {X: a.X, Target: a.Target, Weight: a.X},
	} {
		if _, err := data.Join(a, b, 2); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
