package features_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/tables"
	"dsbo/tables/features"
)

const sites = 3

// sizes of numbers in the columns a to d, nine and more powers of ten apart.
var sizes = []float64{1, 1e9, 1e-9, 1e4}

// site makes the table of site i: numbers of several sizes, some missing, words, a constant, and a
// class. The same call gives the same.
func site(i int) *tables.Table {
	r, rows := rand.New(rand.NewPCG(7, uint64(i))), 40+20*i
	var columns []*tables.Column
	for k, size := range sizes {
		v := make([]float32, rows)
		for row := range v {
			v[row] = float32(size * (float64(i) + r.NormFloat64()))
			if k == 3 && row%9 == 0 {
				v[row] = float32(math.NaN())
			}
		}
		columns = append(columns, tables.NumberColumn(string(rune('a'+k)), v))
	}
	words, classes, constant := make([]string, rows), make([]string, rows), make([]float32, rows)
	for row := range words {
		words[row] = []string{"red", "blue", "green", "odd" + fmt.Sprint(i)}[min(3, r.IntN(8)/2+row%40/39)]
		classes[row] = []string{"ill", "well", "dead"}[r.IntN(2+i/2)]
		constant[row] = 7
	}
	words[3] = ""
	columns = append(columns, tables.WordColumn("colour", words), tables.NumberColumn("constant", constant),
		tables.WordColumn("state", classes))
	return testkit.Get(tables.New(fmt.Sprintf("site%d.csv", i), columns...))
}

var options = features.Options{Target: "state", Split: features.DefaultShares, Rare: 20, Missing: features.MeanOfOthers}

// prepare prepares the sites that are here, of all.
func prepare(together network.Collective, o features.Options, here ...int) (*features.Prepared, error) {
	s := features.Sites{Tables: make([]*tables.Table, sites), Collective: together, Seed: 1}
	for _, i := range here {
		s.Tables[i] = site(i)
	}
	return features.Prepare(s, o)
}

// alone is what sites find together that are all in this process.
func alone(t *testing.T, n int) network.Collective {
	return network.NewGroup(network.GroupConfig{N: n}).Bound(t.Context())
}

// TestRecipe: means and deviations are taken over the training rows of all sites together, however
// unlike the sizes of the columns.
func TestRecipe(t *testing.T) {
	p := testkit.Get(prepare(alone(t, sites), options, 0, 1, 2))
	var x [][]float64 // standardised training rows of all sites
	for _, s := range p.Data.Shards {
		for row := range s.Train.X.Rows() {
			list := make([]float64, s.Train.X.Cols())
			for k := range list {
				list[k] = s.Train.X.At(row, k)
			}
			x = append(x, list)
		}
	}
	var names []string
	for k, f := range p.Recipe.Features() {
		names = append(names, f.Name)
		mean, square, n := 0.0, 0.0, 0.0
		for _, row := range x {
			if k == 3 && row[4] == 1 { // a missing value
				continue
			}
			mean, square, n = mean+row[k], square+row[k]*row[k], n+1
		}
		// Standardised numbers are rounded to float32.
		if mean, square = mean/n, square/n; k < 4 && (!(math.Abs(mean) <= 1e-6) || !(math.Abs(square-1) <= 1e-6)) {
			t.Errorf("%s has mean %g and deviation %g; they must be 0 and 1", f.Name, mean, math.Sqrt(square))
		}
	}
	want := []string{"a", "b", "c", "d", "d missing", "colour=blue", "colour=green", "colour=red", "colour (rare)",
		"colour missing"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 3, 3, 4, 4, 4, 4, 4}, p.Recipe.Groups()); diff != "" {
		t.Error(diff)
	}
	if got := p.Recipe.Target.Classes; !slices.Equal(got, []string{"dead", "ill", "well"}) {
		t.Errorf("classes %v; they must be in the order of the alphabet", got)
	}
	if !slices.Contains(p.Notes, "column constant is dropped: all training rows have one value") ||
		!slices.Contains(p.Notes, "class dead is common at site 2 (site2.csv) alone") {
		t.Errorf("notes %q", p.Notes)
	}
	if p.Rows != [3]int{90, 45, 45} {
		t.Errorf("rows %v; they must be half, a quarter and a quarter of 180", p.Rows)
	}
}

// TestWeights: the mean over the sites of weighted means is the mean over all rows, and with
// Balance the mean over all classes alike.
func TestWeights(t *testing.T) {
	for _, balance := range []bool{false, true} {
		o := options
		o.Balance = balance
		p := testkit.Get(prepare(alone(t, sites), o, 0, 1, 2))
		total, ofClass := 0.0, make([]float64, 3)
		for _, s := range p.Data.Shards {
			n := float64(s.Train.Len())
			for row := range s.Train.Len() {
				w := 1.0
				if s.Train.Weight != nil {
					w = s.Train.Weight.At(row, 0)
				}
				class, _ := s.Train.Target.Label(row)
				total += w / n / sites
				ofClass[class] += w / n / sites
				if want := sites * n / 90; !balance && !(math.Abs(w-want) <= 1e-6*want) {
					t.Fatalf("weight %g, want %g", w, want)
				}
			}
		}
		if !(math.Abs(total-1) <= 1e-6) {
			t.Errorf("weights have the mean %g; it must be 1", total)
		}
		all, rows := 0.0, 0 // of all kinds, in Together
		for i, s := range p.Data.Shards {
			n := s.Train.Len() + s.Val.Len() + s.Test.Len()
			rows += n
			for row := range n {
				w := 1.0
				if p.Together[i] != nil {
					w = p.Together[i].At(row, 0)
				}
				all += w / float64(n) / sites
			}
		}
		if !(math.Abs(all-1) <= 1e-6) || rows != p.Rows[0]+p.Rows[1]+p.Rows[2] {
			t.Errorf("the weights of all %d rows have the mean %g; it must be 1", rows, all)
		}
		for _, w := range ofClass {
			if balance && !(math.Abs(w-1./3) <= 1e-6) {
				t.Errorf("classes weigh %v; they must weigh alike", ofClass)
			}
		}
	}
}

// A minutes is what sites have found together, for one that comes later: what is found is kept, and
// found again in the same order.
type minutes struct {
	network.Collective
	sums  [][]float64
	texts [][]string
}

func (m *minutes) Sum(name string, dst []float64, term func(int, []float64) error) error {
	err := m.Collective.Sum(name, dst, term)
	m.sums = append(m.sums, slices.Clone(dst))
	return err
}

func (m *minutes) Texts(name string, text func(int) (string, error)) ([]string, error) {
	texts, err := m.Collective.Texts(name, text)
	m.texts = append(m.texts, texts)
	return texts, err
}

// A reader reads minutes.
type reader struct{ *minutes }

func (r reader) Sum(_ string, dst []float64, _ func(int, []float64) error) error {
	copy(dst, r.sums[0])
	r.sums = r.sums[1:]
	return nil
}

func (r reader) Texts(string, func(int) (string, error)) ([]string, error) {
	texts := r.texts[0]
	r.texts = r.texts[1:]
	return texts, nil
}

// An interrupted exchange has the texts of the sites that are here, and an error.
type interrupted struct{ network.Collective }

func (interrupted) Texts(_ string, text func(int) (string, error)) ([]string, error) {
	own, err := text(0)
	return []string{own, "", ""}, errors.Join(err, context.Canceled)
}

// TestInterrupted: where an exchange ends early, its own error is told, and no site is blamed.
func TestInterrupted(t *testing.T) {
	_, err := prepare(interrupted{alone(t, sites)}, options, 0)
	if !errors.Is(err, context.Canceled) || errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("error %v; it must match %q alone", err, context.Canceled)
	}
}

// TestWeightsOfANewcomer: each row of a site that comes later weighs as each row of those
// before it.
func TestWeightsOfANewcomer(t *testing.T) {
	found := &minutes{Collective: alone(t, sites)}
	first := testkit.Get(prepare(found, options, 0, 1, 2))
	later := features.Sites{Tables: make([]*tables.Table, sites+1), Start: sites, Collective: reader{found}, Seed: 1}
	later.Tables[sites] = site(sites)
	p := testkit.Get(features.Prepare(later, options))
	if diff := cmp.Diff(first.Recipe, p.Recipe); diff != "" {
		t.Errorf("another recipe: %s", diff)
	}
	train := p.Data.Shards[sites].Train
	n := float64(train.Len())
	for row := range train.Len() {
		if w, want := train.Weight.At(row, 0), sites*n/90; !(math.Abs(w-want) <= 1e-6*want) {
			t.Fatalf("weight %g, want %g", w, want)
		}
	}
}

// TestProcesses: sites in processes of their own find the same recipe and examples, to the bit.
func TestProcesses(t *testing.T) {
	want := testkit.Get(prepare(alone(t, sites), options, 0, 1, 2))
	w := testkit.Get(network.New("ring", sites, network.Options{W: 0.5})).W
	teams, closeAll := networktest.Processes(w, []int{0}, []int{1}, []int{2})
	defer closeAll()
	testkit.OK(errors.Join(networktest.RunAll(sites, func(k int) error {
		got, err := prepare(network.NewGroup(network.GroupConfig{N: sites, Team: teams[k], W: w}).Bound(t.Context()),
			options, k)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want.Recipe, got.Recipe); diff != "" ||
			testkit.Get(got.Data.Digest(k)) != testkit.Get(want.Data.Digest(k)) {
			return fmt.Errorf("site %d has other examples: %s", k, diff)
		}
		return nil
	})...))
}

// TestEncode: a new table is encoded by name, whatever the order of its columns; words that were
// not there are rare.
func TestEncode(t *testing.T) {
	r := testkit.Get(prepare(alone(t, sites), options, 0, 1, 2)).Recipe
	nan := float32(math.NaN())
	e := testkit.Get(r.NewEncoder(testkit.Get(tables.New("new.csv",
		tables.WordColumn("colour", []string{"mauve", "red", ""}), tables.WordColumn("more", []string{"", "", ""}),
		tables.NumberColumn("d", []float32{nan, 1e4, 0}), tables.NumberColumn("c", []float32{0, 0, 0}),
		tables.NumberColumn("b", []float32{0, 0, 0}),
		tables.NumberColumn("a", []float32{nan, float32(r.Inputs[0].Mean), 0})))))
	var got [3][]int
	var first [3]float64
	for k := range e.Rows() {
		x := row(e, len(r.Features()), k)
		first[k] = x[0]
		for place, v := range x {
			if v == 1 {
				got[k] = append(got[k], place)
			}
		}
	}
	if diff := cmp.Diff([3][]int{{4, 8}, {7}, {9}}, got); diff != "" || first[0] != 0 || !(math.Abs(first[1]) <= 1e-6) {
		t.Errorf("features at 1: %s; the mean is %g", diff, first[1])
	}
	_, err := r.NewEncoder(testkit.Get(tables.New("new.csv", tables.NumberColumn("a", []float32{1}))))
	testkit.WantError(t, "tables", err, dsbo.ErrConfig,
		"new.csv, column b: the column is missing, and the model needs it")
	_, err = r.NewEncoder(testkit.Get(tables.New("new.csv", tables.WordColumn("a", []string{"x"}))))
	testkit.WantError(t, "tables", err, dsbo.ErrConfig,
		"new.csv, column a: the column holds words; the model was trained with numbers")
}
