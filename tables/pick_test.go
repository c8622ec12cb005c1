package tables_test

import (
	"testing"

	"dsbo/internal/testkit"
	"dsbo/tables"
)

// TestPick: picked rows are rows of the table, and freeing a block of them leaves the table as
// it is.
func TestPick(t *testing.T) {
	all := testkit.Get(tables.New("f", tables.NumberColumn("a", []float32{1, 2, 3}),
		tables.WordColumn("b", []string{"x", "", "y"})))
	all.Sparse = tables.Sparse{Cols: 9, Starts: []int{0, 1, 1, 3}, Indices: []int32{8, 0, 4},
		Values: []float32{7, 5, 6}}
	p := all.Pick([]int{2, 0})
	a, b := p.Columns[0], p.Columns[1]
	if p.Rows() != 2 || a.Number(0) != 3 || a.Number(1) != 1 || b.Words[b.Code(0)] != "y" || b.Words[b.Code(1)] != "x" {
		t.Errorf("rows 2 and 0 are %v %v of %d", a, b, p.Rows())
	}
	if s := p.Sparse; s.Cols != 9 || s.Starts[1] != 2 || s.Starts[2] != 3 || s.Indices[1] != 4 || s.Values[2] != 7 {
		t.Errorf("sparse rows 2 and 0 are %+v", s)
	}
	a.Free(0)
	if all.Columns[0].Number(2) != 3 {
		t.Error("the table's own block is gone")
	}
}
