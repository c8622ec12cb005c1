package modeltest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/models"
)

// batch returns a batch size smaller than both of the agent's sets, or 0 if there is none.
func (s *subject) batch() int {
	return min(s.s.Train.Len(), s.s.Val.Len()) / 2
}

// sampleNames are draws of each kind; two differ in K or T alone.
var sampleNames = []dsbo.Sample{
	{Set: dsbo.Lower}, {Set: dsbo.Lower, T: 1}, {Set: dsbo.Lower, K: 1}, {Set: dsbo.Curvature}, {Set: dsbo.Upper, K: 7, T: 3}, {Set: dsbo.Whole},
}

// names compares two oracles of the same configuration, called with the same draws in different orders.
func (s *subject) names() error {
	cfg := models.Config{Agent: 2, Seed: 5, Batch: s.batch()}
	calls := s.calls()
	once := map[dsbo.Sample][][]float64{}
	o := s.oracle(cfg)
	for _, name := range sampleNames {
		once[name] = answers(o, calls, name)
	}
	for _, who := range []*models.Oracle{o, s.oracle(cfg)} {
		for _, name := range slices.Backward(sampleNames) {
			again := answers(who, calls, name)
			if err := sameBits(calls, again, once[name], fmt.Sprintf("sample %v asked twice", name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// minibatch compares a draw with an agent that has the drawn rows alone.
func (s *subject) minibatch() error {
	cfg := models.Config{Agent: 1, Seed: 3, Batch: s.batch()}
	if cfg.Batch == 0 {
		return nil
	}
	calls := s.calls()
	name := dsbo.Sample{Set: dsbo.Curvature, K: 4, T: 2}
	got := answers(s.oracle(cfg), calls, name)
	draw := data.Sampler{Seed: cfg.Seed, Agent: cfg.Agent, Batch: cfg.Batch}
	rows := *s
	for _, e := range []*data.Examples{&rows.s.Train, &rows.s.Val} {
		*e = pickRows(*e, slices.Clone(draw.Draw(name, e.Len())))
	}
	want := answers(rows.oracle(models.Config{Agent: cfg.Agent, Seed: cfg.Seed}), calls, dsbo.Sample{Set: dsbo.Whole})
	return sameBits(calls, got, want, "a minibatch, and its rows as the whole data")
}

// pickRows returns some rows of e.
func pickRows(e data.Examples, rows []int) data.Examples {
	picked := data.Examples{X: must.Get(e.X.Pick(rows)), Target: must.Get(e.Target.Pick(rows))}
	if e.Weight != nil {
		picked.Weight = must.Get(e.Weight.Pick(rows))
	}
	for _, row := range rows {
		if e.ID != nil {
			picked.ID = append(picked.ID, e.ID[row])
		}
	}
	return picked
}

// wholeData compares the ways to call for all rows.
func (s *subject) wholeData() error {
	calls := s.calls()
	all := max(s.s.Train.Len(), s.s.Val.Len())
	var want [][]float64
	for _, c := range []struct {
		batch int
		name  dsbo.Sample
	}{
		{0, dsbo.Sample{Set: dsbo.Whole}}, {s.batch(), dsbo.Sample{Set: dsbo.Whole, K: 9, T: 9}}, {0, dsbo.Sample{Set: dsbo.Lower}},
		{all, dsbo.Sample{Set: dsbo.Upper}}, {all + 1, dsbo.Sample{Set: dsbo.Curvature, K: 2}},
	} {
		got := answers(s.oracle(models.Config{Batch: c.batch}), calls, c.name)
		if want == nil {
			want = got
		}
		if err := sameBits(calls, got, want, fmt.Sprintf("all rows by batch %d and sample %v", c.batch, c.name)); err != nil {
			return err
		}
	}
	return nil
}

// results checks that answers do not depend on what was in their place, that inputs stay, and that Values
// and UpperGrad of both gradients at once agree with the separate questions.
func (s *subject) results() error {
	o := s.oracle(models.Config{})
	x, y, v := s.point()
	x0, y0, v0 := slices.Clone(x), slices.Clone(y), slices.Clone(v)
	all := dsbo.Sample{Set: dsbo.Whole}
	fill := func(n int, a float64) []float64 { return slices.Repeat([]float64{a}, n) }
	for _, a := range []float64{0, math.NaN()} {
		dx, dy, gy, hv, jv, d := fill(s.p, a), fill(s.q, a), fill(s.q, a), fill(s.q, a), fill(s.p, a), fill(s.q, a)
		must.OK(errors.Join(o.UpperGrad(dx, dy, x, y, all), o.LowerGrad(gy, x, y, all), o.HVP(hv, x, y, v, all), o.JVP(jv, x, y, v, all),
			o.Diagonal(d, x, y, all)))
		for i, dst := range [][]float64{dx, dy, gy, hv, jv, d} {
			if slices.ContainsFunc(dst, math.IsNaN) {
				return fmt.Errorf("%s holds NaN where the result was %g before: it is not overwritten, or not finite", s.calls()[i].name, a)
			}
		}
	}
	if !slices.Equal(x, x0) || !slices.Equal(y, y0) || !slices.Equal(v, v0) {
		return errors.New("an input was changed")
	}
	upper, lower := must.Get2(o.Values(x, y, all))
	losses := s.losses(false)
	g, f := must.Get(losses[0].Value(x, y)), must.Get(losses[1].Value(x, y))
	if f != upper || g != lower {
		return fmt.Errorf("the oracle's values are f=%g, g=%g; the losses are %g and %g", upper, lower, f, g)
	}
	return nil
}

// denseLimit is the q up to which whole matrices are looked at.
const denseLimit = 256

// dense compares the matrices' columns with products.
func (s *subject) dense() error {
	if s.q > denseLimit {
		return nil
	}
	o := s.oracle(models.Config{Batch: s.batch()})
	x, y, _ := s.point()
	name := dsbo.Sample{Set: dsbo.Curvature, K: 1}
	h, j := make([]float64, s.q*s.q), make([]float64, s.p*s.q)
	must.OK(errors.Join(o.Hessian(h, x, y, name), o.Jacobian(j, x, y, name)))
	e, hv, jv := make([]float64, s.q), make([]float64, s.q), make([]float64, s.p)
	size := 0.0
	for _, a := range h {
		size = max(size, math.Abs(a))
	}
	for c := range s.q {
		e[c] = 1
		must.OK(errors.Join(o.HVP(hv, x, y, e, name), o.JVP(jv, x, y, e, name)))
		e[c] = 0
		for r, a := range hv {
			// The rows may be made as columns: they are equal up to the rounding of sums over the examples,
			// a few thousand times 1e-16.
			if math.Abs(h[r*s.q+c]-a) > 1e-12*size {
				return fmt.Errorf("entry (%d, %d) of the Hessian is %g, the product with unit vector %d gives %g", r, c, h[r*s.q+c], c, a)
			}
		}
		for r, a := range jv {
			if j[r*s.q+c] != a {
				return fmt.Errorf("entry (%d, %d) of the Jacobian is %g, the product with unit vector %d gives %g", r, c, j[r*s.q+c], c, a)
			}
		}
	}
	return nil
}

// lengths gives each question vectors that are too short.
func (s *subject) lengths() error {
	o := s.oracle(models.Config{})
	x, y, v := s.point()
	all := dsbo.Sample{Set: dsbo.Whole}
	p, q := make([]float64, s.p), make([]float64, s.q)
	long := func(v []float64) []float64 { return append(slices.Clone(v), 0) }
	_, _, valuesErr := o.Values(x, y[1:], all)
	for what, err := range map[string]error{
		"UpperGrad, dx short": o.UpperGrad(p[1:], q, x, y, all),
		"UpperGrad, dy long":  o.UpperGrad(p, long(q), x, y, all),
		"UpperGrad, x short":  o.UpperGrad(p, q, x[1:], y, all),
		"LowerGrad, dst nil":  o.LowerGrad(nil, x, y, all),
		"LowerGrad, dst long": o.LowerGrad(long(q), x, y, all),
		"LowerGrad, y short":  o.LowerGrad(q, x, y[1:], all),
		"LowerGrad, x long":   o.LowerGrad(q, long(x), y, all),
		"HVP, dst short":      o.HVP(q[1:], x, y, v, all),
		"HVP, dst nil":        o.HVP(nil, x, y, v, all),
		"HVP, v short":        o.HVP(q, x, y, v[1:], all),
		"HVP, y long":         o.HVP(q, x, long(y), v, all),
		"JVP, dst long":       o.JVP(long(p), x, y, v, all),
		"JVP, v long":         o.JVP(p, x, y, long(v), all),
		"JVP, x short":        o.JVP(p, x[1:], y, v, all),
		"Hessian, dst short":  o.Hessian(q[1:], x, y, all),
		"Jacobian, dst long":  o.Jacobian(make([]float64, s.p*s.q+1), x, y, all),
		"Diagonal, dst short": o.Diagonal(q[1:], x, y, all),
		"Diagonal, x long":    o.Diagonal(q, long(x), y, all),
		"Values, y short":     valuesErr,
	} {
		if !errors.Is(err, dsbo.ErrShape) {
			return fmt.Errorf("%s: the error must match ErrShape; it is %v", what, err)
		}
	}
	return nil
}

// allocations makes all calls at changing points and draws.
func (s *subject) allocations() error {
	o := s.oracle(models.Config{Batch: s.batch()})
	x, y, v := s.point()
	dx, dy := make([]float64, s.p), make([]float64, s.q)
	k := 0
	n := testing.AllocsPerRun(20, func() { // its first run, which is not counted, compiles
		k++
		x[0], y[0], v[0] = -x[0], -y[0], -v[0]
		for _, set := range []dsbo.Set{dsbo.Lower, dsbo.Curvature, dsbo.Upper, dsbo.Whole} {
			name := dsbo.Sample{Set: set, K: k}
			must.OK(o.UpperGrad(dx, dy, x, y, name))
			must.OK(o.UpperGrad(nil, dy, x, y, name))
			must.OK(o.LowerGrad(dy, x, y, name))
			must.OK(o.HVP(dy, x, y, v, name))
			must.OK(o.JVP(dx, x, y, v, name))
			must.OK(o.Diagonal(dy, x, y, name))
			must.Get2(o.Values(x, y, name))
		}
	})
	if n > 0 {
		return fmt.Errorf("28 calls of the oracle must allocate nothing; they allocate %g times", n)
	}
	return nil
}
