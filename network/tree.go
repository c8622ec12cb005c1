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

// Tree returns the breadth-first spanning tree of W's edges from the agent that is nearest to all others, the lowest of
// several. It returns nil if the graph is not connected. The cost is at most one pass over all edges for each agent.
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
	n := m.N()
	t := &Tree{Root: root, Parent: slices.Repeat([]int{-1}, n), Children: make([][]int, n), Depth: slices.Repeat([]int{-1}, n)}
	t.Depth[root] = 0
	queue := []int{root}
	for next := 0; next < len(queue); next++ {
		i := queue[next]
		t.Height = max(t.Height, t.Depth[i])
		for _, j := range m.Neighbours(i) {
			if t.Depth[j] < 0 {
				t.Depth[j], t.Parent[j] = t.Depth[i]+1, i
				t.Children[i] = append(t.Children[i], j)
				queue = append(queue, j)
			}
		}
	}
	if len(queue) < n {
		return nil
	}
	return t
}

// Sends returns how many vectors agent i sends in one sum: one up, unless it is the root, and one down to each child.
func (t *Tree) Sends(i int) int {
	sends := len(t.Children[i])
	if t.Parent[i] >= 0 {
		sends++
	}
	return sends
}
