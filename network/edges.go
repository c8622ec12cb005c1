package network

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"dsbo"
	"dsbo/internal/num"
)

// An edgeSet is an undirected graph without weights: the neighbours of each agent, ascending.
type edgeSet [][]int

// edgesWhere returns the graph of n agents whose edges are i-j, j < i, where linked(i, j). It asks
// in ascending order.
func edgesWhere(n int, linked func(i, j int) bool) edgeSet {
	e := make(edgeSet, n)
	for i := range n {
		for j := range i {
			if linked(i, j) {
				e[i], e[j] = append(e[i], j), append(e[j], i) // both ascend
			}
		}
	}
	return e
}

// link adds the edge i-j, whose ends differ, and reports whether it was not there before.
func (e edgeSet) link(i, j int) bool {
	for _, ends := range [][2]int{{i, j}, {j, i}} {
		at, found := slices.BinarySearch(e[ends[0]], ends[1])
		if found {
			return false
		}
		e[ends[0]] = slices.Insert(e[ends[0]], at, ends[1])
	}
	return true
}

func (e edgeSet) has(i, j int) bool {
	_, found := slices.BinarySearch(e[i], j)
	return found
}

func (e edgeSet) neighbours(i int) []int { return e[i] }

// inCircle reports whether a and b are next to each other in a circle of n.
func inCircle(a, b, n int) bool {
	d := max(a-b, b-a)
	return d == 1 || d == n-1
}

// powerOfTwo reports whether d is 0 or a power of two.
func powerOfTwo(d int) bool { return d&(d-1) == 0 }

func checkHypercube(n int) error {
	if !powerOfTwo(n) {
		below := 1 << (bits.Len(uint(n)) - 1)
		return dsbo.ConfigErrorf(
			"a hypercube must have a power of two of agents, such as %d or %d; it has %d", below, 2*below, n)
	}
	return nil
}

// erdosRenyiStream keeps the graph's draws apart from other uses of the same seed.
const erdosRenyiStream = 0x6772617068

// erdosRenyiEdges returns a graph in which each pair of agents is an edge with probability prob, 0
// as in [Options]: drawn up to 20 times until it is connected, else joined by bridges.
func erdosRenyiEdges(n int, prob float64, seed uint64) edgeSet {
	if prob == 0 {
		prob = min(1, 2*num.Log(float64(n))/float64(n))
	}
	r := rand.New(rand.NewPCG(seed, erdosRenyiStream))
	const draws = 20
	for draw := 1; ; draw++ {
		e := edgesWhere(n, func(int, int) bool { return r.Float64() < prob })
		if part := components(n, e.neighbours); slices.Max(part) == 0 || draw == draws {
			e.bridge(part, r)
			return e
		}
	}
}

// bridge links a random agent of every other component, if there are any, to a random one of
// component 0.
func (e edgeSet) bridge(part []int, r *rand.Rand) {
	members := make([][]int, slices.Max(part)+1)
	for i, p := range part {
		members[p] = append(members[p], i)
	}
	pick := func(p int) int { return members[p][r.IntN(len(members[p]))] }
	for p := 1; p < len(members); p++ {
		e.link(pick(0), pick(p))
	}
}

// graph gives the edges their weights, by the rule that w chooses, and checks the result. With w
// above 0 all agents must have one degree, as an edge then has one weight at both ends.
func (e edgeSet) graph(name string, w float64) (*Graph, error) {
	ends := 0
	for _, js := range e {
		ends += len(js)
	}
	if err := checkEdges(ends / 2); err != nil {
		return nil, err
	}
	weight := func(i, j int) float64 { return 1 / float64(1+max(len(e[i]), len(e[j]))) }
	if w != 0 {
		degree := len(e[0])
		for i, js := range e {
			if len(js) != degree {
				return nil, dsbo.ConfigErrorf(
					"self weight w must be 0 (Metropolis weights) in graph %s, where agent 0 has %d neighbours and "+
						"agent %d has %d; it is %v",
					name, degree, i, len(js), w)
			}
		}
		weight = func(int, int) float64 { return (1 - w) / float64(degree) }
	}
	rows := make([][]Weight, len(e))
	for i, js := range e {
		rows[i] = make([]Weight, 0, 1+len(js))
		others := 0.0
		for _, j := range js {
			rows[i] = append(rows[i], Weight{j, weight(i, j)})
			others += weight(i, j)
		}
		own := 1 - others
		if w != 0 && len(js) > 0 { // w itself, as 1 − others is off by its rounding
			own = w
		}
		at, _ := slices.BinarySearch(js, i)
		rows[i] = slices.Insert(rows[i], at, Weight{i, own})
	}
	return validGraph(name, newMatrix(rows))
}

func validGraph(name string, m *Matrix) (*Graph, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return &Graph{Name: name, W: m}, nil
}
