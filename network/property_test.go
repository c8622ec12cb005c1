package network_test

import (
	"slices"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"

	"pgregory.net/rapid"
)

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
