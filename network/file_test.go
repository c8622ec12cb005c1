package network_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseRefused(t *testing.T) {
	for _, c := range []struct {
		data string
		w    float64
		want string
	}{
		{``, 0, "it must be a JSON object"},
		{`[]`, 0, "it must be a JSON object"},
		{`{`, 0, "at byte 1: the file ends early"},
		{`{"agents": 2, "edges": [[0,1]]`, 0, "at byte 30: the file ends early"},
		{`{"agents": 2, "edges": [[0,1`, 0, "the file ends early"},
		{`{"agents": 2; "edges": [[0,1]]}`, 0, "invalid character ';'"},
		{`{"agents": 2, "edges": [[0,1]]} {}`, 0, "it must be one object alone; something follows"},
		{`{"agents": 2, "edges": [[0,1]], "weights": 3}`, 0,
			`field "weights" is not known; it must be one of agents, edges, W`},
		{`{"w": [[1]]}`, 0, `field "w" is not known`},
		{`{"agents": 2, "agents": 2, "edges": [[0,1]]}`, 0, `field "agents" must be given once; it is given twice`},
		{`{"agents": null, "edges": []}`, 0, `field "agents" must be a whole number; it is null`},
		{`{"W": [[1, null], [0, 1]]}`, 0, `field "W" must be rows of numbers, [[0.5, 0.5], ...]; it holds null`},
		{`{"agents": 2.5, "edges": []}`, 0, `field "agents" must be a whole number; it is 2.5`},
		{`{"agents": 2, "edges": [[0, "1"]]}`, 0,
			`field "edges" must be pairs of whole numbers, [[0, 1], ...]; it is of type string`},
		{`{"W": [[1e999]]}`, 0, `field "W" must be rows of numbers, [[0.5, 0.5], ...]; it is 1e999`},
		{`{}`, 0, `one of "edges" and "W" must be given; neither is`},
		{`{"edges": [[0,1]]}`, 0, `"agents" must be given beside "edges"`},
		{`{"W": [[1]], "edges": []}`, 0, `one of "edges" and "W" must be given; both are`},
		{`{"W": [[1]], "agents": 2}`, 0, `"agents" must be the number of rows of "W", 1; it is 2`},
		{`{"W": [[1]]}`, 0.5, `self weight w must be 0 where the file gives "W"; it is 0.5`},
		{`{"W": []}`, 0, "must have 1 to 10000 agents; it has 0"},
		{`{"W": [[0.5, 0.5], [0.5]]}`, 0, "row 1 of W must have 2 entries"},
		{`{"W": [[0.5, 0.5], [0.5, 0.4]]}`, 0, "row 1 of W must sum to 1; it sums to 0.9"},
		{`{"agents": 3, "edges": [[0, 1, 2]]}`, 0, "edge 0, [0 1 2]: an edge must have 2 ends; it has 3"},
		{`{"agents": 3, "edges": [[0, 1], [1, 1]]}`, 0, "edge 1, [1, 1]: its ends must be two agents"},
		{`{"agents": 1000000000, "edges": []}`, 0, "must have 1 to 10000 agents; it has 1000000000"},
	} {
		_, err := network.Parse("g.json", []byte(c.data), c.w)
		testkit.WantError(t, c.data, err, dsbo.ErrConfig, "graph file g.json: ")
		testkit.WantError(t, c.data, err, dsbo.ErrConfig, c.want)
	}
}

// FuzzParse holds the reader to its word: what it accepts is valid and its own W, written
// down again, reads back.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"agents": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 0]]}`,
		`{"agents": 1, "edges": []}`,
		`{"W": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]}`,
		`{"agents": 2, "W": [[0.7, 0.3], [0.3, 0.7]]}`,
		`{"agents": 3, "edges": [[0, 0], [1, 9]]} x`,
		`{"W": [[1, null], [-1, 1e999]], "W": 0}`,
	} {
		f.Add([]byte(seed), 0.0)
	}
	f.Add([]byte(`{"agents": 3, "edges": [[0, 1], [1, 2], [2, 0]]}`), 0.5)
	f.Fuzz(func(t *testing.T, data []byte, w float64) {
		g, err := network.Parse("g.json", data, w)
		if err != nil {
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("error %v is not dsbo.ErrConfig", err)
			}
			return
		}
		if err := g.W.Validate(); err != nil {
			t.Errorf("accepted an invalid W: %v", err)
		}
		text := testkit.Get(json.Marshal(map[string]any{"agents": g.W.N(), "W": g.W.Dense()}))
		again, err := network.Parse("again.json", text, 0)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if d := cmp.Diff(g.W.Dense(), again.W.Dense()); d != "" {
			t.Errorf("W read back (-first +again):\n%s", d)
		}
	})
}

// drawGraph draws a random connected graph: a random tree and more edges.
func drawGraph(t *rapid.T) *network.Graph {
	n := rapid.IntRange(1, 20).Draw(t, "n")
	linked := map[[2]int]bool{}
	var edges [][2]int
	link := func(i, j int) {
		if key := [2]int{min(i, j), max(i, j)}; i != j && !linked[key] {
			linked[key] = true
			edges = append(edges, [2]int{i, j})
		}
	}
	for i := 1; i < n; i++ {
		link(i, rapid.IntRange(0, i-1).Draw(t, "parent"))
	}
	for range rapid.IntRange(0, 2*n).Draw(t, "extra") {
		link(rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j"))
	}
	g, err := network.FromEdges(n, edges, 0)
	if err != nil {
		t.Fatalf("%d agents, edges %v: %v", n, edges, err)
	}
	return g
}

// TestMetropolis: on any connected graph the Metropolis weights are valid, positive on the
// diagonal, and the dense form gives the same matrix again.
func TestMetropolis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGraph(t).W
		again := testkit.Get(network.NewMatrix(w.Dense()))
		testkit.OK(again.Validate())
		for i := range w.N() {
			if w.At(i, i) <= 0 {
				t.Fatalf("W[%d][%d] = %v; it must be above 0", i, i, w.At(i, i))
			}
			for j := range w.N() {
				if w.At(i, j) != w.At(j, i) || w.At(i, j) != again.At(i, j) {
					t.Fatalf("W[%d][%d] = %v, W[%d][%d] = %v, again %v", i, j, w.At(i, j), j, i,
						w.At(j, i), again.At(i, j))
				}
			}
		}
	})
}

// TestTreeIsShort: no spanning tree is lower than Tree's, as no agent has all others nearer, and
// its depths are distances in the graph.
func TestTreeIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGraph(t).W
		n := w.N()
		const far = 1 << 20
		distance := make([][]int, n) // by brute force: all pairs over each agent in turn
		for i := range distance {
			distance[i] = slices.Repeat([]int{far}, n)
			distance[i][i] = 0
			for _, j := range w.Neighbours(i) {
				distance[i][j] = 1
			}
		}
		for via := range n {
			for i := range n {
				for j := range n {
					distance[i][j] = min(distance[i][j], distance[i][via]+distance[via][j])
				}
			}
		}
		// A spanning tree from a root is at least as high as the farthest agent is away.
		center := 0
		for i := range n {
			if slices.Max(distance[i]) < slices.Max(distance[center]) {
				center = i
			}
		}
		tree := w.Tree()
		if tree.Root != center || tree.Height != slices.Max(distance[center]) {
			t.Fatalf("root %d, height %d; they must be %d and %d", tree.Root, tree.Height, center,
				slices.Max(distance[center]))
		}
		for i, parent := range tree.Parent {
			if tree.Depth[i] != distance[center][i] {
				t.Fatalf("agent %d is %d edges from the root; it must be %d", i, tree.Depth[i], distance[center][i])
			}
			if i == center {
				continue
			}
			if w.At(i, parent) == 0 || tree.Depth[parent] != tree.Depth[i]-1 ||
				!slices.Contains(tree.Children[parent], i) {
				t.Fatalf("agent %d must hang by an edge on an agent one nearer to the root; it hangs on %d", i, parent)
			}
		}
	})
}
