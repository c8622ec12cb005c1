package network

import "slices"

// A Tree is a spanning tree of a graph, over which sums go up and results down.
type Tree struct {
	Root     int
	Parent   []int   // parent of each agent; -1 for the root
	Children [][]int // children of each agent, ascending
	Depth    []int   // number of edges from the root
	Height   int     // the largest depth
}

// Tree returns the breadth-first spanning tree of W's edges from the agent that is nearest to all
// others, the lowest of several. It returns nil if the graph is not connected. The cost is at most
// one pass over all edges for each agent.
func (m *Matrix) Tree() *Tree {
	var best *Tree
	most := 0 // the largest height: no tree is less than half as high as another one
	for root := range m.N() {
		t := m.treeFrom(root)
		if t == nil {
			return nil
		}
		most = max(most, t.Height)
		if best == nil || t.Height < best.Height {
			best = t
		}
		if 2*best.Height <= most+1 { // as for dense graphs at once
			break
		}
	}
	return best
}

// treeFrom returns the breadth-first tree from a root, nil if it does not reach all agents.
func (m *Matrix) treeFrom(root int) *Tree {
	order, parent, depth := m.search(root)
	if len(order) < m.N() {
		return nil
	}
	t := &Tree{Root: root, Parent: parent, Children: make([][]int, m.N()), Depth: depth,
		Height: depth[order[len(order)-1]]}
	for _, j := range order[1:] {
		t.Children[parent[j]] = append(t.Children[parent[j]], j)
	}
	return t
}

// Distances returns how many edges each agent is away from one, -1 where no edges lead. It costs
// one pass over all edges.
func (m *Matrix) Distances(from int) []int {
	_, _, depth := m.search(from)
	return depth
}

// search visits the agents that edges lead to from some, breadth first: in which order, from which
// parent and how many edges away, both -1 for agents that it does not reach.
func (m *Matrix) search(from ...int) (order, parent, depth []int) {
	order, parent, depth = slices.Clone(from), slices.Repeat([]int{-1}, m.N()), slices.Repeat([]int{-1}, m.N())
	for _, i := range from {
		depth[i] = 0
	}
	for next := 0; next < len(order); next++ {
		i := order[next]
		for _, j := range m.Neighbours(i) {
			if depth[j] < 0 {
				depth[j], parent[j] = depth[i]+1, i
				order = append(order, j)
			}
		}
	}
	return order, parent, depth
}

// Sends returns how many vectors agent i sends in one sum: one up, unless it is the root, and one
// down to each child.
func (t *Tree) Sends(i int) int {
	sends := len(t.Children[i])
	if t.Parent[i] >= 0 {
		sends++
	}
	return sends
}
