package ad_test

import (
	"crypto/sha256"
	"slices"
	"testing"

	"dsbo/ad"
	"dsbo/internal/testkit"
)

// TestWriteHash: equal rows are equal however they were picked, and everything else differs.
func TestWriteHash(t *testing.T) {
	sum := func(table *ad.Table) string {
		h := sha256.New()
		table.WriteHash(h)
		return string(h.Sum(nil))
	}
	a := testkit.Get(ad.ByteTable(2, 2, []uint8{1, 2, 3, 4}, 1))
	long := testkit.Get(ad.ByteTable(3, 2, []uint8{9, 9, 1, 2, 3, 4}, 1))
	if sum(a) != sum(testkit.Get(long.Pick([]int{1, 2}))) {
		t.Error("the same rows, picked from more, differ")
	}
	others := []*ad.Table{
		a, long, testkit.Get(a.Pick([]int{1, 0})), testkit.Get(ad.ByteTable(1, 4, []uint8{1, 2, 3, 4}, 1)),
		testkit.Get(ad.ByteTable(2, 2, []uint8{1, 2, 3, 4}, 0.5)),
		testkit.Get(ad.FloatTable(2, 2, []float64{1, 2, 3, 4})),
		testkit.Get(ad.FloatTable(2, 2, []float64{1, 2, 3, 5})),
		testkit.Get(ad.Float32Table(2, 2, []float32{1, 2, 3, 4})), testkit.Get(ad.LabelTable([]uint8{0, 1}, 2)),
		testkit.Get(ad.LabelTable([]uint8{1, 1}, 2)), testkit.Get(ad.ClassTable([]int32{1, 1}, 2)),
		testkit.Get(ad.ClassTable([]int32{1, 0}, 2)),
		testkit.Get(ad.SparseTable(2, 2, []int{0, 1, 2}, []int32{0, 1}, []float32{1, 2})),
		testkit.Get(ad.SparseTable(2, 2, []int{0, 0, 2}, []int32{0, 1}, []float32{1, 2})),
		testkit.Get(ad.SparseTable(2, 2, []int{0, 1, 2}, []int32{0, 0}, []float32{1, 2})),
		testkit.Get(ad.SparseTable(2, 2, []int{0, 1, 2}, []int32{0, 1}, []float32{1, 3})),
	}
	var sums []string
	for i, o := range others {
		if s := sum(o); slices.Contains(sums, s) {
			t.Errorf("table %d is like one before", i)
		} else {
			sums = append(sums, s)
		}
	}
}
