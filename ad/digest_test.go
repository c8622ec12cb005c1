package ad_test

import (
	"crypto/sha256"
	"slices"
	"testing"

	"dsbo/ad"
)

// TestWriteHash: equal rows are equal however they were picked, and everything else differs.
func TestWriteHash(t *testing.T) {
	must := func(t0 *ad.Table, err error) *ad.Table {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return t0
	}
	sum := func(table *ad.Table) string {
		h := sha256.New()
		table.WriteHash(h)
		return string(h.Sum(nil))
	}
	a := must(ad.ByteTable(2, 2, []uint8{1, 2, 3, 4}, 1))
	long := must(ad.ByteTable(3, 2, []uint8{9, 9, 1, 2, 3, 4}, 1))
	if sum(a) != sum(must(long.Pick([]int{1, 2}))) {
		t.Error("the same rows, picked from more, differ")
	}
	others := []*ad.Table{
		a, long, must(a.Pick([]int{1, 0})), must(ad.ByteTable(1, 4, []uint8{1, 2, 3, 4}, 1)), must(ad.ByteTable(2, 2, []uint8{1, 2, 3, 4}, 0.5)),
		must(ad.FloatTable(2, 2, []float64{1, 2, 3, 4})), must(ad.FloatTable(2, 2, []float64{1, 2, 3, 5})),
		must(ad.Float32Table(2, 2, []float32{1, 2, 3, 4})), must(ad.LabelTable([]uint8{0, 1}, 2)), must(ad.LabelTable([]uint8{1, 1}, 2)),
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
