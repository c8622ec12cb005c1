package models

import (
	"dsbo"
	"dsbo/ad"
)

// Cox is the negative logarithm of Cox's partial likelihood of survival times. A row's output o is
// the logarithm of its hazard, up to one number for all rows. A target is a time above 0, with a
// minus sign if no event ended it. An agent compares its rows with each other alone, so agents are
// strata, each with a baseline hazard of its own. The loss of a row with an event at t is
//
//	log S(t) − o      with S(t) = Σ v_i e^{o_i} over the rows whose time is not before t
//
// where v is the column [RiskWeights], or 1 without it; rows without an event have loss 0. For k
// tied events, Breslow's rule uses the same log S for each. Efron's uses the mean over l = 0 ...
// k−1 of log S with the tied events weighted by 1 − l/k. [ad.Risk] computes it.
type Cox struct {
	Breslow bool // the rule for ties; else Efron's
}

// RiskWeights names the column of weights in risk sets: the number of rows that a row represents.
const RiskWeights = "weight at risk"

// Check implements [OutputLoss].
func (Cox) Check(targets *ad.Table, outputs int) error {
	if err := checkNumbers(targets, outputs); err != nil {
		return err
	}
	if outputs != 1 {
		return dsbo.ConfigErrorf("a model of survival times must have 1 output; it has %d", outputs)
	}
	for i := range targets.Rows() {
		if targets.At(i, 0) == 0 {
			return dsbo.ConfigErrorf("times must be above 0, or below where there was no event; row %d has 0", i)
		}
	}
	return nil
}

// A hazard is the risk sets of a batch with the outputs of its rows.
type hazard struct {
	ad.Risk
	scores *ad.Node // outputs, a vector
	event  *ad.Node // 1 for a row with an event, else 0
}

// hazard returns the risk sets of a batch with these outputs. Rows of weight 0 are in no risk set:
// a fold's model is trained without the fold's rows. Among the others a row counts by
// [RiskWeights], whatever its weight is.
func (c Cox) hazard(outputs *ad.Node, b Batch) hazard {
	v := b.Column(RiskWeights)
	if v == nil {
		v = ad.Uniform(1, b.T)
	}
	if b.W != nil {
		v = ad.Mul(v, ad.Step(b.W))
	}
	return hazard{ad.Risk{Times: b.T, Weights: v, Efron: !c.Breslow}, ad.Flatten(outputs), ad.Step(b.T)}
}

// expected builds two vectors with an entry for each row: the number of events that the model
// expects of it, Σ_e m_e (its share in e's risk set), and the mass m_e of its own event, which is
// its weight in the batch, averaged over tied events, and 0 without an event.
func (h hazard) expected(b Batch) (expected, mass *ad.Node) {
	mass = h.TieMean(b.weighted(h.event))
	return h.Share(h.scores, mass), mass
}

// JointLosses implements [JointLoss].
func (c Cox) JointLosses(outputs *ad.Node, b Batch) *ad.Node {
	h := c.hazard(outputs, b)
	return ad.Mul(h.event, ad.Sub(h.TieMean(h.Log(h.scores)), h.scores))
}

// JointDiagonal implements [JointLoss]: (Σ_i c_i x_ij² − Σ_e m_e x̄_ej²) / rows. c_i is the number
// of events expected of row i, m_e is the mass of event e, and x̄_e is the mean of x over its risk
// set. Each entry is a sum of variances, so ReLU only removes negative values due to rounding.
func (c Cox) JointDiagonal(outputs *ad.Node, b Batch) *ad.Node {
	h := c.hazard(outputs, b)
	expected, mass := h.expected(b)
	squares := ad.MatVec(ad.Square(b.X), expected, true)
	means := ad.MatVec(ad.Square(h.Mean(h.scores, b.X)), mass, true)
	return ad.Scale(1/float64(b.Rows), ad.ReLU(ad.Sub(squares, means)))
}

// Losses implements [OutputLoss].
func (c Cox) Losses(outputs, t *ad.Node) *ad.Node { return c.JointLosses(outputs, Batch{T: t}) }

// Slope implements [OutputLoss]: the number of events expected of a row minus its own, 1 or 0.
func (c Cox) Slope(outputs, t *ad.Node) *ad.Node {
	h := c.hazard(outputs, Batch{T: t})
	expected, _ := h.expected(Batch{})
	return targetsLike(outputs, ad.Sub(expected, h.event))
}

// Curvature implements [OutputLoss]. It builds an upper bound, the number of events expected of a
// row: the second derivative itself is smaller, by an amount that depends on the other rows.
func (c Cox) Curvature(outputs, t *ad.Node) *ad.Node {
	expected, _ := c.hazard(outputs, Batch{T: t}).expected(Batch{})
	return targetsLike(outputs, expected)
}

// CurvatureBehind implements [OutputLoss], as an upper bound too.
func (c Cox) CurvatureBehind(w, outputs, t *ad.Node) *ad.Node {
	return separateCurvature(w, c.Curvature(outputs, t))
}

// ShiftInvariant implements [ShiftInvariant]: a constant added to all outputs cancels.
func (Cox) ShiftInvariant() {}
