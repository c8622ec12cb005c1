package experiment

import (
	"fmt"

	"dsbo/algo"
)

// account holds what the agents have sent against the method's formula, float by float, and returns the
// formula's number for one agent and iteration, to all neighbours together. A difference is a mistake in one of the two.
func (r *runner) account() (float64, error) {
	p, q, err := r.problem.Dims()
	if err != nil {
		return 0, err
	}
	k := r.result.Iterations
	vectors := 0 // to one neighbour
	for i := range k {
		c, err := algo.CostOf(r.Settings.Algorithm, r.params, p, q, i)
		if err != nil {
			return 0, err
		}
		vectors += c.Floats
	}
	total := 0
	for i, u := range r.result.Usage {
		want := vectors * r.graph.W.Sends(i)
		if u.Sent.Floats != int64(want) {
			return 0, fmt.Errorf("accounting: agent %d sent %d numbers in %d iterations of %s, the formula says %d",
				i, u.Sent.Floats, k, r.Settings.Algorithm, want)
		}
		total += want
	}
	return float64(total) / float64(max(1, k*len(r.result.Usage))), nil
}
