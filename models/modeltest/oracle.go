package modeltest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// batch returns a batch size smaller than both of the agent's sets, or 0 if there is none.
func (s *subject) batch() int {
	return min(s.s.Train.Len(), s.s.Val.Len()) / 2
}

// sampleNames are draws of each kind; two differ in K or T alone.
var sampleNames = []dsbo.Sample{
	whole, {Set: dsbo.Lower}, {Set: dsbo.Lower, T: 1}, {Set: dsbo.Lower, K: 1}, {Set: dsbo.Curvature},
	{Set: dsbo.Upper, K: 7, T: 3},
}

// names compares two oracles of the same configuration, called with the same draws in
// different orders.
func (s *subject) names() error {
	cfg := models.Config{Agent: 2, Seed: 5, Batch: s.batch()}
	calls, names := s.calls(), sampleNames
	if s.q > denseLimit {
		names = names[:3]
	}
	once := map[dsbo.Sample][]answer{}
	o := s.oracle(cfg)
	for _, name := range names {
		once[name] = answers(o, calls, name)
	}
	for _, again := range []struct {
		o    *models.Oracle
		what string
	}{{o, "asked twice"}, {s.rebuilt(cfg), "asked of a model that is built again"}} {
		for _, name := range slices.Backward(names) {
			if err := sameBits(calls, answers(again.o, calls, name), once[name],
				fmt.Sprintf("sample %v %s", name, again.what)); err != nil {
				return err
			}
		}
	}
	return nil
}

// minibatch compares a draw, and a batch of a partition, with an agent that has its rows alone. It
// asks both for the same draw, whose masks, if there are some, are the same then.
func (s *subject) minibatch() error {
	cfg := models.Config{Agent: 1, Seed: 3, Batch: s.batch()}
	if cfg.Batch == 0 {
		return nil
	}
	calls := s.calls()
	for _, c := range []struct{ name, whole dsbo.Sample }{
		{dsbo.Sample{Set: dsbo.Curvature, K: 4, T: 2}, dsbo.Sample{Set: dsbo.Curvature, K: 4, T: 2}},
		{dsbo.Sample{Set: dsbo.LowerBatch, K: 1, T: 2}, whole},
	} {
		got := answers(s.oracle(cfg), calls, c.name)
		draw := data.Sampler{Seed: cfg.Seed, Agent: cfg.Agent, Batch: cfg.Batch}
		rows := *s
		for _, e := range []*data.Examples{&rows.s.Train, &rows.s.Val} {
			*e = pickRows(*e, slices.Clone(draw.Draw(c.name, e.Len())))
		}
		want := answers(rows.oracle(models.Config{Agent: cfg.Agent, Seed: cfg.Seed}), calls, c.whole)
		err := sameBits(calls, got, want, fmt.Sprintf("%v, and its rows as all data", c.name))
		if err != nil {
			return err
		}
	}
	return nil
}

// wholeData compares the ways to call for all rows, each of a model that is built again. Draws with
// masks have their own, also of all rows, and are left out.
func (s *subject) wholeData() error {
	calls := s.calls()
	all := max(s.s.Train.Len(), s.s.Val.Len())
	_, masked := s.m.(models.Masked)
	var want []answer
	for _, c := range []struct {
		batch int
		name  dsbo.Sample
	}{
		{0, whole}, {s.batch(), dsbo.Sample{Set: dsbo.Whole, K: 9, T: 9}}, {0, dsbo.Sample{Set: dsbo.Lower}},
		{all, dsbo.Sample{Set: dsbo.Upper}}, {all + 1, dsbo.Sample{Set: dsbo.Curvature, K: 2}},
	} {
		if masked && c.name.Set != dsbo.Whole {
			continue
		}
		got := answers(s.rebuilt(models.Config{Batch: c.batch}), calls, c.name)
		if want == nil {
			want = got
		}
		if err := sameBits(calls, got, want, fmt.Sprintf("all rows by batch %d and sample %v", c.batch,
			c.name)); err != nil {
			return err
		}
	}
	return nil
}

// results checks that answers do not depend on what was in their place, that inputs stay, and that
// Values and UpperGrad of both gradients at once agree with the separate questions.
func (s *subject) results() error {
	o := s.oracle(models.Config{})
	x, y, v := s.point()
	before := fingerprints(x, y, v)
	for _, c := range s.callsAt(x, y, v) {
		var want answer
		for k, fill := range []float64{0, math.NaN()} {
			dst := slices.Repeat([]float64{fill}, c.n)
			testkit.OK(c.ask(o, dst, whole))
			if slices.ContainsFunc(dst, math.IsNaN) {
				return fmt.Errorf("%s holds NaN where the result was %g before: it is not overwritten, or not finite",
					c.name, fill)
			}
			got := fingerprint(dst)
			if k == 0 {
				want = got
			}
			if got != want {
				return fmt.Errorf("%s depends on what was in its place: its norm is %g and %g", c.name,
					want.norm, got.norm)
			}
		}
	}
	if !slices.Equal(fingerprints(x, y, v), before) {
		return errors.New("an input was changed")
	}
	upper, lower := testkit.Get2(o.Values(x, y, whole))
	for i, value := range []float64{lower, upper} {
		l := s.sides()[i]
		if want := testkit.Get(s.differentiate(l, l.on, false).Value(x, y)); value != want {
			return fmt.Errorf("the oracle's value of the %s is %g; the loss is %g", l.name, value, want)
		}
	}
	return nil
}

// dense compares the matrices' columns with products.
func (s *subject) dense() error {
	if s.q > denseLimit {
		return nil
	}
	o := s.oracle(models.Config{Batch: s.batch()})
	x, y, _ := s.point()
	name := dsbo.Sample{Set: dsbo.Curvature, K: 1}
	h, j := make([]float64, s.q*s.q), make([]float64, s.p*s.q)
	testkit.OK(errors.Join(o.Hessian(h, x, y, name), o.Jacobian(j, x, y, name)))
	e, hv, jv := make([]float64, s.q), make([]float64, s.q), make([]float64, s.p)
	size := 0.0
	for _, a := range h {
		size = max(size, math.Abs(a))
	}
	for c := range s.q {
		e[c] = 1
		testkit.OK(errors.Join(o.HVP(hv, x, y, e, name), o.JVP(jv, x, y, e, name)))
		e[c] = 0
		for r, a := range hv {
			// The rows may be made as columns: they are equal up to the rounding of sums over the
			// examples, a few thousand times 1e-16.
			if math.Abs(h[r*s.q+c]-a) > 1e-12*size {
				return fmt.Errorf("entry (%d, %d) of the Hessian is %g, the product with unit vector %d gives %g", r, c,
					h[r*s.q+c], c, a)
			}
		}
		for r, a := range jv {
			if j[r*s.q+c] != a {
				return fmt.Errorf("entry (%d, %d) of the Jacobian is %g, the product with unit vector %d gives %g", r,
					c, j[r*s.q+c], c, a)
			}
		}
	}
	return nil
}

// lengths gives each question vectors that are too short.
func (s *subject) lengths() error {
	o := s.oracle(models.Config{})
	x, y, v := s.point()
	all := whole
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

// allocations makes all calls at changing points and draws; of a model with masks, which are made
// for each draw, in one draw.
func (s *subject) allocations() error {
	o := s.oracle(models.Config{Batch: s.batch()})
	x, y, v := s.point()
	dx, dy := make([]float64, s.p), make([]float64, s.q)
	runs, sets := 20, []dsbo.Set{dsbo.Lower, dsbo.Curvature, dsbo.Upper, dsbo.Whole}
	if s.q > denseLimit {
		runs, sets = 3, []dsbo.Set{dsbo.Lower}
	}
	k, step := 0, 1
	if _, ok := s.m.(models.Masked); ok {
		sets, step = []dsbo.Set{dsbo.Lower}, 0
	}
	n := testing.AllocsPerRun(runs, func() { // its first run, which is not counted, compiles
		k += step
		x[0], y[0], v[0] = -x[0], -y[0], -v[0]
		for _, set := range sets {
			name := dsbo.Sample{Set: set, K: k}
			testkit.OK(o.UpperGrad(dx, dy, x, y, name))
			testkit.OK(o.UpperGrad(nil, dy, x, y, name))
			testkit.OK(o.LowerGrad(dy, x, y, name))
			testkit.OK(o.HVP(dy, x, y, v, name))
			testkit.OK(o.JVP(dx, x, y, v, name))
			if s.asksDiagonal() {
				testkit.OK(o.Diagonal(dy, x, y, name))
			}
			testkit.Get2(o.Values(x, y, name))
		}
	})
	if n > 0 {
		return fmt.Errorf("%d rounds of the oracle's calls must allocate nothing; they allocate %g times", len(sets), n)
	}
	return nil
}
