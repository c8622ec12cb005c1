package network_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
)

func TestParseMixing(t *testing.T) {
	for text, want := range map[string]network.Mixing{
		"plain": network.Plain{}, "clipped": network.Clipped{Liars: 1}, "clipped:3": network.Clipped{Liars: 3},
		"trimmed:1": network.Trimmed{Liars: 1},
	} {
		if got, err := network.ParseMixing(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; it must be %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "mean", "plain:1", "Trimmed", "trimmed:", "trimmed:0", "trimmed:-1",
		"clipped:10001", "clipped:1.5"} {
		_, err := network.ParseMixing(text)
		testkit.WantError(t, text, err, dsbo.ErrConfig, fmt.Sprintf("%q", text))
	}
}

func FuzzParseMixing(f *testing.F) {
	f.Add("trimmed:2")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := network.ParseMixing(text)
		if err != nil {
			return
		}
		if again, err := network.ParseMixing(x.String()); err != nil || again != x {
			t.Errorf("%q is %v, which is read as %v, %v", text, x, again, err)
		}
	})
}

func TestWithMixing(t *testing.T) {
	for _, tt := range []struct {
		graph  string
		n      int
		mixing network.Mixing
		want   string // "": it works
	}{
		{"ring", 8, network.Plain{}, ""},
		{"complete", 7, network.Trimmed{Liars: 2}, ""},
		{"complete", 8, network.Clipped{Liars: 3}, ""},
		{"exponential", 8, network.Trimmed{Liars: 1}, ""},
		{"complete", 8, network.Trimmed{Liars: 3},
			"mixing trimmed:3 may leave agents 2, 3, 4 and agents 5, 6, 7 apart for ever where agents 0, 1 lie"},
		{"hypercube", 8, network.Trimmed{Liars: 1},
			"mixing trimmed:1 may leave agents 0, 1, 2, 3 and agents 4, 5, 6, 7 apart for ever: none of them has " +
				"more than 1 honest"},
		{"exponential", 8, network.Clipped{Liars: 2}, ""},
		{"ring", 8, network.Trimmed{Liars: 1},
			"mixing trimmed:1 needs at least 3 neighbours at every agent, more honest ones than liars; agent 0 has 2"},
		{"star", 5, network.Clipped{Liars: 1}, "agent 1 has 1"},
		{"complete", 8, network.Clipped{Liars: 4},
			"at least 9 neighbours at every agent, more honest ones than liars; agent 0 has 7"},
		{"complete", 1, network.Clipped{Liars: 1}, "agent 0 has 0"},
		{"server", 8, network.Clipped{Liars: 1}, "graph server"},
		{"complete", 8, network.Trimmed{}, "mixing trimmed:0 must be against 1 liar at least"},
		{"complete", 8, network.Clipped{Liars: -1}, "must be against 1 liar at least"},
	} {
		g := testkit.Get(network.New(tt.graph, tt.n, network.Options{}))
		w, err := g.W.WithMixing(tt.mixing)
		testkit.WantError(t, fmt.Sprint(g, tt.mixing), err, dsbo.ErrConfig, tt.want)
		if err == nil && (w.Mixing() != tt.mixing || w.Rho() != g.W.Rho()) {
			t.Errorf("%s, %v: it mixes %v, with ρ %v", g, tt.mixing, w.Mixing(), w.Rho())
		}
	}
}

// TestMembersMixAlike holds that later epochs mix as the first, with agents named by their numbers
// in the roster.
func TestMembersMixAlike(t *testing.T) {
	w := testkit.Get(testkit.Get(network.New("complete", 6, network.Options{})).W.WithMixing(network.Trimmed{Liars: 1}))
	if m := testkit.Get(w.Members(membership.Epoch{Number: 1, Members: []int{0, 2, 3, 5}})); m.Mixing() != w.Mixing() {
		t.Errorf("members mix %v; it must be %v", m.Mixing(), w.Mixing())
	}
	_, err := w.Members(membership.Epoch{Number: 1, Members: []int{0, 2, 3, 5}, Cut: [][2]int{{3, 5}}})
	testkit.WantError(t, "an edge less", err, dsbo.ErrConfig, "epoch 1: mixing trimmed:1 needs at least 3 neighbours "+
		"at every agent, more honest ones than liars; agent 3 has 2")
}

// mixed returns what agent 0 of a complete graph makes of vectors.
func mixed(x network.Mixing, in [][]float64) []float64 {
	w := testkit.Get(testkit.Get(network.New("complete", len(in), network.Options{})).W.WithMixing(x))
	dst := make([]float64, len(in[0]))
	w.Combiner(0).Combine(dst, in)
	return dst
}

// TestRobustFormulas compares with the formulas as they are written, on vectors at all distances.
func TestRobustFormulas(t *testing.T) {
	const n, length, b = 8, 20, 2
	r := rand.New(rand.NewPCG(1, 2))
	in := make([][]float64, n)
	for i := range in {
		in[i] = make([]float64, length)
		for e := range in[i] {
			in[i][e] = float64(i) * r.NormFloat64()
		}
	}
	clipped, trimmed := slices.Clone(in[0]), make([]float64, length)
	var distances []float64
	for _, v := range in[1:] {
		distances = append(distances, math.Sqrt(linalg.Dist2(v, in[0])))
	}
	slices.Sort(distances)
	radius := distances[n-2-b]
	for e := range length {
		var others []float64
		for _, v := range in[1:] {
			others = append(others, v[e])
			clipped[e] += min(1, radius/math.Sqrt(linalg.Dist2(v, in[0]))) * (v[e] - in[0][e]) / n
		}
		slices.Sort(others)
		trimmed[e] = in[0][e]
		for _, v := range others[b : len(others)-b] {
			trimmed[e] += v
		}
		trimmed[e] /= n - 2*b
	}
	for _, tt := range []struct {
		mixing network.Mixing
		want   []float64
	}{{network.Clipped{Liars: b}, clipped}, {network.Trimmed{Liars: b}, trimmed}} {
		// A sum of n numbers up to 5n, in another order: some n·2⁻⁵³ of them.
		if d := math.Sqrt(linalg.Dist2(mixed(tt.mixing, in), tt.want)); !(d <= n*0x1p-53*5*n*length) {
			t.Errorf("%v is off by %g", tt.mixing, d)
		}
	}
}

// TestLiesAreBounded holds what one exchange promises whatever b neighbours send: trimmed, each
// entry stays between the entries of honest agents; clipped, the agent moves by the largest honest
// distance at most.
func TestLiesAreBounded(t *testing.T) {
	const n, length = 8, 5
	lies := []float64{0, 1e300, -1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300, 3}
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 500 {
		b := 1 + trial%2
		in := make([][]float64, n)
		low, high, far := slices.Repeat([]float64{math.Inf(1)}, length), slices.Repeat([]float64{math.Inf(-1)}, length),
			0.0
		for i := range in {
			in[i] = make([]float64, length)
			for e := range in[i] {
				if in[i][e] = r.NormFloat64(); i >= n-b {
					in[i][e] = lies[r.IntN(len(lies))]
					continue
				}
				low[e], high[e] = min(low[e], in[i][e]), max(high[e], in[i][e])
			}
			if i < n-b {
				far = max(far, math.Sqrt(linalg.Dist2(in[i], in[0])))
			}
		}
		// Roundings of n numbers below 10 are below 1e-13.
		for e, v := range mixed(network.Trimmed{Liars: b}, in) {
			if !(v >= low[e]-1e-13 && v <= high[e]+1e-13) {
				t.Fatalf("trimmed:%d made %v of %v; it must be in [%v, %v]", b, v, in, low[e], high[e])
			}
		}
		if d := math.Sqrt(linalg.Dist2(mixed(network.Clipped{Liars: b}, in), in[0])); !(d <= far+1e-13) {
			t.Fatalf("clipped:%d moved by %v on %v; it must be at most %v", b, d, in, far)
		}
	}
}

// TestRobustAgreement holds that honest agents that agree stay where they are, liars or not.
func TestRobustAgreement(t *testing.T) {
	own := []float64{1, -2.5, 3e-7}
	in := [][]float64{own, own, own, own, own, {9, 9, 9}, {math.NaN(), 0, math.Inf(1)}}
	for _, x := range []network.Mixing{network.Clipped{Liars: 2}, network.Trimmed{Liars: 2}} {
		for e, v := range mixed(x, in) {
			if math.Abs(v-own[e]) > 8*0x1p-53*math.Abs(own[e]) {
				t.Errorf("%v: entry %d is %v; it must stay %v", x, e, v, own[e])
			}
		}
	}
}

// TestTrimmedAgrees: on random graphs that are taken, two groups come to agree.
func TestTrimmedAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const graphs = 30
	taken := 0
	for seed := range uint64(graphs) {
		w, err := testkit.Get(network.New("erdos-renyi", 9, network.Options{Prob: 0.7, Seed: seed})).W.WithMixing(
			network.Trimmed{Liars: 1})
		if err != nil {
			continue
		}
		taken++
		x, next := make([]float64, w.N()), make([]float64, w.N())
		combiners := make([]*network.Combiner, w.N())
		for i := range x {
			x[i], combiners[i] = float64(r.IntN(2)), w.Combiner(i) // two groups
		}
		apart := 1.0
		for k := 0; k < 500 && !(apart < 1e-6); k++ {
			for i := range x {
				var in [][]float64
				for _, wij := range w.Row(i) {
					in = append(in, x[wij.Agent:wij.Agent+1])
				}
				combiners[i].Combine(next[i:i+1], in)
			}
			x, next = next, x
			apart = slices.Max(x) - slices.Min(x)
		}
		if !(apart < 1e-6) {
			t.Errorf("seed %d: agents stay %g apart", seed, apart)
		}
	}
	if taken == 0 || taken == graphs {
		t.Errorf("%d of %d random graphs are taken; some must be, and some must be refused", taken, graphs)
	}
}
