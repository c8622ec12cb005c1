package features_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/tables"
	"dsbo/tables/features"
)

// svmTexts are LIBSVM files of unlike sites: the first has fewer columns than the others, column 3
// is nowhere, column 5 holds ones, and column 7 numbers of another size.
func svmTexts(n int) (texts []string) {
	for i := range n {
		r := rand.New(rand.NewPCG(5, uint64(i)))
		var b strings.Builder
		for range 30 + 10*i {
			fmt.Fprintf(&b, "%+d", 2*r.IntN(2)-1)
			for column, v := range []float64{1: r.NormFloat64(), 2: 3 + r.NormFloat64(), 5: 1,
				7: 1e6 * r.NormFloat64()} {
				if v != 0 && r.IntN(2) == 0 && (column < 7 || i > 0) {
					fmt.Fprintf(&b, " %d:%.6g", column, v)
				}
			}
			b.WriteString("\n")
		}
		texts = append(texts, b.String())
	}
	return texts
}

// read reads a file.
func read(name, text string) *tables.Table {
	return testkit.Get(tables.Read(name, strings.NewReader(text), int64(len(text)), tables.Options{}))
}

// prepareSparse prepares sites with LIBSVM files.
func prepareSparse(t *testing.T, texts []string) (*features.Prepared, error) {
	t.Helper()
	s := features.Sites{Collective: alone(t, len(texts)), Seed: 1}
	for i, text := range texts {
		s.Tables = append(s.Tables, read(fmt.Sprintf("site%d.svm", i), text))
	}
	return features.Prepare(s, features.Options{Target: "label", Split: features.DefaultShares, Rare: 10})
}

// TestSparse: sparse columns are found together, and are scaled by the root mean square of their
// numbers that are not 0, of the training rows of all sites. The rows are the rows of a dense table
// with the same scales.
func TestSparse(t *testing.T) {
	texts := svmTexts(3)
	p := testkit.Get(prepareSparse(t, texts))
	if got := p.Recipe.Sparse.Indices; !cmp.Equal(got, features.Line[int]{1, 2, 5, 7}) ||
		p.Recipe.Sparse.Columns != 7 || p.Recipe.Sparse.Scales[2] != 1 {
		t.Fatalf("recipe %+v; columns 1, 2, 5 and 7 of 7 must be features, and ones stay ones", p.Recipe.Sparse)
	}
	if diff := cmp.Diff([]features.Feature{{"f1", 0}, {"f2", 1}, {"f5", 2}, {"f7", 3}},
		p.Recipe.Features()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3}, p.Recipe.Groups()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"3 of 7 sparse columns are dropped: all training rows have 0 there"},
		p.Notes); diff != "" {
		t.Error(diff)
	}
	squares, counts := make([]float64, 4), make([]float64, 4)
	for i, s := range p.Data.Shards {
		if !s.Train.X.Sparse() || !s.Val.X.Sparse() || !s.Test.X.Sparse() {
			t.Fatalf("examples of site %d must be sparse", i)
		}
		for row := range s.Train.Len() {
			for k := range squares {
				if v := s.Train.X.At(row, k); v != 0 {
					squares[k], counts[k] = squares[k]+v*v, counts[k]+1
				}
			}
		}
	}
	for k := range squares { // scales and numbers are float32
		if size := math.Sqrt(squares[k] / counts[k]); !(math.Abs(size-1) <= 1e-6) {
			t.Errorf("feature %d has the root mean square %g; it must be 1", k, size)
		}
	}
	dense := p.Recipe
	dense.Sparse = nil
	for k := range 4 {
		dense.Inputs = append(dense.Inputs, p.Recipe.Input(k))
	}
	sparse := read("new.svm", "1 1:2e9 3:4 7:5e8\n1\n1 5:1 9:1\n")
	e, of := testkit.Get(p.Recipe.NewEncoder(sparse)),
		testkit.Get(dense.NewEncoder(testkit.Get(tables.New("new.csv", tables.NumberColumn("f1", []float32{2e9, 0, 0}),
			tables.NumberColumn("f2", []float32{0, 0, 0}), tables.NumberColumn("f5", []float32{0, 0, 1}),
			tables.NumberColumn("f7", []float32{5e8, 0, 0})))))
	for k := range e.Rows() {
		if diff := cmp.Diff(row(of, 4, k), row(e, 4, k)); diff != "" {
			t.Errorf("row %d: %s", k, diff)
		}
	}
	unknown := testkit.Get((&features.Recipe{Sparse: &features.Sparse{Columns: 2,
		Indices: features.Line[int]{2}, Scales: features.Line[float64]{1}}}).NewEncoder(read("new.svm", "1 1:3\n")))
	if n := unknown.Notes(); len(n) != 1 || !strings.Contains(n[0], "such as f1,") {
		t.Errorf("notes %q", n)
	}
	if diff := cmp.Diff([]string{
		"1 of 3 rows have numbers more than 10 times their column's root mean square in training (line 1: f1): " +
			"predictions there extrapolate",
		"2 of 3 rows: numbers in columns that were 0 in all training rows, such as f3, count " +
			"as 0"}, e.Notes()); diff != "" {
		t.Error(diff)
	}
}

// TestSparseText: a recipe takes a line of JSON for each list.
func TestSparseText(t *testing.T) {
	r := testkit.Get(prepareSparse(t, svmTexts(2))).Recipe
	text := testkit.Get(json.MarshalIndent(r, "", " "))
	var again features.Recipe
	testkit.OK(json.Unmarshal(text, &again))
	if diff := cmp.Diff(r, again); diff != "" || !strings.Contains(string(text), `"indices": "1 2 5 7"`) {
		t.Errorf("recipe %s: %s", text, diff)
	}
	for _, list := range []string{`"1 x"`, `"1.5"`, `"1e99"`, `[1]`} {
		if json.Unmarshal([]byte(list), new(features.Line[int])) == nil {
			t.Errorf("%s must be refused", list)
		}
	}
}

func TestSparseRefused(t *testing.T) {
	svm := svmTexts(2)
	_, err := prepareSparse(t, []string{svm[0], "label\n1\n-1\n1\n-1\n"})
	testkit.WantError(t, "tables", err, dsbo.ErrConfig,
		"site 0 (site0.svm) has sparse columns, as of a LIBSVM file, and site 1 (site1.svm) has none")
	_, err = prepareSparse(t, []string{strings.Repeat("1 2:1\n-1 2:1\n", 1000) + strings.Repeat("1 2:1e12\n", 20)})
	testkit.WantError(t, "tables", err, dsbo.ErrConfig,
		"column f2 must not have a few numbers that are out of all proportion")
	beside := testkit.Get(tables.New("own.bin", tables.NumberColumn("label", []float32{0, 1, 0}),
		tables.NumberColumn("age", []float32{0, 1, 0})))
	beside.Sparse = tables.Sparse{Cols: 1, Starts: []int{0, 0, 0, 1}, Indices: []int32{0}, Values: []float32{1}}
	_, err = features.Prepare(features.Sites{Tables: []*tables.Table{beside}, Collective: alone(t, 1)},
		features.Options{Target: "label", Split: features.DefaultShares})
	testkit.WantError(t, "tables", err, dsbo.ErrConfig, "site 0 (own.bin) has column age")
	r := testkit.Get(prepareSparse(t, svm)).Recipe
	_, err = r.NewEncoder(testkit.Get(tables.New("new.csv", tables.NumberColumn("a", []float32{1}))))
	testkit.WantError(t, "tables", err, dsbo.ErrConfig, "new.csv: the model was trained with sparse columns")
}

// TestSparseMemory: nothing makes a dense copy, which would take 800 MB; a table has
// 100,000 numbers.
func TestSparseMemory(t *testing.T) {
	const rows, columns, each = 2000, 100_000, 50
	labels, s := make([]float32, rows), tables.Sparse{Cols: columns, Starts: []int{0}}
	for row := range rows {
		labels[row] = float32(row % 2)
		for e := range each {
			s.Indices, s.Values = append(s.Indices, int32(e*columns/each+row)), append(s.Values, 1)
		}
		s.Starts = append(s.Starts, len(s.Values))
	}
	one := testkit.Get(tables.New("wide.svm", tables.NumberColumn("label", labels)))
	one.Sparse = s
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := testkit.Get(features.Prepare(features.Sites{Tables: []*tables.Table{one}, Collective: alone(t, 1)},
		features.Options{Target: "label", Split: features.DefaultShares}))
	runtime.ReadMemStats(&after)
	// The vectors of sums take some megabytes, as do names; features are those that half the
	// rows have.
	if used := after.TotalAlloc - before.TotalAlloc; used > 60<<20 || p.Data.Features != 50_000 {
		t.Errorf("%d MB were allocated for %d features", used>>20, p.Data.Features)
	} else {
		t.Logf("%d MB were allocated", used>>20)
	}
}
