package modeltest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/data"
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
	o, err := s.oracle(cfg)
	if err != nil {
		return err
	}
	for _, name := range sampleNames {
		if once[name], err = answers(o, calls, name); err != nil {
			return err
		}
	}
	fresh, err := s.oracle(cfg)
	if err != nil {
		return err
	}
	for _, who := range []*models.Oracle{o, fresh} {
		for _, name := range slices.Backward(sampleNames) {
			again, err := answers(who, calls, name)
			if err != nil {
				return err
			}
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
	o, err := s.oracle(cfg)
	if err != nil {
		return err
	}
	name := dsbo.Sample{Set: dsbo.Curvature, K: 4, T: 2}
	got, err := answers(o, calls, name)
	if err != nil {
		return err
	}
	draw := data.Sampler{Seed: cfg.Seed, Agent: cfg.Agent, Batch: cfg.Batch}
	rows := *s
	for _, e := range []*data.Examples{&rows.s.Train, &rows.s.Val} {
		if *e, err = pickRows(*e, slices.Clone(draw.Draw(name, e.Len()))); err != nil {
			return err
		}
	}
	if o, err = rows.oracle(models.Config{}); err != nil {
		return err
	}
	want, err := answers(o, calls, dsbo.Sample{Set: dsbo.Whole})
	if err != nil {
		return err
	}
	return sameBits(calls, got, want, "a minibatch, and its rows as the whole data")
}

// pickRows returns some rows of e.
func pickRows(e data.Examples, rows []int) (data.Examples, error) {
	x, err := e.X.Pick(rows)
	if err != nil {
		return e, err
	}
	target, err := e.Target.Pick(rows)
	if err != nil {
		return e, err
	}
	picked := data.Examples{X: x, Target: target}
	for _, row := range rows {
		if e.ID != nil {
			picked.ID = append(picked.ID, e.ID[row])
		}
	}
	return picked, nil
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
		o, err := s.oracle(models.Config{Batch: c.batch})
		if err != nil {
			return err
		}
		got, err := answers(o, calls, c.name)
		if err != nil {
			return err
		}
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
	o, err := s.oracle(models.Config{})
	if err != nil {
		return err
	}
	x, y, v := s.point()
	x0, y0, v0 := slices.Clone(x), slices.Clone(y), slices.Clone(v)
	all := dsbo.Sample{Set: dsbo.Whole}
	fill := func(n int, a float64) []float64 { return slices.Repeat([]float64{a}, n) }
	for _, a := range []float64{0, math.NaN()} {
		dx, dy, gy, hv, jv := fill(s.p, a), fill(s.q, a), fill(s.q, a), fill(s.q, a), fill(s.p, a)
		if err := errors.Join(o.UpperGrad(dx, dy, x, y, all), o.LowerGrad(gy, x, y, all), o.HVP(hv, x, y, v, all), o.JVP(jv, x, y, v, all)); err != nil {
			return err
		}
		for i, dst := range [][]float64{dx, dy, gy, hv, jv} {
			if slices.ContainsFunc(dst, math.IsNaN) {
				return fmt.Errorf("%s holds NaN where the result was %g before: it is not overwritten, or not finite", s.calls()[i].name, a)
			}
		}
	}
	if !slices.Equal(x, x0) || !slices.Equal(y, y0) || !slices.Equal(v, v0) {
		return errors.New("an input was changed")
	}
	upper, lower, err := o.Values(x, y, all)
	if err != nil {
		return err
	}
	losses, err := s.losses(false)
	if err != nil {
		return err
	}
	g, errG := losses[0].Value(x, y)
	f, errF := losses[1].Value(x, y)
	if f != upper || g != lower {
		return fmt.Errorf("the oracle's values are f=%g, g=%g; the losses are %g and %g", upper, lower, f, g)
	}
	return errors.Join(errF, errG)
}

// denseLimit is the q up to which whole matrices are looked at.
const denseLimit = 256

// dense compares the matrices' columns with products.
func (s *subject) dense() error {
	if s.q > denseLimit {
		return nil
	}
	o, err := s.oracle(models.Config{Batch: s.batch()})
	if err != nil {
		return err
	}
	x, y, _ := s.point()
	name := dsbo.Sample{Set: dsbo.Curvature, K: 1}
	h, j := make([]float64, s.q*s.q), make([]float64, s.p*s.q)
	if err := errors.Join(o.Hessian(h, x, y, name), o.Jacobian(j, x, y, name)); err != nil {
		return err
	}
	e, hv, jv := make([]float64, s.q), make([]float64, s.q), make([]float64, s.p)
	size := 0.0
	for _, a := range h {
		size = max(size, math.Abs(a))
	}
	for c := range s.q {
		e[c] = 1
		if err := errors.Join(o.HVP(hv, x, y, e, name), o.JVP(jv, x, y, e, name)); err != nil {
			return err
		}
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
	o, err := s.oracle(models.Config{})
	if err != nil {
		return err
	}
	x, y, v := s.point()
	all := dsbo.Sample{Set: dsbo.Whole}
	p, q := make([]float64, s.p), make([]float64, s.q)
	long := func(v []float64) []float64 { return append(slices.Clone(v), 0) }
	for _, c := range []struct {
		what string
		err  error
	}{
		{"UpperGrad, dx short", o.UpperGrad(p[1:], q, x, y, all)},
		{"UpperGrad, dy long", o.UpperGrad(p, long(q), x, y, all)},
		{"UpperGrad, x short", o.UpperGrad(p, q, x[1:], y, all)},
		{"LowerGrad, dst nil", o.LowerGrad(nil, x, y, all)},
		{"LowerGrad, dst long", o.LowerGrad(long(q), x, y, all)},
		{"LowerGrad, y short", o.LowerGrad(q, x, y[1:], all)},
		{"LowerGrad, x long", o.LowerGrad(q, long(x), y, all)},
		{"HVP, dst short", o.HVP(q[1:], x, y, v, all)},
		{"HVP, dst nil", o.HVP(nil, x, y, v, all)},
		{"HVP, v short", o.HVP(q, x, y, v[1:], all)},
		{"HVP, y long", o.HVP(q, x, long(y), v, all)},
		{"JVP, dst long", o.JVP(long(p), x, y, v, all)},
		{"JVP, v long", o.JVP(p, x, y, long(v), all)},
		{"JVP, x short", o.JVP(p, x[1:], y, v, all)},
		{"Hessian, dst short", o.Hessian(q[1:], x, y, all)},
		{"Jacobian, dst long", o.Jacobian(make([]float64, s.p*s.q+1), x, y, all)},
	} {
		if !errors.Is(c.err, dsbo.ErrShape) {
			return fmt.Errorf("%s: the error must match ErrShape; it is %v", c.what, c.err)
		}
	}
	if _, _, err := o.Values(x, y[1:], all); !errors.Is(err, dsbo.ErrShape) {
		return fmt.Errorf("Values with a y that is too short: the error must match ErrShape; it is %v", err)
	}
	return nil
}

// allocations makes all calls at changing points and draws.
func (s *subject) allocations() error {
	o, err := s.oracle(models.Config{Batch: s.batch()})
	if err != nil {
		return err
	}
	x, y, v := s.point()
	dx, dy := make([]float64, s.p), make([]float64, s.q)
	k := 0
	var first error
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	round := func() {
		k++
		x[0], y[0], v[0] = -x[0], -y[0], -v[0]
		for _, set := range []dsbo.Set{dsbo.Lower, dsbo.Curvature, dsbo.Upper, dsbo.Whole} {
			name := dsbo.Sample{Set: set, K: k}
			note(o.UpperGrad(dx, dy, x, y, name))
			note(o.UpperGrad(nil, dy, x, y, name))
			note(o.LowerGrad(dy, x, y, name))
			note(o.HVP(dy, x, y, v, name))
			note(o.JVP(dx, x, y, v, name))
			_, _, err := o.Values(x, y, name)
			note(err)
		}
	}
	n := testing.AllocsPerRun(20, round) // its first run, which is not counted, compiles
	if first == nil && n > 0 {
		return fmt.Errorf("24 calls of the oracle must allocate nothing; they allocate %g times", n)
	}
	return first
}
