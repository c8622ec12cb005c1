package models

import (
	"fmt"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// A Level is an agent's private intercepts and slopes beside the common y. They never leave the
// agent:
//
//	g_i(x, y) = min_B  mean_e w_e L(Y a_e + b_0 + B'u_e, t_e) + ½ Σ_j τ_j ‖B_j‖²
//	                   + (terms of x and y)
//
// where b_0 are the intercepts in y, and u_e is 1 and the features of Slopes. The agent finds the
// minimum at each (x, y) from its training examples. Derivatives of g_i follow B(y): the Hessian is
// the Schur complement with B eliminated. At y* the sum of τ_0 B_0 over the agents is 0, so y's
// intercepts are the agents' mean. f_i is the loss of validation examples, with B from these
// examples at their training weights, the column [LevelWeights], or at their own without it.
type Level struct {
	Ridge      float64 // τ_0 > 0; 0: agents have no level
	Slopes     []int   // features, in order; nil: the level is intercepts alone
	SlopeRidge float64 // τ_j > 0 of all of them
}

// LevelWeights is the name of the column with the training weights of validation examples.
const LevelWeights = "weight in the level"

// A Leveled is a [Model] whose agents may each have a private [Level] in their losses.
type Leveled interface {
	// Own builds the y that the agent of training examples predicts with, where all have y;
	// nil: it is y.
	Own(y *ad.Node, b Batch) *ad.Node
}

// levelTolerance bounds the gradient at which a level is solved. The loss is a mean over examples.
const levelTolerance = 1e-12

// level builds B, a matrix with a row for each entry of u and a column for each output. It is the
// minimizer of the loss of the batch, which must have training weights, and is differentiable by
// outputs. ad.ArgMin builds cost in a graph of its own, so cost must use its nodes in, never the
// nodes of this graph that they stand for.
func (l Linear) level(outputs *ad.Node, b Batch) *ad.Node {
	loss, in := lossOrDefault(l.Loss), []*ad.Node{outputs, l.levelColumns(b.X), b.T}
	if b.W != nil {
		in = append(in, b.W)
	}
	cost := func(level *ad.Node, in []*ad.Node) *ad.Node {
		rows := Batch{Rows: b.Rows, T: in[2]}
		if len(in) > 3 {
			rows.W = in[3]
		}
		shifted := ad.Add(in[0], ad.MatMul(in[1], level, false, false))
		return ad.Add(meanOfRows(loss, shifted, rows), l.ridge(level))
	}
	start := ad.Uniform(0, ad.MatMul(in[1], outputs, true, false))
	return ad.ArgMin(cost, start, in, ad.Solver{Tolerance: levelTolerance})
}

// levelPlaces builds the matrix, a row for each entry of u, that selects a level's features from a
// row of X: row j is 1 at the feature of u_j, and row 0, the intercept's, is all 0.
func (l Linear) levelPlaces(like *ad.Node) *ad.Node {
	rows := 1 + len(l.Level.Slopes)
	at := make([]float64, rows*l.Features)
	for k, j := range l.Level.Slopes {
		at[(1+k)*l.Features+j] = 1
	}
	return ad.NewConst(like, fmt.Sprint("places of ", l.Level.Slopes), rows, l.Features, at)
}

// levelColumns builds u of each row of x.
func (l Linear) levelColumns(x *ad.Node) *ad.Node {
	return ad.AddRow(ad.MatMul(x, l.levelPlaces(x), false, true), unitVector(x, 0, 1+len(l.Level.Slopes)))
}

// shift builds the outputs plus B'u, the contribution of a level.
func (l Linear) shift(outputs, level, x *ad.Node) *ad.Node {
	return ad.Add(outputs, ad.MatMul(l.levelColumns(x), level, false, false))
}

// ridge builds ½ Σ_j τ_j ‖B_j‖².
func (l Linear) ridge(level *ad.Node) *ad.Node {
	each := slices.Repeat([]float64{l.Level.SlopeRidge}, 1+len(l.Level.Slopes))
	each[0] = l.Level.Ridge
	by := ad.NewConst(level, fmt.Sprint("ridges ", each), len(each), 0, each)
	return ad.Scale(.5, ad.Dot(by, ad.SumCols(ad.Square(level))))
}

// trainingLoss builds the mean loss of outputs over a batch plus the level's ridge. The level
// minimizes this sum, so its gradient by y is the gradient at a fixed level (envelope theorem). The
// custom gradient says so, and spares differentiating the value through the minimizer; second
// derivatives do go through it, as slope depends on level.
func (l Linear) trainingLoss(outputs *ad.Node, b Batch) *ad.Node {
	loss := lossOrDefault(l.Loss)
	if l.Level.Ridge == 0 {
		return meanLoss(loss, outputs, b)
	}
	level := l.level(outputs, b)
	stays := ad.StopGradient(level) // for the value; slope, below, uses level itself
	value := ad.Add(meanLoss(loss, l.shift(outputs, stays, b.X), b), l.ridge(stays))
	return ad.CustomGrad(value, func(_ []*ad.Node, _, g *ad.Node) []*ad.Node {
		slope := b.weightedRows(ad.Scale(1/float64(b.Rows), loss.Slope(l.shift(outputs, level, b.X), b.T)))
		return []*ad.Node{ad.ScaleBy(g, slope)}
	}, outputs)
}

// judged builds the outputs that validation losses are taken of: with the agent's level, if any.
func (l Linear) judged(outputs *ad.Node, b Batch) *ad.Node {
	if l.Level.Ridge == 0 {
		return outputs
	}
	return l.shift(outputs, l.level(outputs, b), b.X)
}

// levelDiagonal builds the terms by which eliminating the level lowers the Hessian's diagonal: the
// diagonal of −h h'/(τ_0 + Σ_e c_e), with the curvature c_e of row e and h = Σ_e c_e (a_e, 1), the
// second derivatives by y and the level. The model has one output and no slopes. weights and
// intercept are the indices in y, of length q, at which its weights begin and of its intercept.
func (l Linear) levelDiagonal(curvature, x *ad.Node, weights, intercept, q int) []*ad.Node {
	if l.Level.Ridge == 0 {
		return nil
	}
	c := ad.Flatten(curvature)
	all := ad.SumAll(c)
	factor := ad.Div(ad.Uniform(-1, all), ad.Offset(l.Level.Ridge, all))
	term := func(h *ad.Node, at int) *ad.Node { return ad.Place(ad.ScaleBy(factor, ad.Square(h)), at, q) }
	return []*ad.Node{term(ad.MatVec(x, c, true), weights), term(ad.SumRows(curvature), intercept)}
}

// trained returns a validation batch with the training weights of its examples, if it has them, for
// fitting a level.
func trained(b Batch) Batch {
	if w := b.Column(LevelWeights); w != nil {
		b.W = w
	}
	return b
}

// check returns an error for settings of a level that cannot work with the loss. The conditions are
// such that NaN fails them.
func (l Level) check(of OutputLoss) error {
	if !(l.Ridge >= 0) {
		return dsbo.ConfigErrorf("the ridge of levels must be positive, or 0 for none; it is %g", l.Ridge)
	}
	if len(l.Slopes) > 0 && !(l.SlopeRidge > 0) {
		return dsbo.ConfigErrorf("the ridge of slopes must be positive; it is %g", l.SlopeRidge)
	}
	if l.Ridge > 0 && isJoint(of) {
		return dsbo.ConfigErrorf("sites have no level with survival times: strata have a baseline hazard each")
	}
	return nil
}

// Own implements [Leveled].
func (l Linear) Own(y *ad.Node, b Batch) *ad.Node {
	return Folds{Of: l, Count: 1}.own(y, func(int) Batch { return b }, b.X)
}

// Own implements [Leveled].
func (m Folds) Own(y *ad.Node, b Batch) *ad.Node {
	return m.own(y, func(k int) Batch { return m.batch(k, b) }, b.X)
}

// own builds y with the level of each fold's batch, nil without levels. The first row of a level is
// added to the fold's intercepts, which are at the end of y, the other rows to the weights of the
// features with slopes.
func (m Folds) own(y *ad.Node, batch func(k int) Batch, x *ad.Node) *ad.Node {
	if m.Of.Level.Ridge == 0 {
		return nil
	}
	all, c, q := []*ad.Node{}, m.Of.Outputs, m.layer().size()
	for k, outputs := range m.outputs(y, Batch{X: x}) {
		level := m.Of.level(outputs, batch(k))
		slopes := ad.MatMul(level, m.Of.levelPlaces(x), true, false)
		all = append(all, ad.Place(ad.PartVec(ad.Flatten(level), 0, c), q-(m.Count-k)*c, q),
			ad.Place(slopes, k*c*m.Of.Features, q))
	}
	return ad.Sum(y, all...)
}

// Levels find the level of an agent.
type Levels struct {
	program *ad.Program
	own     []float64 // y with the level
}

// Levels returns the solver of the level of an agent with training examples e, with memory in w. It
// is nil, which [Levels.Own] allows, if the model has no levels or the agent no examples.
func (p *Programs) Levels(e data.Examples, w *ad.Workspace) (*Levels, error) {
	leveled, ok := p.model.(Leveled)
	if !ok || e.Len() == 0 {
		return nil, nil
	}
	f, err := p.compileAll(levelForm, e, false, w, func(_, y *ad.Node, b Batch) (own []*ad.Node, err error) {
		if y := leveled.Own(y, b); y != nil {
			own = append(own, y)
		}
		return own, nil
	})
	if err != nil || f.values == 0 {
		return nil, err
	}
	_, q := p.model.Dims()
	return &Levels{f.program, make([]float64, q)}, nil
}

// Own returns the agent's own y, with its level added: a view that the next call overwrites. With a
// nil receiver, of a model without levels, it returns y itself.
func (l *Levels) Own(x, y []float64) ([]float64, error) {
	if l == nil {
		return y, nil
	}
	return l.own, l.program.Eval(l.own, x, y)
}
