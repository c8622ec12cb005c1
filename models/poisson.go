package models

import (
	"math"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/num"
)

// Poisson is the loss of counts t ≥ 0 whose mean is e^o: half the Poisson deviance, Σ_k e^{o_k} −
// t_k o_k, shifted to be 0 where e^o = t. The shift t log t − t depends on the data alone; without
// it relative differences of losses would mean nothing.
//
// e^o is exact up to o = 30, about 10¹³, and continues from there as the parabola with the same
// value, slope and curvature. So the loss stays convex and finite, in float32 too, after any step.
//
// A log link extrapolates without a bound. With Most a prediction is min(e^o, Most), and validation
// losses and scores judge that. Training uses e^o, which alone is convex.
type Poisson struct {
	Most float64 // the largest prediction; 0: there is none
}

// poissonKnee is the o above which e^o is replaced by a parabola.
const poissonKnee = 30

// Check implements [OutputLoss]: a target is a number ≥ 0 for each output.
func (p Poisson) Check(targets *ad.Table, outputs int) error {
	if !(p.Most >= 0) || math.IsInf(p.Most, 1) {
		return dsbo.ConfigErrorf("the largest prediction of counts must be finite, or 0 for none; it is %g", p.Most)
	}
	if err := checkNumbers(targets, outputs); err != nil {
		return err
	}
	for i := range targets.Rows() {
		for j := range outputs {
			if t := targets.At(i, j); t < 0 {
				return dsbo.ConfigErrorf("counts must be at least 0; row %d has %g", i, t)
			}
		}
	}
	return nil
}

// rates builds e^o up to the knee, and how far o lies beyond it.
func (Poisson) rates(outputs *ad.Node) (rate, beyond *ad.Node) {
	beyond = ad.ReLU(ad.Offset(-poissonKnee, outputs))
	return ad.Exp(ad.Sub(outputs, beyond)), beyond
}

// Losses implements [OutputLoss].
func (p Poisson) Losses(outputs, t *ad.Node) *ad.Node {
	t = targetsLike(outputs, t)
	rate, beyond := p.rates(outputs)
	mean := ad.Mul(rate, ad.Offset(1, ad.Add(beyond, ad.Scale(.5, ad.Square(beyond)))))
	logs := ad.Log(ad.Add(t, ad.Offset(1, ad.Neg(ad.Step(t))))) // of t, and 0 for t = 0
	return ad.SumCols(ad.Add(ad.Sub(mean, t), ad.Mul(t, ad.Sub(logs, outputs))))
}

// Slope implements [OutputLoss].
func (p Poisson) Slope(outputs, t *ad.Node) *ad.Node {
	rate, beyond := p.rates(outputs)
	return ad.Sub(ad.Mul(rate, ad.Offset(1, beyond)), targetsLike(outputs, t))
}

// Curvature implements [OutputLoss]: e^o up to the knee.
func (p Poisson) Curvature(outputs, _ *ad.Node) *ad.Node {
	rate, _ := p.rates(outputs)
	return rate
}

// CurvatureBehind implements [OutputLoss].
func (p Poisson) CurvatureBehind(w, outputs, t *ad.Node) *ad.Node {
	return separateCurvature(w, p.Curvature(outputs, t))
}

// judging is the loss of predictions.
func (p Poisson) judging() OutputLoss {
	if p.Most == 0 {
		return p
	}
	return boundedPoisson{Poisson{}, num.Log(p.Most)}
}

// A boundedPoisson is the loss of counts whose mean is min(e^o, e^most).
type boundedPoisson struct {
	Poisson
	most float64
}

// Losses implements [OutputLoss].
func (p boundedPoisson) Losses(outputs, t *ad.Node) *ad.Node {
	return p.Poisson.Losses(ad.Sub(outputs, ad.ReLU(ad.Offset(-p.most, outputs))), t)
}
