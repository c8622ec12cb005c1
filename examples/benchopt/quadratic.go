package main

import (
	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
)

// quadratic is the benchmark's simulated problem, averaged over its samples:
//
//	f(x, y) = ½ y'Dy + ½ x'Ex + x'Cy + d'y + e'x      g(x, y) = ½ y'Ay + x'By + a'y
//
// g lacks the terms in x alone, which change nothing.
type quadratic struct {
	p, q                   int       // lengths of x and y
	lower, upper           []float64 // A and D, q×q
	lowerCross, upperCross []float64 // B and C, p×q
	outer                  []float64 // E, p×p
	lowerLinear            []float64 // a
	upperLinear, linear    []float64 // d and e
}

// newQuadratic returns the model of benchopt's quadratic problem, whose arrays have the names of
// its data set.
func newQuadratic(p *problem) (m quadratic, err error) {
	m.p, m.q = p.P, p.Q
	for _, part := range []struct {
		name string
		dst  *[]float64
		size int
	}{
		{"inner_hess_inner", &m.lower, m.q * m.q}, {"inner_cross", &m.lowerCross, m.p * m.q},
		{"inner_linear_inner", &m.lowerLinear, m.q},
		{"outer_hess_inner", &m.upper, m.q * m.q}, {"outer_hess_outer", &m.outer, m.p * m.p},
		{"outer_cross", &m.upperCross, m.p * m.q},
		{"outer_linear_inner", &m.upperLinear, m.q}, {"outer_linear_outer", &m.linear, m.p},
	} {
		if *part.dst, err = p.array(part.name); err != nil {
			return m, err
		}
		if len(*part.dst) != part.size {
			return m, dsbo.ShapeErrorf("%s must have %d numbers; it has %d", part.name, part.size, len(*part.dst))
		}
	}
	return m, nil
}

// noExamples returns the data of agents that all have the mean of the samples in their losses: an
// example that means nothing.
func noExamples(a experiment.Agents) data.Task {
	task := data.Task{Shards: make([]data.Shard, a.N), Features: 1}
	for _, i := range a.Local {
		number, _ := ad.FloatTable(1, 1, []float64{float64(i)}) // which is finite
		one := data.Examples{X: number, Target: number}
		task.Shards[i] = data.Shard{Train: one, Val: one}
	}
	return task
}

func (m quadratic) Dims() (p, q int) { return m.p, m.q }

func (m quadratic) Lower(x, y *ad.Node, _ models.Batch) *ad.Node {
	cross := ad.MatVec(ad.NewConst(y, "B", m.p, m.q, m.lowerCross), x, true)
	return ad.Add(form(y, "A", m.lower), ad.Dot(y, ad.Add(cross, ad.NewConst(y, "a", m.q, 0, m.lowerLinear))))
}

func (m quadratic) Upper(x, y *ad.Node, _ models.Batch) *ad.Node {
	cross := ad.MatVec(ad.NewConst(y, "C", m.p, m.q, m.upperCross), x, true)
	return ad.Sum(form(y, "D", m.upper), form(x, "E", m.outer),
		ad.Dot(y, ad.Add(cross, ad.NewConst(y, "d", m.q, 0, m.upperLinear))),
		ad.Dot(x, ad.NewConst(x, "e", m.p, 0, m.linear)))
}

// form builds ½ v'Mv.
func form(v *ad.Node, name string, m []float64) *ad.Node {
	n := v.Shape()[0]
	return ad.Scale(.5, ad.Dot(v, ad.MatVec(ad.NewConst(v, name, n, n, m), v, false)))
}
