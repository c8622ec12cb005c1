package ad

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/ad/internal/engine"
	"dsbo/internal/testkit"
)

// tables returns one table of each kind, all 4×3, and what a float64 program reads from it.
func tables(t *testing.T) map[string]struct {
	table *Table
	want  []float64
} {
	t.Helper()
	f64 := []float64{0, -1, 2, .1, .2, .3, 1e6, -1e6, 7, 8, 9, 10}
	f32 := make([]float32, len(f64))
	wide := make([]float64, len(f64))
	b := make([]uint8, len(f64))
	scaled := make([]float64, len(f64))
	for i, v := range f64 {
		f32[i] = float32(v)
		wide[i] = float64(f32[i])
		b[i] = uint8(23 * i)
		scaled[i] = float64(b[i]) * (1.0 / 255)
	}
	return map[string]struct {
		table *Table
		want  []float64
	}{
		"float64": {testkit.Get(FloatTable(4, 3, f64)), f64},
		"float32": {testkit.Get(Float32Table(4, 3, f32)), wide},
		"bytes":   {testkit.Get(ByteTable(4, 3, b, 1.0/255)), scaled},
		"sparse": {testkit.Get(SparseTable(4, 3, []int{0, 2, 2, 3, 5}, []int32{0, 2, 1, 0, 2},
			[]float32{.1, -2, 3, 4, 1e6})),
			[]float64{float64(float32(.1)), 0, -2, 0, 0, 0, 0, 3, 0, 4, 0, 1e6}},
		"classes": {testkit.Get(ClassTable([]int32{2, 0, 1, 2}, 3)), []float64{0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}},
		"labels":  {testkit.Get(LabelTable([]uint8{2, 0, 1, 2}, 3)), []float64{0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}},
	}
}

// rowsOf is the plain twin of engine.Read: the rows of want named by idx.
func rowsOf(want []float64, cols int, idx []int) []float64 {
	var rows []float64
	for _, r := range idx {
		rows = append(rows, want[r*cols:(r+1)*cols]...)
	}
	return rows
}

func TestTableReads(t *testing.T) {
	for name, c := range tables(t) {
		t.Run(name, func(t *testing.T) {
			picked := testkit.Get(c.table.Pick([]int{3, 1, 1, 0, 2}))
			again := testkit.Get(picked.Pick([]int{4, 0}))
			for _, r := range []struct {
				name     string
				table    *Table
				idx      []int
				from, to int
				base     []int // the same rows as rows of the first table
			}{
				{"all", c.table, nil, 0, 4, []int{0, 1, 2, 3}},
				{"some", c.table, nil, 1, 3, []int{1, 2}},
				{"none", c.table, nil, 2, 2, nil},
				{"indexed", c.table, []int{0, 2, 3}, 1, 3, []int{2, 3}},
				{"picked", picked, nil, 0, 5, []int{3, 1, 1, 0, 2}},
				{"picked, indexed", picked, []int{0, 3, 4}, 0, 3, []int{3, 0, 2}},
				{"picked twice", again, nil, 0, 2, []int{2, 3}},
				{"compact", picked.Compact(), nil, 0, 5, []int{3, 1, 1, 0, 2}},
				{"appended", testkit.Get(c.table.Append(picked)), nil, 2, 7, []int{2, 3, 3, 1, 1}},
				{"compact, picked", testkit.Get(again.Compact().Pick([]int{1, 0})), nil, 0, 2, []int{3, 2}},
			} {
				want := rowsOf(c.want, 3, r.base)
				got := make([]float64, len(want))
				engine.Read(&r.table.data, got, r.idx, r.from, r.to)
				if d := cmp.Diff(want, got); d != "" && len(want) > 0 {
					t.Errorf("%s: float64 rows (-want +got):\n%s", r.name, d)
				}
				got32 := make([]float32, len(want))
				engine.Read(&r.table.data, got32, r.idx, r.from, r.to)
				for i := range want {
					// Bytes are scaled in float32: the rounded scale and the product each
					// lose at most 2^-24 relative, and float64 some 2^-53 more.
					if d := math.Abs(float64(got32[i]) - want[i]); d > math.Abs(want[i])*2.001*0x1p-24 {
						t.Errorf("%s: float32 number %d is %g, want %g", r.name, i, got32[i], want[i])
					}
				}
			}
			for i := range 5 {
				for j := range 3 {
					if got, want := picked.At(i, j), c.want[[]int{3, 1, 1, 0, 2}[i]*3+j]; got != want {
						t.Errorf("At(%d, %d) = %g, want %g", i, j, got, want)
					}
				}
			}
			if picked.Rows() != 5 || picked.Cols() != 3 {
				t.Errorf("picked table is %d×%d, want 5×3", picked.Rows(), picked.Cols())
			}
		})
	}
}

func TestTableInPlace(t *testing.T) {
	for name, c := range tables(t) {
		rows64, ok64 := engine.InPlace[float64](&c.table.data, nil, 1, 3)
		rows32, ok32 := engine.InPlace[float32](&c.table.data, nil, 1, 3)
		if ok64 != (name == "float64") || ok32 != (name == "float32") {
			t.Errorf("%s: in place as float64 %t, as float32 %t", name, ok64, ok32)
		}
		if ok64 && (len(rows64) != 6 || cap(rows64) != 6 || &rows64[0] != &c.table.data.F64[3]) {
			t.Errorf("%s: rows 1 and 2 are not the table's own memory", name)
		}
		if ok32 && (len(rows32) != 6 || &rows32[0] != &c.table.data.F32[3]) {
			t.Errorf("%s: rows 1 and 2 are not the table's own memory", name)
		}
		picked := testkit.Get(c.table.Pick([]int{0, 1}))
		if _, ok := engine.InPlace[float64](&picked.data, nil, 0, 1); ok {
			t.Errorf("%s: a picked table was read in place", name)
		}
		compact := picked.Compact()
		if _, ok := engine.InPlace[float64](&compact.data, nil, 0, 1); ok != (name == "float64") ||
			compact.Compact() != compact {
			t.Errorf("%s: a compact table is read in place: %v", name, ok)
		}
		if _, ok := engine.InPlace[float64](&c.table.data, []int{0, 1}, 0, 1); ok {
			t.Errorf("%s: an indexed batch was read in place", name)
		}
	}
}

func TestTableLabel(t *testing.T) {
	all := tables(t)
	for i, want := range []int{2, 0, 1, 2} {
		for _, form := range []string{"labels", "classes"} {
			if got, ok := all[form].table.Label(i); got != want || !ok {
				t.Errorf("%s: Label(%d) = %d, %t, want %d", form, i, got, ok, want)
			}
		}
	}
	if _, ok := all["bytes"].table.Label(0); ok {
		t.Error("a byte table has a label")
	}
}

func TestTableAppendErrors(t *testing.T) {
	labels := testkit.Get(LabelTable([]uint8{2, 0}, 3))
	columns, form := testkit.Get(LabelTable([]uint8{1, 0}, 2)), testkit.Get(FloatTable(1, 3, []float64{0, 1, 0}))
	for _, other := range []*Table{columns, form} {
		_, err := labels.Append(other)
		wantError(t, err, dsbo.ErrShape, "")
	}
}

func TestTableErrors(t *testing.T) {
	small := testkit.Get(FloatTable(2, 1, []float64{1, 2}))
	const half = 1 << (bits.UintSize / 2) // half·half is 0 in an int
	make1 := func(tab *Table, err error) error { return err }
	for _, c := range []struct {
		name string
		err  error
		kind error
		text string
	}{
		{"too few numbers", make1(FloatTable(2, 2, make([]float64, 3))), dsbo.ErrShape,
			"a table of 2 rows and 2 columns needs as many numbers as that makes; there are 3"},
		{"product beyond int", make1(FloatTable(half, half, nil)), dsbo.ErrShape,
			fmt.Sprintf("a table of %d rows and %d columns needs as many numbers as that makes; there are 0", half,
				half)},
		{"no rows", make1(Float32Table(0, 2, nil)), dsbo.ErrShape,
			"a table needs at least one row and one column; it has 0 and 2"},
		{"no columns", make1(ByteTable(2, 0, nil, 1)), dsbo.ErrShape,
			"a table needs at least one row and one column; it has 2 and 0"},
		{"NaN", make1(FloatTable(2, 2, []float64{1, 2, math.NaN(), 4})), dsbo.ErrConfig,
			"numbers must be finite; row 1, column 0 has NaN"},
		{"infinite", make1(Float32Table(1, 2, []float32{1, float32(math.Inf(-1))})), dsbo.ErrConfig,
			"numbers must be finite; row 0, column 1 has -Inf"},
		{"scale", make1(ByteTable(1, 1, []uint8{1}, 0)), dsbo.ErrConfig,
			"the scale of a byte table must be finite and not 0; it is 0"},
		{"classes", make1(LabelTable([]uint8{1}, 257)), dsbo.ErrConfig,
			"the number of classes must be from 1 to 256; it is 257"},
		{"label", make1(LabelTable([]uint8{1, 3}, 3)), dsbo.ErrConfig,
			"labels must be from 0 to 2; row 1 has 3"},
		{"no labels", make1(LabelTable(nil, 3)), dsbo.ErrShape,
			"a table needs at least one row and one column; it has 0 and 1"},
		{"pick nothing", make1(small.Pick(nil)), dsbo.ErrShape,
			"a table needs at least one row"},
		{"pick outside", make1(small.Pick([]int{0, 2})), dsbo.ErrShape,
			"rows of a selection must be from 0 to 1; at place 1 is 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if wantError(t, c.err, c.kind, c.text); c.err != nil && c.err.Error() != c.text {
				t.Errorf("error %q, want %q", c.err, c.text)
			}
		})
	}
}

func TestFloat32Copy(t *testing.T) {
	tab := testkit.Get(FloatTable(2, 2, []float64{1, .1, -3, 1e-60}))
	tab = testkit.Get(tab.Pick([]int{1, 0, 1}))
	got := testkit.Get(tab.Float32())
	for i, want := range []float64{-3, 0, 1, float64(float32(.1)), -3, 0} {
		if v := got.At(i/2, i%2); v != want {
			t.Errorf("row %d, column %d: %v, want %v", i/2, i%2, v, want)
		}
	}
	if again, err := got.Float32(); err != nil || again != got {
		t.Errorf("a float32 table gives %p (%v), want itself, %p", again, err, got)
	}
	tab = testkit.Get(FloatTable(1, 2, []float64{0, 1e39}))
	_, err := tab.Float32()
	wantError(t, err, dsbo.ErrConfig, "row 0, column 1 has 1e+39")
}
