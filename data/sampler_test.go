package data

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dsbo"
	"dsbo/internal/testkit"
)

func TestDrawAllRows(t *testing.T) {
	for _, c := range []struct {
		batch, rows int
		set         dsbo.Set
	}{{0, 10, dsbo.Lower}, {10, 10, dsbo.Upper}, {11, 10, dsbo.Curvature}, {-1, 10, dsbo.Lower}, {3, 10, dsbo.Whole},
		{1, 0, dsbo.Lower}, {3, 10, dsbo.LowerBatch}} {
		s := Sampler{Batch: c.batch}
		if got := s.Draw(dsbo.Sample{Set: c.set, T: 1}, c.rows); got != nil {
			t.Errorf("batch %d of %d rows, set %v: %v, want nil (all rows)", c.batch, c.rows, c.set, got)
		}
	}
}

func TestDrawIsASortedSubset(t *testing.T) {
	var s Sampler // one for all draws: what went before must not matter
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.IntRange(2, 700).Draw(r, "rows")
		s.Batch = rapid.IntRange(1, rows-1).Draw(r, "batch")
		s.Seed = rapid.Uint64().Draw(r, "seed")
		s.Agent = rapid.IntRange(0, 100).Draw(r, "agent")
		name := dsbo.Sample{
			Set: dsbo.Set(rapid.IntRange(0, 2).Draw(r, "set")),
			K:   rapid.IntRange(0, 1<<40).Draw(r, "k"), T: rapid.IntRange(0, 100).Draw(r, "t"),
		}
		got := s.Draw(name, rows)
		if len(got) != s.Batch || !slices.IsSorted(got) || got[0] < 0 || got[len(got)-1] >= rows {
			r.Fatalf("%d of %d rows: %v", s.Batch, rows, got)
		}
		if len(slices.Compact(slices.Clone(got))) != len(got) {
			r.Fatalf("%d of %d rows: a row twice: %v", s.Batch, rows, got)
		}
		fresh := Sampler{Seed: s.Seed, Agent: s.Agent, Batch: s.Batch}
		if again := fresh.Draw(name, rows); !slices.Equal(got, again) {
			r.Fatalf("the same name gave %v and %v", got, again)
		}
	})
}

// TestBatchesAreAPartition: each row is in one batch, sizes differ by 1 at most, and draws take any
// of the batches.
func TestBatchesAreAPartition(t *testing.T) {
	var s Sampler
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.IntRange(1, 300).Draw(r, "rows")
		n := rapid.IntRange(1, rows).Draw(r, "batches")
		s.Seed, s.Agent = rapid.Uint64().Draw(r, "seed"), rapid.IntRange(0, 9).Draw(r, "agent")
		s.partition = nil // of another seed
		set := rapid.SampledFrom([]dsbo.Set{dsbo.LowerBatch, dsbo.UpperBatch}).Draw(r, "set")
		var all []int
		for b := range n {
			batch := s.Draw(dsbo.Sample{Set: set, K: b, T: n}, rows)
			if n == 1 && batch == nil {
				return
			}
			if size := BatchSize(b, n, rows); len(batch) != size || size < rows/n || size > rows/n+1 ||
				!slices.IsSorted(batch) {
				r.Fatalf("batch %d of %d has rows %v of %d", b, n, batch, rows)
			}
			all = append(all, batch...)
		}
		slices.Sort(all)
		if len(all) != rows || len(slices.Compact(all)) != rows {
			r.Fatalf("the batches together are %v", all)
		}
		drawn := map[int]bool{}
		for k := range 40 * n {
			drawn[s.BatchOf(dsbo.Sample{Set: dsbo.Upper, K: k}, n)] = true
		}
		if n < 20 && len(drawn) != n { // one is missed with probability n (1−1/n)^40n < n e^-40
			r.Fatalf("%d of %d batches are drawn", len(drawn), n)
		}
	})
}

// TestPartitionsAreNotMixedUp: a batch is the same whatever partition, and of how many rows, was
// asked for before.
func TestPartitionsAreNotMixedUp(t *testing.T) {
	var s Sampler
	for _, c := range []struct{ n, rows int }{{2, 12}, {2, 10}, {5, 10}, {2, 12}} {
		for b := range c.n {
			var fresh Sampler
			name := dsbo.Sample{Set: dsbo.UpperBatch, K: b, T: c.n}
			if got, want := slices.Clone(s.Draw(name, c.rows)), fresh.Draw(name, c.rows); !slices.Equal(got, want) {
				t.Errorf("batch %d of %d of %d rows is %v, want %v", b, c.n, c.rows, got, want)
			}
		}
	}
}

// TestMaskMean: the numbers of a mask are 0, or 1/keep with probability keep. The share of those
// that are kept, of n, is within six of its standard errors √(keep (1−keep)/n).
func TestMaskMean(t *testing.T) {
	const rows, cols = 100, 40
	var s Sampler
	for _, keep := range []float64{.2, .7} {
		kept := 0.0
		mask := testkit.Get(s.Mask(rows, cols, dsbo.Sample{Set: dsbo.Lower, K: 1}, 0, keep))
		for i := range rows {
			for j := range cols {
				switch v := mask.At(i, j); {
				case v == 1/keep:
					kept++
				case v != 0:
					t.Fatalf("a number of a mask that keeps %g is %g", keep, v)
				}
			}
		}
		if share := kept / (rows * cols); !(math.Abs(share-keep) <= 6*math.Sqrt(keep*(1-keep)/(rows*cols))) {
			t.Errorf("a mask keeps %g of its numbers, want %g", share, keep)
		}
	}
}

// TestMaskOfNoDraw: outside of draws a mask changes nothing: factors are 1, and normal numbers 0.
func TestMaskOfNoDraw(t *testing.T) {
	for _, set := range []dsbo.Set{dsbo.Whole, dsbo.UpperBatch, dsbo.Upper} {
		for keep, want := range map[float64]float64{.2: 1, 1: 1, 0: 0} {
			same := true
			mask := testkit.Get((&Sampler{}).Mask(50, 1, dsbo.Sample{Set: set}, 0, keep))
			for row := range 50 {
				same = same && mask.At(row, 0) == want
			}
			if same != (set != dsbo.Upper || keep == 1) {
				t.Errorf("set %v, of which %g are kept: all are %g: %t", set, keep, want, same)
			}
		}
	}
}

// TestDrawIsFixed pins the draws: a change breaks the resume of every saved run.
func TestDrawIsFixed(t *testing.T) {
	s := Sampler{Seed: 1, Agent: 2, Batch: 5}
	got := fmt.Sprint(s.Draw(dsbo.Sample{Set: dsbo.Curvature, K: 3, T: 4}, 100))
	if want := "[0 25 56 80 83]"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	few := Sampler{Seed: 1, Agent: 2, Batch: 4}
	if got, want := fmt.Sprint(few.Draw(dsbo.Sample{Set: dsbo.Lower, K: 3}, 10)), "[0 1 4 5]"; got != want {
		t.Errorf("rows %s, want %s", got, want) // 4 of 10 are drawn, rather than 6 to be left out
	}
	batch := dsbo.Sample{Set: dsbo.LowerBatch, K: s.BatchOf(dsbo.Sample{Set: dsbo.Lower, K: 3}, 4), T: 4}
	if got, want := fmt.Sprint(batch.K, s.Draw(batch, 20)), "2 [1 6 10 12 16]"; got != want {
		t.Errorf("batch and rows %s, want %s", got, want)
	}
}

// Over R draws of b of m rows, row j is in c_j of them, with mean Rb/m and variance
// R(b/m)(1-b/m), and Σ(c_j-mean)²/variance·(m-1)/m is chi-square with m-1 degrees of freedom:
// mean m-1, variance 2(m-1). Six standard deviations bound it.
func TestDrawInclusionIsUniform(t *testing.T) {
	for _, c := range []struct{ batch, rows int }{{1, 10}, {3, 10}, {7, 10}, {100, 375}, {300, 375}, {64, 65}} {
		const draws = 4000
		counts := make([]float64, c.rows)
		s := Sampler{Seed: 42, Agent: 1, Batch: c.batch}
		for k := range draws {
			for _, j := range s.Draw(dsbo.Sample{Set: dsbo.Lower, K: k / 7, T: k % 7}, c.rows) {
				counts[j]++
			}
		}
		p, m := float64(c.batch)/float64(c.rows), float64(c.rows)
		chi2 := 0.0
		for _, n := range counts {
			d := n - draws*p
			chi2 += float64(d*d) / (draws * p * (1 - p)) * (m - 1) / m
		}
		if d := math.Abs(chi2 - (m - 1)); d > 6*math.Sqrt(2*(m-1)) {
			t.Errorf("%d of %d rows: chi-square %.1f with %d degrees of freedom", c.batch, c.rows, chi2, c.rows-1)
		}
	}
}

// Two independent draws of b of m rows share b²/m rows in the mean, with the hypergeometric
// variance b²(m-b)²/(m²(m-1)). The mean over R pairs is within six of its standard deviations.
func TestDrawsWithDifferentNamesAreIndependent(t *testing.T) {
	const rows, batch, pairs = 500, 120, 2000
	type key struct {
		seed  uint64
		agent int
		name  dsbo.Sample
	}
	base := func(r int) key { return key{7, 0, dsbo.Sample{Set: dsbo.Lower, K: r, T: 0}} }
	for _, c := range []struct {
		what  string
		other func(key) key
	}{
		{"seed", func(k key) key { k.seed++; return k }},
		{"agent", func(k key) key { k.agent++; return k }},
		{"set", func(k key) key { k.name.Set = dsbo.Curvature; return k }},
		{"k", func(k key) key { k.name.K++; return k }},
		{"t", func(k key) key { k.name.T++; return k }},
		{"agent and k", func(k key) key { k.agent, k.name.K = k.agent+1, k.name.K-1; return k }},
		{"k and t", func(k key) key { k.name.K, k.name.T = k.name.T, k.name.K+1; return k }},
	} {
		shared := 0
		for r := range pairs {
			a, b := base(r), c.other(base(r))
			s1 := Sampler{Seed: a.seed, Agent: a.agent, Batch: batch}
			s2 := Sampler{Seed: b.seed, Agent: b.agent, Batch: batch}
			in := make(map[int]bool, batch)
			for _, j := range s1.Draw(a.name, rows) {
				in[j] = true
			}
			for _, j := range s2.Draw(b.name, rows) {
				if in[j] {
					shared++
				}
			}
		}
		const b, m = float64(batch), float64(rows)
		mean, sd := b*b/m, b*(m-b)/(m*math.Sqrt(m-1))
		if got := float64(shared) / pairs; !(math.Abs(got-mean) <= 6*sd/math.Sqrt(pairs)) {
			t.Errorf("names that differ in %s share %.3f rows in the mean, want %.3f", c.what, got, mean)
		}
	}
}

func TestDrawDoesNotAllocate(t *testing.T) {
	s := Sampler{Seed: 1, Batch: 1000}
	s.Draw(dsbo.Sample{}, 3750)
	k := 0
	if n := testing.AllocsPerRun(100, func() {
		k++
		s.Draw(dsbo.Sample{Set: dsbo.Lower, K: k}, 3750)
		s.Draw(dsbo.Sample{Set: dsbo.Upper, K: k}, 1500)
	}); n != 0 {
		t.Errorf("%g allocations a draw, want 0", n)
	}
}

// TestSigns: signs are a function of their name alone, others for another name, and about as often
// + as −.
func TestSigns(t *testing.T) {
	signs := func(seed uint64, agent, number int) []float64 {
		s := Sampler{Seed: seed, Agent: agent, Batch: 3}
		s.Draw(dsbo.Sample{K: number}, 10) // leaves no trace
		v := make([]float64, 1000)
		s.Signs(v, number)
		return v
	}
	first := signs(1, 2, 3)
	if !slices.Equal(first, signs(1, 2, 3)) {
		t.Error("the same name gives other signs")
	}
	sum, alike := 0.0, 0.0
	for j, v := range first {
		if v != 1 && v != -1 {
			t.Fatalf("a sign is %g", v)
		}
		sum += v
		alike += v * first[(j+64)%1000] // of the next word of bits
	}
	if !(math.Abs(sum) <= 6*math.Sqrt(1000)) || !(math.Abs(alike) <= 6*math.Sqrt(1000)) {
		t.Errorf("the sum of 1000 signs is %g, and their products' with those of the next word %g", sum, alike)
	}
	for _, other := range [][]float64{signs(2, 2, 3), signs(1, 3, 3), signs(1, 2, 4)} {
		if slices.Equal(first, other) {
			t.Error("another name gives the same signs")
		}
	}
}
