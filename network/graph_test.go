package network_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSpectra compares with closed forms. EigenSym is backward stable: each eigenvalue is
// within a small multiple of n·2⁻⁵³·‖W‖ of the true one, below 1e-13 for these n.
func TestSpectra(t *testing.T) {
	const tol = 1e-13
	circle := func(n, k int) float64 { return math.Cos(2 * math.Pi * float64(k) / float64(n)) }
	circulant := func(n int, w float64, distances ...int) []float64 { // of a neighbour at each distance
		var e []float64
		for k := range n {
			s := 0.0
			for _, d := range distances {
				s += circle(n, k*d)
			}
			e = append(e, w+(1-w)*s/float64(len(distances)))
		}
		return e
	}
	torus := func(rows, cols int, w float64) []float64 { // four neighbours each
		var e []float64
		for r := range rows {
			for c := range cols {
				e = append(e, w+(1-w)/2*(circle(rows, r)+circle(cols, c)))
			}
		}
		return e
	}
	hypercube := func(bits int, w float64) []float64 { // 1 − 2k/bits, as often as k of bits can be chosen
		e := []float64{1}
		for range bits {
			e = append(e, e...)
			for k := range e[:len(e)/2] {
				e[k] -= (1 - w) * 2 / float64(bits)
			}
		}
		return e
	}
	path := func(n int) []float64 { // Metropolis weights 1/3: I − L/3, L the path's Laplacian
		var e []float64
		for k := range n {
			e = append(e, 1-(2-2*math.Cos(math.Pi*float64(k)/float64(n)))/3)
		}
		return e
	}
	star := func(n int) []float64 { // weights 1/n: I − L/n with L's eigenvalues 0, 1 and n
		e := append(slices.Repeat([]float64{1 - 1/float64(n)}, n-2), 0, 1)
		return e
	}
	average := func(n int) []float64 { return append(make([]float64, n-1), 1) }
	for _, c := range []struct {
		graph string
		n     int
		w     float64
		want  []float64
	}{
		{"ring", 1, 0.5, []float64{1}},
		{"ring", 2, 0.3, []float64{1, 2*0.3 - 1}},
		{"ring", 3, 0.5, circulant(3, 0.5, 1)},
		{"ring", 8, 0.5, circulant(8, 0.5, 1)},
		{"ring", 8, 0.1, circulant(8, 0.1, 1)},
		{"ring", 9, 0, circulant(9, 1./3, 1)},
		{"complete", 6, 0, average(6)},
		{"complete", 6, 0.5, append(slices.Repeat([]float64{0.5 - 0.5/5}, 5), 1)},
		{"server", 7, 0, average(7)},
		{"star", 6, 0, star(6)},
		{"path", 7, 0, path(7)},
		{"torus", 12, 0.2, torus(3, 4, 0.2)},
		{"torus", 16, 0, torus(4, 4, 0.2)},
		{"hypercube", 8, 0, hypercube(3, 0.25)},
		{"hypercube", 16, 0.5, hypercube(4, 0.5)},
		{"exponential", 8, 0, circulant(8, 1./6, 1, 1, 2, 2, 4)},
		{"exponential", 12, 0.4, circulant(12, 0.4, 1, 2, 4)},
		// graphs of which the extreme eigenvalues alone are found
		{"ring", 1025, 0.5, circulant(1025, 0.5, 1)},
		{"ring", 2000, 0.1, circulant(2000, 0.1, 1)},
		{"path", 1100, 0, path(1100)},
		{"star", 1500, 0, star(1500)},
		{"torus", 1200, 0.2, torus(30, 40, 0.2)},
		{"hypercube", 2048, 0.7, hypercube(11, 0.7)},
	} {
		g, err := network.New(c.graph, c.n, network.Options{W: c.w})
		if err != nil {
			t.Errorf("%s of %d, w = %v: %v", c.graph, c.n, c.w, err)
			continue
		}
		slices.SortFunc(c.want, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		tol := tol
		if c.n > 1024 { // the search ends where twice as many products change 1−|λ| by a millionth
			tol = 1e-5 * (1 - c.want[1])
		}
		rho := 0.0
		if c.n > 1 {
			rho = max(math.Abs(c.want[1]), math.Abs(c.want[c.n-1]))
		}
		if got := g.W.Rho(); math.Abs(got-rho) > tol {
			t.Errorf("%s of %d: ρ = %v; it must be %v", c.graph, c.n, got, rho)
		}
		if got, want := g.W.LambdaMin(), c.want[c.n-1]; math.Abs(got-want) > tol {
			t.Errorf("%s of %d: λ_min = %v; it must be %v", c.graph, c.n, got, want)
		}
	}
}

func TestWeights(t *testing.T) {
	third := 1. / 3
	for _, c := range []struct {
		graph string
		n     int
		w     float64
		want  [][]float64
	}{
		{"ring", 1, 0.7, [][]float64{{1}}},
		{"ring", 2, 0.7, [][]float64{{0.7, 1 - 0.7}, {1 - 0.7, 0.7}}},
		{"ring", 4, 0.5, [][]float64{{.5, .25, 0, .25}, {.25, .5, .25, 0}, {0, .25, .5, .25}, {.25, 0, .25, .5}}},
		{"path", 3, 0, [][]float64{{1 - third, third, 0}, {third, 1 - 2*third, third}, {0, third, 1 - third}}},
		{"star", 4, 0, [][]float64{{.25, .25, .25, .25}, {.25, .75, 0, 0}, {.25, 0, .75, 0}, {.25, 0, 0, .75}}},
		{"torus", 4, 0.5, [][]float64{{.5, .25, .25, 0}, {.25, .5, 0, .25}, {.25, 0, .5, .25}, {0, .25, .25, .5}}},
		{"server", 3, 0, [][]float64{{third, third, third}, {third, third, third}, {third, third, third}}},
	} {
		g, err := network.New(c.graph, c.n, network.Options{W: c.w})
		if err != nil {
			t.Errorf("%s of %d: %v", c.graph, c.n, err)
			continue
		}
		// 1 − Σ is off by at most a unit of rounding for each neighbour.
		if d := cmp.Diff(c.want, g.W.Dense(), cmpopts.EquateApprox(0, 4*0x1p-53)); d != "" {
			t.Errorf("%s of %d: W (-want +got):\n%s", c.graph, c.n, d)
		}
	}
}

func TestMatrixViews(t *testing.T) {
	g, s := testkit.Get(network.New("star", 4, network.Options{})), testkit.Get(network.Server(4))
	if d := cmp.Diff([]int{1, 2, 3}, g.W.Neighbours(0)); d != "" {
		t.Errorf("neighbours of 0 (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]network.Weight{{Agent: 0, Weight: 0.25}, {Agent: 2, Weight: 0.75}}, g.W.Row(2)); d != "" {
		t.Errorf("row 2 (-want +got):\n%s", d)
	}
	if a, b := g.W.At(2, 0), g.W.At(2, 3); a != 0.25 || b != 0 {
		t.Errorf("W[2][0], W[2][3] = %v, %v; it must be 0.25, 0", a, b)
	}
	if g.W.Sends(0) != 3 || g.W.Sends(1) != 1 || s.W.Sends(0) != 1 {
		t.Errorf("hub, leaf and client send %d, %d and %d vectors; it must be 3, 1 and 1", g.W.Sends(0),
			g.W.Sends(1), s.W.Sends(0))
	}
}

// TestEveryGraph builds every name at every size: it is either refused with a reason or valid.
func TestEveryGraph(t *testing.T) {
	for _, name := range network.Names() {
		for n := 1; n <= 40; n++ {
			for _, w := range []float64{0, 0.5} {
				g, err := network.New(name, n, network.Options{W: w, Seed: uint64(n)})
				if err != nil {
					if !errors.Is(err, dsbo.ErrConfig) {
						t.Errorf("%s of %d: error %v is not dsbo.ErrConfig", name, n, err)
					}
					refusable := w != 0 || name == "torus" || name == "hypercube"
					if !refusable {
						t.Errorf("%s of %d: %v", name, n, err)
					}
					continue
				}
				if err := g.W.Validate(); err != nil || g.W.N() != n || g.Name != name {
					t.Errorf("%s of %d: %v is invalid: %v", name, n, g, err)
				}
			}
		}
	}
}

func TestErdosRenyiBySeed(t *testing.T) {
	graph := func(prob float64, seed uint64) [][]float64 {
		return testkit.Get(network.New("erdos-renyi", 30, network.Options{Prob: prob, Seed: seed})).W.Dense()
	}
	if d := cmp.Diff(graph(0, 7), graph(0, 7)); d != "" {
		t.Errorf("two draws of seed 7 differ:\n%s", d)
	}
	if cmp.Equal(graph(0, 7), graph(0, 8)) {
		t.Error("seeds 7 and 8 give the same graph")
	}
	// At 1 edge in 1000 no draw is connected: all parts are bridged.
	graph(0.001, 1)
}

func TestRefused(t *testing.T) {
	type rows = [][]float64
	matrix := func(r rows) func() error {
		return func() error {
			m, err := network.NewMatrix(r)
			if err != nil {
				return err
			}
			return m.Validate()
		}
	}
	graph := func(name string, n int, o network.Options) func() error {
		return func() error { _, err := network.New(name, n, o); return err }
	}
	edges := func(n int, w float64, e ...[2]int) func() error {
		return func() error { _, err := network.FromEdges(n, e, w); return err }
	}
	for _, c := range []struct {
		name string
		make func() error
		want string
	}{
		{"empty", matrix(nil), "a graph must have 1 to 10000 agents; it has 0"},
		{"not square", matrix(rows{{1, 0}, {1}}), "row 1 of W must have 2 entries, as W has 2 rows; it has 1"},
		{"NaN", matrix(rows{{1, math.NaN()}, {0, 1}}), "W[0][1] must be finite; it is NaN"},
		{"infinite", matrix(rows{{1, 0}, {0, math.Inf(1)}}), "W[1][1] must be finite; it is +Inf"},
		{"negative", matrix(rows{{1.5, -0.5}, {-0.5, 1.5}}), "W[0][1] must be 0 or more; it is -0.5"},
		{"not symmetric", matrix(rows{{.5, .5, 0}, {.3, .5, .2}, {.2, 0, .8}}),
			"W must be symmetric; W[0][1] is 0.5 and W[1][0] is 0.3"},
		{"one-way edge", matrix(rows{{1, 1e-12}, {0, 1}}), "W must be symmetric; W[0][1] is 1e-12 and W[1][0] is 0"},
		{"not stochastic", matrix(rows{{.5, .5}, {.5, .25}}), "row 1 of W must sum to 1; it sums to 0.75"},
		{"not connected", matrix(rows{{.5, .5, 0}, {.5, .5, 0}, {0, 0, 1}}),
			"the graph must be connected; no path of edges leads from agent 0 to agent 2"},
		{"bipartite", matrix(rows{{0, .5, 0, .5}, {.5, 0, .5, 0}, {0, .5, 0, .5}, {.5, 0, .5, 0}}),
			"): give the agents more weight on themselves and on their edges"},
		{"unknown", graph("rign", 3, network.Options{}), `graph must be ring, complete, star`},
		{"no agents", graph("ring", 0, network.Options{}), "a graph must have 1 to 10000 agents; it has 0"},
		{"fewer", graph("server", -1, network.Options{}), "a graph must have 1 to 10000 agents; it has -1"},
		{"too many edges", graph("complete", 1500, network.Options{}),
			"a graph must have at most 1000000 edges; it has 1124250"},
		{"too many", graph("complete", 1<<30, network.Options{}),
			"a graph must have 1 to 10000 agents; it has 1073741824"},
		{"w of 1", graph("ring", 3, network.Options{W: 1}),
			"self weight w must be at least 0 (Metropolis weights) and below 1; it is 1"},
		{"negative w", graph("ring", 3, network.Options{W: -0.1}), "it is -0.1"},
		{"NaN w", graph("ring", 3, network.Options{W: math.NaN()}), "it is NaN"},
		{"w too small", graph("ring", 4, network.Options{W: 1e-14}), "ρ of W must be below 1"},
		{"w of a star", graph("star", 5, network.Options{W: 0.5}),
			"w must be 0 (Metropolis weights) in graph star, where agent 0 has 4 neighbours and agent 1 has " +
				"1; it is 0.5"},
		{"w of a server", graph("server", 5, network.Options{W: 0.5}),
			"must be 0 for graph server, which averages exactly; it is 0.5"},
		{"probability", graph("erdos-renyi", 5, network.Options{Prob: 1.5}),
			"edge probability must be at least 0 (0: 2 ln(n)/n) and at most 1; it is 1.5"},
		{"probability of a ring", graph("ring", 5, network.Options{Prob: 0.5}),
			"edge probability must be 0 for graph ring; it is 0.5"},
		{"prime torus", graph("torus", 7, network.Options{}),
			"a torus must have rows × columns with both above 1, such as 4, 6, 8 or 9 agents; it has 7"},
		{"hypercube", graph("hypercube", 6, network.Options{}),
			"a hypercube must have a power of two of agents, such as 4 or 8; it has 6"},
		{"no file", graph(filepath.Join("testdata", "absent.json"), 0, network.Options{}), "graph file: open"},
		{"self loop", edges(3, 0, [2]int{0, 1}, [2]int{2, 2}), "edge 1, [2, 2]: its ends must be two agents"},
		{"out of range", edges(3, 0, [2]int{0, 3}), "edge 0, [0, 3]: an agent must be 0 to 2; it is 3"},
		{"below range", edges(3, 0, [2]int{-1, 2}), "edge 0, [-1, 2]: an agent must be 0 to 2; it is -1"},
		{"repeated", edges(3, 0, [2]int{0, 1}, [2]int{1, 2}, [2]int{1, 0}),
			"edge 2, [1, 0]: an edge must be named once"},
		{"edges of two parts", edges(4, 0, [2]int{0, 1}, [2]int{2, 3}), "from agent 0 to agent 2"},
		{"edges and bad w", edges(3, 2), "self weight w must be at least 0"},
		{"edges and no agents", edges(0, 0), "it has 0"},
	} {
		testkit.WantError(t, c.name, c.make(), dsbo.ErrConfig, c.want)
	}
}

func TestNoSpectrum(t *testing.T) {
	m := testkit.Get(network.NewMatrix([][]float64{{math.NaN(), 0}, {1, 2}}))
	if !math.IsNaN(m.Rho()) || !math.IsNaN(m.LambdaMin()) {
		t.Errorf("ρ %v, λ_min %v; they must be NaN", m.Rho(), m.LambdaMin())
	}
}

func TestNewFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "square.json")
	testkit.OK(os.WriteFile(path, []byte(`{"agents": 4, "edges": [[0,1],[1,2],[2,3],[3,0]]}`), 0o600))
	ring := testkit.Get(network.Ring(4, 0.4))
	for _, n := range []int{0, 4} {
		g := testkit.Get(network.New(path, n, network.Options{W: 0.4}))
		if d := cmp.Diff(ring.W.Dense(), g.W.Dense()); d != "" || g.Name != path {
			t.Errorf("%v: W (-ring +file):\n%s", g, d)
		}
	}
	_, err := network.New(path, 5, network.Options{})
	testkit.WantError(t, "5 agents of a file of 4", err, dsbo.ErrConfig, "has 4 agents, but 5 are asked for")
}

// TestTree: the root is the first of the agents that are nearest to all others, whatever the graph.
func TestTree(t *testing.T) {
	for _, c := range []struct {
		graph                  string
		n                      int
		root, height, opposite int
	}{
		{"ring", 1, 0, 0, -1}, {"ring", 2, 0, 1, 1}, {"ring", 8, 0, 4, 1}, {"ring", 9, 0, 4, -1},
		{"path", 9, 4, 4, -1}, {"path", 8, 3, 4, 4}, {"star", 7, 0, 1, -1},
		{"complete", 7, 0, 1, -1}, {"torus", 25, 0, 4, -1},
	} {
		tree := testkit.Get(network.New(c.graph, c.n, network.Options{})).W.Tree()
		if tree.Root != c.root || tree.Height != c.height {
			t.Errorf("%s of %d: root %d, height %d; they must be %d and %d", c.graph, c.n, tree.Root, tree.Height,
				c.root, c.height)
		}
		if o := tree.Opposite(); o != c.opposite {
			t.Errorf("%s of %d: opposite the root is %d; it must be %d", c.graph, c.n, o, c.opposite)
		}
	}
}
