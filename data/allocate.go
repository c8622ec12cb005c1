package data

import (
	"math/rand/v2"
	"slices"
)

// An allocation is the number of examples of each label for each agent.
type allocation struct {
	laws   [][]float64 // weight of each label for each agent; 0: not allowed
	quotas [][]int     // examples of each label that each agent has
	left   []int       // examples of each label that no agent has
}

// allocate gives size examples to every agent and returns the number of each label for each agent.
// In each turn every agent draws a label from its law, restricted to labels with examples left. If
// an agent has no such label, other agents swap labels to free one. The second result is the size
// reached; if it is less than size, no allocation within the laws gives every agent more.
func allocate(r *rand.Rand, laws [][]float64, supply []int, size int) ([][]int, int) {
	a := allocation{laws: laws, quotas: make([][]int, len(laws)), left: slices.Clone(supply)}
	for i := range a.quotas {
		a.quotas[i] = make([]int, len(supply))
	}
	for turn := range size {
		for i := range laws {
			if !a.drawLabel(r, i) && !a.swapLabel(i) {
				return a.quotas, turn
			}
		}
	}
	return a.quotas, size
}

// drawLabel gives agent i an example from its law restricted to the labels left.
func (a *allocation) drawLabel(r *rand.Rand, i int) bool {
	sum := 0.0
	for l, w := range a.laws[i] {
		if a.left[l] > 0 {
			sum += w
		}
	}
	if sum == 0 {
		return false
	}
	u := sum * r.Float64() // invert the cumulative distribution at u
	last := -1
	for l, w := range a.laws[i] {
		if a.left[l] == 0 || w == 0 {
			continue
		}
		last = l // rounding may leave u at the end
		if u -= w; u < 0 {
			break
		}
	}
	a.quotas[i][last]++
	a.left[last]--
	return true
}

// swapLabel gives agent i an example of a used-up label from another agent, which takes an example
// of another label in exchange, and so on to a label that has examples left. Breadth-first search
// finds the shortest such chain. It is an augmenting path of a maximum flow: if there is none, no
// agent can have more unless another has less.
func (a *allocation) swapLabel(i int) bool {
	const unseen = -1
	taker := slices.Repeat([]int{unseen}, len(a.left)) // the agent that would take an example of the label
	gives := slices.Repeat([]int{unseen}, len(a.laws)) // the label that the agent would give up for it
	queue := []int{i}
	for len(queue) > 0 {
		j := queue[0]
		queue = queue[1:]
		for l, w := range a.laws[j] {
			if w == 0 || taker[l] != unseen {
				continue
			}
			taker[l] = j
			if a.left[l] > 0 {
				a.shift(i, l, taker, gives)
				return true
			}
			for k := range a.laws {
				if k != i && gives[k] == unseen && a.quotas[k][l] > 0 {
					gives[k] = l
					queue = append(queue, k)
				}
			}
		}
	}
	return false
}

// shift carries out the chain that ends at label l.
func (a *allocation) shift(i, l int, taker, gives []int) {
	a.left[l]--
	for {
		j := taker[l]
		a.quotas[j][l]++
		if j == i {
			return
		}
		l = gives[j]
		a.quotas[j][l]--
	}
}
