package models

import (
	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// PolicyEvaluation finds the weights x of a linear value function V(s) = φ(s)'x by the Bellman
// equation, from the agents' transitions ([data.Policy]). With the temporal difference δ_e(x) =
// V(s) − γ V(s') − r of a transition e from s to s',
//
//	min_x  ½ mean_s (mean_{e from s} δ_e(x))²
//
// with means over all agents. It is a square of a mean, so the square of a single difference would
// be a biased sample. In bilevel form the lower solution y_s is the mean difference in state s,
//
//	f_i(x, y) = ½ mean_e y_{s_e}²      g_i(x, y) = ½ ‖y‖² − (S/m) Σ_e y_{s_e} δ_e(x)
//
// over m transitions, as many from each of the S states. p is the number of features, q = S. It is
// a compositional problem.
type PolicyEvaluation struct{ Features, States int }

func (PolicyEvaluation) compositional() {}

// Dims implements [Model].
func (m PolicyEvaluation) Dims() (p, q int) { return m.Features, m.States }

// Check implements [Checker].
func (m PolicyEvaluation) Check(s data.Shard) error {
	return checkShard(s, m.Features, 0, func(e data.Examples) error {
		states := e.Column(data.StateColumn)
		if states == nil || states.Cols() != 1 {
			return dsbo.ShapeErrorf("transitions must have their state in the column %q", data.StateColumn)
		}
		for i := range states.Rows() {
			if v := states.At(i, 0); v < 0 || v >= float64(m.States) || v != float64(int(v)) {
				return dsbo.ShapeErrorf("states must be whole numbers from 0 to %d; that of row %d is %g",
					m.States-1, i, v)
			}
		}
		return checkNumbers(e.Target, 1)
	})
}

// differences builds δ_e(x) of each transition.
func (m PolicyEvaluation) differences(x *ad.Node, b Batch) *ad.Node {
	return ad.Sub(ad.MatVec(b.X, x, false), b.T)
}

// Lower implements [Model].
func (m PolicyEvaluation) Lower(x, y *ad.Node, b Batch) *ad.Node {
	along := ad.Dot(ad.Gather(y, b.Column(data.StateColumn)), m.differences(x, b))
	return ad.Sub(ad.Scale(.5, ad.Dot(y, y)), ad.Scale(float64(m.States)/float64(b.Rows), along))
}

// Upper implements [Model].
func (m PolicyEvaluation) Upper(_, y *ad.Node, b Batch) *ad.Node {
	return ad.Scale(.5, ad.Mean(ad.Square(ad.Gather(y, b.Column(data.StateColumn)))))
}

// Score implements [Scorer]: ½ δ², which depends on x alone. For an example with X the features of
// a state and the state's value as target, it is half the squared error of the value.
func (m PolicyEvaluation) Score(x, _ *ad.Node, b Batch) (losses, hits *ad.Node) {
	return ad.Scale(.5, ad.Square(m.differences(x, b))), nil
}

// Diagonal implements [Curved]: 1 in each entry.
func (m PolicyEvaluation) Diagonal(_, y *ad.Node, _ Batch) *ad.Node {
	return ad.Uniform(1, y)
}

// Modulus implements [StronglyConvex].
func (PolicyEvaluation) Modulus([]float64) float64 { return 1 }

// Meaning implements [Meant].
func (PolicyEvaluation) Meaning() Meaning {
	return Meaning{Symbol: "x", One: "weight of the value function", Many: "weights of the value function",
		About: "The value of a state is the sum of its features times these weights."}
}

// Baselines implements [Baselined].
func (m PolicyEvaluation) Baselines() []Baseline {
	return []Baseline{{Name: "all values 0", X: make([]float64, m.Features)}}
}
