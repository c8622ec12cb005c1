package models

import (
	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// A Level is intercepts of an agent's own, beside the common ones, which no other agent learns:
//
//	g_i(x, y) = min_b  mean_e w_e L(Y a_e + b_0 + b, t_e) + ½ τ ‖b‖² + (terms of x and y)
//
// where b_0 are the intercepts in y. The minimum is found at each (x, y) from the agent's training
// examples, and derivatives of g_i follow b: products have the Hessian less what b takes
// off. The sum over the agents of τ b is 0 at y*, so intercepts of y are the mean of theirs. f_i is
// the loss of validation examples with the b of the training examples, by weights in the column
// [LevelWeights], or of the same examples where there is none.
type Level struct {
	Ridge float64 // τ > 0; 0: agents have no level
}

// LevelWeights is the name of the column with the training weights of validation examples.
const LevelWeights = "weight in the level"

// A Leveled is a [Model] whose agents may have a level each in their losses.
type Leveled interface {
	// Own builds the y that the agent of training examples predicts with, where all have y;
	// nil: it is y.
	Own(y *ad.Node, b Batch) *ad.Node
}

// levelTolerance is the size of the gradient at a level, whose loss is a mean over examples.
const levelTolerance = 1e-12

// level builds the level of outputs in a batch with training weights.
func (l Linear) level(outputs *ad.Node, b Batch) *ad.Node {
	loss, in := lossOrDefault(l.Loss), []*ad.Node{outputs, b.T}
	if b.W != nil {
		in = append(in, b.W)
	}
	cost := func(level *ad.Node, in []*ad.Node) *ad.Node {
		sum, shifted := (*ad.Node)(nil), ad.AddRow(in[0], level)
		if len(in) > 2 {
			sum = ad.Dot(in[2], loss.Losses(shifted, in[1]))
		} else {
			sum = loss.Sum(shifted, in[1])
		}
		return ad.Add(ad.Scale(1/float64(b.Rows), sum), l.ridge(level))
	}
	start := ad.Uniform(0, ad.SumRows(outputs))
	return ad.ArgMin(cost, start, in, ad.Solver{Tolerance: levelTolerance})
}

// ridge builds ½ τ ‖b‖².
func (l Linear) ridge(level *ad.Node) *ad.Node {
	return ad.Scale(l.Level.Ridge/2, ad.Dot(level, level))
}

// trainingLoss builds the mean loss of outputs over a batch, and what a level adds to it. As the
// loss is least there, its gradient is that at a level which stays.
func (l Linear) trainingLoss(outputs *ad.Node, b Batch) *ad.Node {
	loss := lossOrDefault(l.Loss)
	if l.Level.Ridge == 0 {
		return meanLoss(loss, outputs, b)
	}
	level := l.level(outputs, b)
	stays := ad.StopGradient(level)
	value := ad.Add(meanLoss(loss, ad.AddRow(outputs, stays), b), l.ridge(stays))
	return ad.CustomGrad(value, func(_ []*ad.Node, _, g *ad.Node) []*ad.Node {
		slope := b.weightedRows(ad.Scale(1/float64(b.Rows), loss.Slope(ad.AddRow(outputs, level), b.T)))
		return []*ad.Node{ad.ScaleBy(g, slope)}
	}, outputs)
}

// judged builds the outputs that a validation batch is judged by.
func (l Linear) judged(outputs *ad.Node, b Batch) *ad.Node {
	if l.Level.Ridge == 0 {
		return outputs
	}
	return ad.AddRow(outputs, l.level(outputs, b))
}

// levelDiagonal builds what a level takes off the diagonal of the Hessian, of one output with a
// curvature for each row of x: of the weights from one place on, and of the intercept at another.
func (l Linear) levelDiagonal(curvature, x *ad.Node, weights, intercept, q int) []*ad.Node {
	if l.Level.Ridge == 0 {
		return nil
	}
	by := ad.Flatten(curvature)
	all := ad.SumAll(by)
	share := ad.Div(ad.Uniform(-1, all), ad.Offset(l.Level.Ridge, all))
	off := func(slope *ad.Node, at int) *ad.Node { return ad.Place(ad.ScaleBy(share, ad.Square(slope)), at, q) }
	return []*ad.Node{off(ad.MatVec(x, by, true), weights), off(ad.SumRows(curvature), intercept)}
}

// trained returns a validation batch with its training weights, if it has them.
func trained(b Batch) Batch {
	if w := b.Column(LevelWeights); w != nil {
		b.W = w
	}
	return b
}

// check checks a level of a model with a loss.
func (l Level) check(of OutputLoss) error {
	if !(l.Ridge >= 0) {
		return dsbo.ConfigErrorf("the ridge of levels must be positive, or 0 for none; it is %g", l.Ridge)
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

// own builds y with the level of each fold's batch.
func (m Folds) own(y *ad.Node, batch func(k int) Batch, x *ad.Node) *ad.Node {
	if m.Of.Level.Ridge == 0 {
		return nil
	}
	all, c, q := []*ad.Node{}, m.Of.Outputs, m.layer().size()
	for k, outputs := range m.outputs(y, Batch{X: x}) {
		all = append(all, ad.Place(m.Of.level(outputs, batch(k)), q-(m.Count-k)*c, q))
	}
	return ad.Sum(y, all...)
}

// Levels find the level of an agent.
type Levels struct {
	program *ad.Program
	own     []float64 // y with the level
}

// Levels returns what finds the level of an agent with training examples e, with memory in w; nil
// of a model without levels.
func (p *Programs) Levels(e data.Examples, w *ad.Workspace) (*Levels, error) {
	leveled, ok := p.model.(Leveled)
	if !ok || e.Len() == 0 {
		return nil, nil
	}
	ex, err := newExamples(e, false)
	if err != nil {
		return nil, err
	}
	f, err := p.compile(levelForm, &ex, ex.rows, false, w, func(_, y *ad.Node, b Batch) (own []*ad.Node, err error) {
		if y := leveled.Own(y, b); y != nil {
			own = append(own, y)
		}
		return own, nil
	})
	if err != nil || f.values == 0 {
		return nil, err
	}
	_, q := p.model.Dims()
	return &Levels{f.program, make([]float64, q)}, ex.bind(f.program, nil)
}

// Own returns the y that the agent predicts with where all have y: a view that the next call
// overwrites. Without levels, of a nil receiver, it is y.
func (l *Levels) Own(x, y []float64) ([]float64, error) {
	if l == nil {
		return y, nil
	}
	return l.own, l.program.Eval(l.own, x, y)
}
