package nn

import (
	"cmp"
	"math"

	"dsbo/internal/num"
)

// An Optimizer takes steps along gradients. It belongs to one vector of parameters, from the first
// step on. Names, formulas and defaults are PyTorch's.
type Optimizer interface {
	// Step changes the parameters z, whose gradient is g and of the same length.
	Step(z, g []float32)
}

// A Schedule is the step size of the steps 0, 1, ...
type Schedule func(step int) float64

// Constant is one step size for all steps.
func Constant(rate float64) Schedule { return func(int) float64 { return rate } }

// Cosine goes from a step size to a last one in some steps, along half a cosine (Loshchilov,
// Hutter 2017), and stays there.
func Cosine(rate, last float64, steps int) Schedule {
	return func(step int) float64 {
		share := float64(min(step, steps)) / float64(steps)
		return last + float64((rate-last)*(1+num.Cos(math.Pi*share))/2)
	}
}

// WarmUp raises the step size linearly from first, in the given steps, to the first step size of
// the schedule after it.
func WarmUp(first float64, steps int, after Schedule) Schedule {
	return func(step int) float64 {
		if step < steps {
			return first + float64((after(0)-first)*float64(step)/float64(steps))
		}
		return after(step - steps)
	}
}

// at returns the step size of a step, which is rate where the schedule is nil.
func (s Schedule) at(step int, rate float64) float32 {
	if s != nil {
		rate = s(step)
	}
	return float32(rate)
}

// A Memory is an optimizer's state between steps. [Trainer.Save] writes it for each [Keeper], which
// all optimizers of this package are.
type Memory struct {
	Steps   int         // so far
	Vectors [][]float32 // one number for each parameter; none before they are needed
}

// A Keeper is an [Optimizer] with a [Memory].
type Keeper interface{ Kept() *Memory }

// Kept implements [Keeper].
func (m *Memory) Kept() *Memory { return m }

// vectors returns a number of vectors of length n, which begin with zeros.
func (m *Memory) vectors(count, n int) [][]float32 {
	for len(m.Vectors) < count {
		m.Vectors = append(m.Vectors, make([]float32, n))
	}
	return m.Vectors
}

// SGD is z −= rate·b with b = Momentum·b + g, which begins with g; with Nesterov, z −= rate (g +
// Momentum·b). WeightDecay·z is part of g.
type SGD struct {
	Rate                  Schedule // default 1e-3
	Momentum, WeightDecay float64
	Nesterov              bool

	Memory // b
}

// Step implements [Optimizer].
func (o *SGD) Step(z, g []float32) {
	rate, momentum, decay := o.Rate.at(o.Steps, 1e-3), float32(o.Momentum), float32(o.WeightDecay)
	var b []float32
	if momentum != 0 {
		b = o.vectors(1, len(z))[0]
	}
	for i, d := range g {
		d += float32(decay * z[i])
		if momentum != 0 {
			b[i] = float32(momentum*b[i]) + d
			if o.Nesterov {
				d += float32(momentum * b[i])
			} else {
				d = b[i]
			}
		}
		z[i] -= float32(rate * d)
	}
	o.Steps++
}

// Adam is Kingma and Ba's (2015): z −= rate·m̂/(√v̂ + Eps) with averages m of g and v of g².
// WeightDecay·z is part of g.
type Adam struct {
	Rate         Schedule // default 1e-3
	Beta1, Beta2 float64  // weights of the averages; default 0.9 and 0.999
	Eps          float64  // default 1e-8
	WeightDecay  float64

	Memory // m and v
}

// Step implements [Optimizer].
func (o *Adam) Step(z, g []float32) { o.step(z, g, float32(o.WeightDecay), 0) }

// step takes one step. The decay inner is added to the gradient; the decay outer shrinks z itself.
// m̂ and v̂ are m and v divided by the sums of their weights so far, which size and root have in
// them once for all entries.
func (o *Adam) step(z, g []float32, inner, outer float32) {
	averages := o.vectors(2, len(z))
	beta1, beta2, eps := cmp.Or(o.Beta1, .9), cmp.Or(o.Beta2, .999), float32(cmp.Or(o.Eps, 1e-8))
	rate := o.Rate.at(o.Steps, 1e-3)
	o.Steps++
	size := rate / float32(1-num.Pow(beta1, float64(o.Steps)))
	root := float32(math.Sqrt(1 - num.Pow(beta2, float64(o.Steps))))
	keep, first, held, second := 1-float32(rate*outer), float32(1-beta1), float32(beta2), float32(1-beta2)
	m, v := averages[0][:len(z)], averages[1][:len(z)]
	for i, d := range g[:len(z)] {
		d += float32(inner * z[i])
		m[i] += float32(first * (d - m[i]))
		v[i] = float32(held*v[i]) + float32(float32(second*d)*d)
		z[i] = float32(keep*z[i]) - float32(size*m[i])/(float32(math.Sqrt(float64(v[i])))/root+eps)
	}
}

// AdamW is [Adam] with decoupled decay: z shrinks by rate·WeightDecay a step (Loshchilov, Hutter
// 2019).
type AdamW struct {
	Adam // WeightDecay: default 0.01
}

// Step implements [Optimizer].
func (o *AdamW) Step(z, g []float32) { o.step(z, g, 0, float32(cmp.Or(o.WeightDecay, .01))) }
