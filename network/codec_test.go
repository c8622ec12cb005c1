package network_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/networktest"
)

var wires = []network.Wire{network.Float64, network.Float32, network.BF16, network.Int8}

// sameNumbers reports the first entry in which vectors differ; all NaN are the same.
func sameNumbers(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && !(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf("%s: entry %d is %v; it must be %v", what, i, got[i], want[i])
			return
		}
	}
}

// TestCodec: what a wire can carry it gives back to the last bit, after one rounding.
func TestCodec(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	wide := make([]float64, 300)
	for i := range wide {
		wide[i] = math.Ldexp(r.NormFloat64(), r.IntN(600)-300)
	}
	near := make([]float64, 130)
	for i := range near {
		near[i] = r.NormFloat64()
	}
	for name, v := range map[string][]float64{
		"none": {}, "one": {-3.7}, "zeros": {0, math.Copysign(0, -1), 0}, "tiny": {1e-300, -0x1p-149, 3e-44, 0x1p-126},
		"huge": {math.MaxFloat64, 1}, "large": {3e38, 4e39, -1},
		"not finite": {1, math.NaN(), math.Inf(1), math.Inf(-1)},
		"wide":       wide, "near": near,
	} {
		for _, w := range wires {
			code := w.Encode([]byte{42}, v)
			if len(code) != 1+w.Bytes(len(v)) || code[0] != 42 {
				t.Errorf("%v, %s: %d bytes after one other; they must be %d", w, name, len(code)-1, w.Bytes(len(v)))
			}
			carried := make([]float64, len(v))
			testkit.OK(w.Decode(carried, code[1:]))
			if w == network.Float64 {
				sameNumbers(t, name, carried, v)
			}
			again := make([]float64, len(v))
			testkit.OK(w.Decode(again, w.Encode(nil, carried)))
			sameNumbers(t, w.String()+", "+name, again, carried)
		}
	}
}

// TestCodecIsNear: Encode rounds to the nearest number of the wire.
func TestCodecIsNear(t *testing.T) {
	v := []float64{1, -0.3, 0.51, 1.0 / 3, 0, 127.0 / 256}
	for w, unit := range map[network.Wire]float64{network.Float32: 0x1p-24, network.BF16: 0x1p-8,
		network.Int8: 1. / 127} {
		got := make([]float64, len(v))
		testkit.OK(w.Decode(got, w.Encode(nil, v)))
		for i := range v {
			if d := math.Abs(got[i] - v[i]); d > unit/2 {
				t.Errorf("%v: %g has become %g, %g off; it must be at most %g", w, v[i], got[i], d, unit/2)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	scale := func(s float32) []byte { return network.Float32.Encode(nil, []float64{float64(s)}) }
	for name, c := range map[string]struct {
		w network.Wire
		b []byte
	}{
		"short": {network.BF16, []byte{1, 2, 3}}, "long": {network.Float64, make([]byte, 17)},
		"a scale below 0":      {network.Int8, append(scale(-1), 127, 0)},
		"an infinite scale":    {network.Int8, append(scale(float32(math.Inf(1))), 127, 0)},
		"a scale that is 0":    {network.Int8, append(scale(0), 127, 0)},
		"numbers beside NaN":   {network.Int8, append(scale(float32(math.NaN())), 127, 0)},
		"-128":                 {network.Int8, append(scale(1), 0x80, 127)},
		"a scale too large":    {network.Int8, append(scale(1), 126, 0)},
		"-128 of least scale":  {network.Int8, append(scale(0x1p-126), 0x80, 1)},
		"a scale that is tiny": {network.Int8, append(scale(0x1p-127), 127, 1)},
	} {
		if err := c.w.Decode(make([]float64, 2), c.b); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("%s: %v; it must match %q", name, err, dsbo.ErrShape)
		}
	}
}

// FuzzDecode: bytes of anyone do no harm, and those that are accepted are the code of what
// they say.
func FuzzDecode(f *testing.F) {
	for w := range wires {
		f.Add(uint8(w), uint16(70), wires[w].Encode(nil, make([]float64, 70)))
		f.Add(uint8(w), uint16(2), wires[w].Encode(nil, []float64{1, -3}))
	}
	f.Fuzz(func(t *testing.T, wire uint8, n uint16, b []byte) {
		w := wires[int(wire)%len(wires)]
		v := make([]float64, int(n)%1000)
		if err := w.Decode(v, b); err != nil {
			if !errors.Is(err, dsbo.ErrShape) {
				t.Fatal(err)
			}
			return
		}
		again := make([]float64, len(v))
		testkit.OK(w.Decode(again, w.Encode(nil, v)))
		sameNumbers(t, w.String(), again, v)
	})
}

// TestPackWords: words of any number of bits come back, and take no more bytes than their
// bits need.
func TestPackWords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for bits := 1; bits <= 64; bits++ {
		for _, n := range []int{0, 1, 2, 7, 8, 9, 64, 101} {
			words, got := make([]uint64, n), make([]uint64, n)
			for i := range words {
				words[i] = r.Uint64() >> (64 - bits)
			}
			b := network.PackWords([]byte{42}, bits, words)
			if len(b) != 1+(bits*n+7)/8 || b[0] != 42 {
				t.Fatalf("%d words of %d bits: %d bytes", n, bits, len(b)-1)
			}
			testkit.OK(network.UnpackWords(got, bits, b[1:]))
			for i := range words {
				if got[i] != words[i] {
					t.Fatalf("word %d of %d with %d bits is %x; it must be %x", i, n, bits, got[i], words[i])
				}
			}
			if network.UnpackWords(got, bits, append(b, 0)[1:]) == nil {
				t.Errorf("%d words of %d bits: a byte more must be an error", n, bits)
			}
		}
	}
	if err := network.UnpackWords(make([]uint64, 1), 7, []byte{0x80}); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("a bit too many: %v; it must match %q", err, dsbo.ErrShape)
	}
}

// TestListsAreChecked: what is wrong with lists of weights is named.
func TestListsAreChecked(t *testing.T) {
	const good = `[[0.5, 0, 0.5], [0.5, 0.5, 0], [0, 0.5, 0.5]]` // a circle in one direction
	for _, c := range []struct{ data, want string }{
		{`{"pull": [` + good + `]}`, "weights to pull and to push; it has 1 and 0"},
		{`{"pull": [` + good + `], "push": [[[1]]]}`, "push[0] must have 3 agents, as the first has; it has 1"},
		{`{"pull": [[[0.5, 0.5], [0.2, 0.7]]], "push": [[[1, 0], [0, 1]]]}`,
			"row 1 of pull[0] must sum to 1; it sums to 0.8999"},
		{`{"pull": [` + good + `], "push": [[[0.5, 0.5, 0], [0.2, 0.5, 0], [0.3, 0.1, 1]]]}`,
			"column 1 of push[0] must sum to 1; it sums to 1.1"},
		{`{"pull": [[[0, 1], [1, 0]]], "push": [[[1]]]}`, "pull[0][0][0] must be finite, at least 0, and positive"},
		{`{"pull": [[[1, 0], [0.5, 0.5]]], "push": [[[1, 0], [0, 1]]]}`,
			"strongly connected; no path leads from agent 1 to agent 0"},
		{`{"sequence": []}`, "must have one matrix at least"},
		{`{"sequence": [` + good + `]}`, "sequence[0] must be symmetric"},
		{`{"sequence": [[[1, 0], [0, 1]]]}`, "no path leads from agent 0 to agent 1"},
		{`{"sequence": [[[1]]], "W": [[1]]}`, "must stand without other weights"},
		{`{"sequence": [[[1]]], "agents": 2}`, `"agents" must be the number of rows of the weights, 1; it is 2`},
	} {
		_, err := network.Parse("g.json", []byte(c.data), 0)
		testkit.WantError(t, c.data, err, dsbo.ErrConfig, c.want)
	}
	g := testkit.Get(network.Parse("g.json", []byte(`{"pull": [`+good+`], "push": [`+good+`]}`), 0))
	if x, ok := g.W.Mixing().(*network.Listed); !ok || !x.Directed() || g.W.N() != 3 || len(g.W.Neighbours(0)) != 2 {
		t.Errorf("a circle in one direction is %v", g)
	}
}

// TestChangingWeightsAreDoublyStochastic: matchings and edges that fail keep the sum over the
// agents, leave it to the same draws on all, and change with the iteration and the seed.
func TestChangingWeightsAreDoublyStochastic(t *testing.T) {
	const n = 9
	for _, text := range []string{"failing:0.4", "matchings"} {
		x := testkit.Get(network.ParseMixing(text))
		w := testkit.Get(testkit.Get(network.New("torus", n, network.Options{})).W.WithMixing(x))
		var columns [][]float64 // of the weights of an iteration, over iterations and seeds
		for _, seed := range []uint64{1, 2} {
			for k := range 6 {
				sum := make([]float64, n)
				all := weightsOf(t, w, seed, k)
				for i, row := range all {
					total := 0.0
					for j, v := range row {
						if v != all[j][i] || v < 0 || v != 0 && i != j && !slices.Contains(w.Neighbours(i), j) {
							t.Errorf("%s, iteration %d: weight %d, %d is %v, and %v", text, k, i, j, v, all[j][i])
						}
						total += v
						sum[j] += v
					}
					if math.Abs(total-1) > 1e-15*n {
						t.Errorf("%s, iteration %d: row %d sums to %v", text, k, i, total)
					}
					columns = append(columns, row)
				}
				if again := weightsOf(t, w, seed, k); !slices.EqualFunc(again, all, slices.Equal) {
					t.Errorf("%s, iteration %d: other weights when asked again", text, k)
				}
			}
		}
		distinct := map[string]bool{}
		for at := 0; at < len(columns); at += n {
			distinct[fmt.Sprint(columns[at:at+n])] = true
		}
		if len(distinct) < 11 {
			t.Errorf("%s: %d of 12 graphs differ", text, len(distinct))
		}
	}
}

// weightsOf returns the weights of an iteration, of which a Mix of unit vectors is the columns.
func weightsOf(t *testing.T, w *network.Matrix, seed uint64, k int) [][]float64 {
	t.Helper()
	local := network.NewLocal(w)
	defer local.Close()
	averages := testkit.Get(network.NewAverages(local, w, network.AverageOptions{Seed: seed}))
	all := zeros(w.N(), w.N())
	testkit.OK(errors.Join(networktest.RunAll(w.N(), func(i int) error {
		all[i][i] = 1
		end := averages.Agent(i)
		end.Begin(2 * uint64(k))
		return end.Mix(t.Context(), all[i], all[i])
	})...))
	return all
}

func TestParseMixing(t *testing.T) {
	for text, want := range map[string]network.Mixing{
		"plain": network.Plain{}, "matchings": network.Matchings{}, "failing:0.25": network.Failing{Probability: 0.25},
	} {
		if got, err := network.ParseMixing(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; it must be %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "mean", "plain:1", "Matchings", "matchings:2", "failing", "failing:0",
		"failing:1", "failing:NaN", "Trimmed", "clip"} {
		_, err := network.ParseMixing(text)
		testkit.WantError(t, text, err, dsbo.ErrConfig, "it is ")
	}
}

// TestFormerMixings: mixings of former versions are refused by name, with what does instead.
func TestFormerMixings(t *testing.T) {
	for text, name := range map[string]string{
		"clipped": "clipped", "clipped:2": "clipped", "trimmed": "trimmed", "trimmed:": "trimmed",
		"trimmed:x": "trimmed",
	} {
		_, err := network.ParseMixing(text)
		testkit.WantError(t, text, err, dsbo.ErrConfig, fmt.Sprintf(
			"mixing %s is gone: operators remove a member that sends what cannot be; it is %q", name, text))
	}
}

func FuzzParseMixing(f *testing.F) {
	f.Add("failing:0.5")
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
		{"server", 8, network.Plain{}, ""},
		{"ring", 8, network.Failing{Probability: 0.5}, ""},
		{"star", 5, network.Matchings{}, ""},
		{"server", 8, network.Failing{Probability: 0.5}, "weights cannot change on graph server"},
		{"server", 8, network.Matchings{}, "take graph complete"},
	} {
		g := testkit.Get(network.New(tt.graph, tt.n, network.Options{}))
		w, err := g.W.WithMixing(tt.mixing)
		testkit.WantError(t, fmt.Sprint(g, tt.mixing), err, dsbo.ErrConfig, tt.want)
		if err == nil && (w.Mixing() != tt.mixing || w.Rho() != g.W.Rho()) {
			t.Errorf("%s, %v: it mixes %v, with ρ %v", g, tt.mixing, w.Mixing(), w.Rho())
		}
	}
}

// TestMembersMixAlike holds that later epochs mix as the first, or say in which they cannot.
func TestMembersMixAlike(t *testing.T) {
	complete := testkit.Get(network.New("complete", 6, network.Options{})).W
	e := membership.Epoch{Number: 1, Members: []int{0, 2, 3, 5}}
	w := testkit.Get(complete.WithMixing(network.Failing{Probability: 0.5}))
	if m := testkit.Get(w.Members(e)); m.Mixing() != w.Mixing() {
		t.Errorf("members mix %v; it must be %v", m.Mixing(), w.Mixing())
	}
	_, err := testkit.Get(network.Sequence([][][]float64{complete.Dense()})).Members(e)
	testkit.WantError(t, "lists of six", err, dsbo.ErrConfig,
		"epoch 1: a graph whose weights are lists has the same 6 agents always; it has 4")
}
