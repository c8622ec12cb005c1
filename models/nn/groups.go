package nn

import (
	"cmp"
	"math"
)

// Groups is an optimizer of its own for each group of parameters, such as one without decay for
// biases.
type Groups struct {
	groups []group
}

// A group is parameters with an optimizer, and room for them and their gradient.
type group struct {
	o      Optimizer
	params []Param
	z, g   []float32
}

// NewGroups returns an optimizer that moves parameter p by optimizers[of(p)].
func NewGroups(ps *Params, of func(p Param) int, optimizers ...Optimizer) *Groups {
	groups := make([]group, len(optimizers))
	for i, o := range optimizers {
		groups[i].o = o
	}
	for _, p := range ps.list {
		k := of(p)
		if k < 0 || k >= len(groups) {
			ps.fail("the group of parameter %q must be from 0 to %d; it is %d", p.Name, len(groups)-1, k)
			continue
		}
		groups[k].params = append(groups[k].params, p)
		groups[k].z = append(groups[k].z, make([]float32, p.Len())...)
	}
	for i := range groups {
		groups[i].g = make([]float32, len(groups[i].z))
	}
	return &Groups{groups}
}

// Step implements [Optimizer]: each group's parameters are gathered side by side, moved, and put
// back.
func (o *Groups) Step(z, g []float32) {
	for _, k := range o.groups {
		off := 0
		for _, p := range k.params {
			copy(k.g[off:], g[p.Offset:][:p.Len()])
			off += copy(k.z[off:], z[p.Offset:][:p.Len()])
		}
		k.o.Step(k.z, k.g)
		off = 0
		for _, p := range k.params {
			off += copy(z[p.Offset:][:p.Len()], k.z[off:])
		}
	}
}

// RMSprop is Hinton's (2012): z −= Rate·b with b = Momentum·b + g/(√v + Eps), where v is an average
// of g²; Centred, of g² less the square of g's average. WeightDecay·z is part of g.
type RMSprop struct {
	Rate                  Schedule // default 1e-2
	Alpha, Eps            float64  // weight of the averages, default 0.99; default 1e-8
	Momentum, WeightDecay float64
	Centred               bool

	Memory // v, b and the average of g
}

// Step implements [Optimizer].
func (o *RMSprop) Step(z, g []float32) {
	rate, alpha, eps := o.Rate.at(o.Steps, 1e-2), cmp.Or(o.Alpha, .99), float32(cmp.Or(o.Eps, 1e-8))
	held, rest := float32(alpha), float32(1-alpha) // weights of the average so far, and of what is new
	momentum, decay := float32(o.Momentum), float32(o.WeightDecay)
	all := o.vectors(3, len(z))
	v, b, mean := all[0], all[1], all[2]
	for i, d := range g {
		d += float32(decay * z[i])
		v[i] = float32(held*v[i]) + float32(float32(rest*d)*d)
		spread := v[i]
		if o.Centred {
			mean[i] += float32(rest * (d - mean[i]))
			spread -= float32(mean[i] * mean[i])
		}
		b[i] = float32(momentum*b[i]) + d/(float32(math.Sqrt(float64(spread)))+eps)
		z[i] -= float32(rate * b[i])
	}
	o.Steps++
}
