package network

// A Tree is a spanning tree of a graph, over which sums go up and results down.
type Tree struct {
	Root     int
	Parent   []int   // parent of each agent; -1 for the root
	Children [][]int // children of each agent, ascending
	Depth    []int   // number of edges from the root
	Height   int     // the largest depth
}

// Tree returns the breadth-first spanning tree of W's edges from the agent that is nearest to all
// others, the lowest of several. It returns nil if the graph is not connected. The first call costs
// at most one pass over all edges for each agent; later ones share its result, which must not be
// changed.
func (m *Matrix) Tree() *Tree { return m.spanning() }

// lowestTree finds what Tree returns. A search that reaches the least height so far ends there: its
// root is no better.
func (m *Matrix) lowestTree() *Tree {
	var s, best search
	least, most := m.N(), 0 // heights so far
	for root := range m.N() {
		s.visit(m.N(), m.Neighbours, least, root)
		height := s.depth[s.order[len(s.order)-1]]
		if height < least {
			if len(s.order) < m.N() { // edges do not lead to all
				return nil
			}
			least, s, best = height, best, s // the next search has the memory of the former best
		}
		most = max(most, height)
		if 2*least <= most+1 { // no height is less than half of another one; soon so in dense graphs
			break
		}
	}
	t := &Tree{Root: best.order[0], Parent: best.parent, Children: make([][]int, m.N()), Depth: best.depth,
		Height: least}
	for _, j := range best.order[1:] {
		t.Children[best.parent[j]] = append(t.Children[best.parent[j]], j)
	}
	return t
}

// Opposite returns the child of the root below which all agents of the largest depth are, -1 if
// they are below several. Sums may meet between it and the root: a result is then everywhere a hop
// earlier than by way of the root.
func (t *Tree) Opposite() int {
	opposite := -1
	for i, depth := range t.Depth {
		if depth < t.Height || i == t.Root {
			continue
		}
		for t.Parent[i] != t.Root { // up to the child of the root
			i = t.Parent[i]
		}
		if opposite >= 0 && opposite != i {
			return -1
		}
		opposite = i
	}
	return opposite
}

// Distances returns how many edges each agent is away from the nearest of some, -1 where no edges
// lead. It costs one pass over all edges.
func (m *Matrix) Distances(from ...int) []int {
	var s search
	s.visit(m.N(), m.Neighbours, m.N(), from...)
	return s.depth
}

// A search is a visit, breadth first, to the agents that edges lead to from some.
type search struct {
	order  []int // the agents as they are visited
	parent []int // from which each is reached; -1: none
	depth  []int // how many edges away each is; -1: not reached
}

// visit begins a new search, in the same memory, which ends where all have been visited, and at the
// first agent whose depth is end.
func (s *search) visit(n int, neighbours func(i int) []int, end int, from ...int) {
	s.order, s.parent, s.depth = append(s.order[:0], from...), s.parent[:0], s.depth[:0]
	for range n {
		s.parent, s.depth = append(s.parent, -1), append(s.depth, -1)
	}
	for _, i := range from {
		s.depth[i] = 0
	}
	for next := 0; next < len(s.order) && len(s.order) < n; next++ {
		i := s.order[next]
		for _, j := range neighbours(i) {
			if s.depth[j] < 0 {
				s.depth[j], s.parent[j] = s.depth[i]+1, i
				if s.order = append(s.order, j); s.depth[j] == end {
					return
				}
			}
		}
	}
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
