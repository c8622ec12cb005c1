package ad

import (
	"fmt"
	"slices"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/num"
)

// A riskRule is an op over risk sets of Cox's partial likelihood. At the time of an event all rows
// are at risk whose time is not before it. Event row j has a term, with the sum of risks
//
//	S_j = Σ_i m_ji v_i e^{η_i}      and shares p_ji = m_ji v_i e^{η_i} / S_j
//
// where m_ji is 1 for all rows at risk; by Efron's rule of the l-th of k events at one time, from 0
// on, it is 1 − l/k for these events. A row of weight v_i = 0 is not there. Rows without an event
// have no term, and 0 in its place.
//
// Means over risk sets and sums over terms are each other's derivatives: by η along u,
//
//	d Σ_i p_ji f_i = Σ_i p_ji f_i (u_i − ū_j)
//	d Σ_j p_ji g_j = u_i Σ_j p_ji g_j − Σ_j p_ji g_j ū_j
//
// with ū_j = Σ_i p_ji u_i. Passes over the rows by time take running maxima and means in place of
// sums and differences, in float64 whatever the type of the loss is, so that the scores may be
// ±2000 ([num.RiskSets]).
type riskRule struct {
	of    riskOp
	efron bool
}

// A riskOp is what a riskRule finds.
type riskOp string

const (
	riskLog   riskOp = "RiskLog"   // log S_j
	riskMean  riskOp = "RiskMean"  // Σ_i p_ji f_i
	riskShare riskOp = "RiskShare" // Σ_j p_ji g_j
	tieMean   riskOp = "TieMean"   // mean of the entries of events of the same time
)

// A Risk has the risk sets of rows, for losses of survival times.
type Risk struct {
	// Times is a vector of times t_i > 0, negative where no event has ended them. In float32 they
	// are to be ranks below 2²⁴, so that they are as far from each other as before.
	Times *Node
	// Weights is a vector of the weights v_i of rows in risk sets, at least 0.
	Weights *Node
	Efron   bool // how tied events are taken: by Efron's rule, or by Breslow's
}

// Log returns log S_j of each event row at the scores η, 0 elsewhere. Times and weights are data,
// not differentiated. The cost is O(n log n) for n rows, as of the others.
func (r Risk) Log(scores *Node) *Node { return r.node(riskLog, scores, scores) }

// Mean returns Σ_i p_ji f_i of each event row, 0 elsewhere. f is a vector, or a matrix whose
// columns are taken one by one.
func (r Risk) Mean(scores, f *Node) *Node { return r.node(riskMean, f, f, scores) }

// Share returns Σ_j p_ji g_j of each row, over the terms of all event rows j: of g the mean of
// their weights ([Risk.TieMean]) it is the number of events that is expected of each row.
func (r Risk) Share(scores, g *Node) *Node {
	return r.node(riskShare, g, g, scores, r.Log(scores))
}

// TieMean returns for each event row the mean of the entries of v in all event rows of its time, 0
// elsewhere.
func (r Risk) TieMean(v *Node) *Node { return r.node(tieMean, v, v) }

// node applies an op to inputs, behind the times and the weights.
func (r Risk) node(of riskOp, like *Node, in ...*Node) *Node {
	n, _ := dims(like)
	name := named(of)
	name.vector(r.Times, n)
	name.vector(r.Weights, n)
	for _, scores := range in[1:] {
		name.vector(scores, n)
	}
	if of == riskLog || of == tieMean {
		name.vector(like, n)
	}
	checkExact(string(of), r.Times, n)
	return newNode(riskRule{of, r.Efron}, slices.Clone(like.Shape()), append(nodes{r.Times, r.Weights}, in...)...)
}

func (r riskRule) String() string {
	if r.efron {
		return fmt.Sprintf("%s (Efron)", r.of)
	}
	return string(r.of)
}

// grad implements rule: the ops are adjoint to one another, and their derivatives are made of them.
// Times and weights, the first two inputs, have none. Means and shares have the column and then the
// scores as inputs, and shares the logarithms of sums, which depend on the scores: their derivative
// is in the one by the scores.
func (r riskRule) grad(in nodes, out, g *Node) nodes {
	risk := Risk{in[0], in[1], r.efron}
	switch r.of {
	case riskLog:
		return nodes{nil, nil, risk.Share(in[2], g)}
	case tieMean:
		return nodes{nil, nil, risk.TieMean(g)}
	case riskMean:
		byF := risk.Share(in[3], g)
		return nodes{nil, nil, byF, Sub(rowSum(Mul(in[2], byF)), risk.Share(in[3], rowSum(Mul(g, out))))}
	}
	byG := risk.Mean(in[3], g)
	return nodes{nil, nil, byG, Sub(rowSum(Mul(g, out)), risk.Share(in[3], rowSum(Mul(in[2], byG)))), nil}
}

// rowSum returns the sum of each row of a matrix, or a vector itself.
func rowSum(a *Node) *Node {
	if len(a.Shape()) == 1 {
		return a
	}
	return SumCols(a)
}

func (r riskRule) lower(nodes) engine.Op { return with(r, "", riskKernel, riskKernel) }

// A riskWork is risk sets with the columns of a kernel.
type riskWork struct {
	num.RiskSets
	scores, column, logs, made []float64
}

// riskSpares are those that no kernel uses.
var riskSpares kernel.Spares[riskWork]

// riskKernel runs an op column by column of its first input after times and weights.
func riskKernel[T Float](r riskRule, c *call[T]) {
	s := riskSpares.Get()
	defer riskSpares.Add(s)
	num.SortRisks(&s.RiskSets, c.In[0].V, c.In[1].V)
	s.Efron = r.efron
	scores := c.In[2]
	if r.of == riskMean || r.of == riskShare { // behind the columns
		scores = c.In[3]
	}
	if r.of != tieMean {
		s.SetScores(in64(&s.scores, scores.V, 0, 1), in64(&s.column, c.In[1].V, 0, 1))
	}
	if r.of == riskShare {
		in64(&s.logs, c.In[4].V, 0, 1)
	}
	for k := range c.Dst.C {
		column := in64(&s.column, c.In[2].V, k, c.In[2].C)
		s.made = slices.Grow(s.made[:0], len(column))[:len(column)]
		clear(s.made) // rows without a term, or of no weight, have 0
		switch r.of {
		case riskLog:
			s.Fall(s.made, nil, nil)
		case riskMean:
			s.Fall(nil, column, s.made)
		case riskShare:
			s.Rise(s.made, column, s.logs)
		case tieMean:
			s.TieMeans(s.made, column)
		}
		for i, v := range s.made {
			c.Dst.V[i*c.Dst.C+k] = T(v)
		}
	}
}

// in64 writes column k of rows of n numbers to a buffer, in float64.
func in64[T Float](to *[]float64, v []T, k, n int) []float64 {
	*to = slices.Grow((*to)[:0], len(v)/n)[:len(v)/n]
	for i := range *to {
		(*to)[i] = float64(v[i*n+k])
	}
	return *to
}
