// Package modeltest is the conformance suite of package models: the author of a model runs [TestModel] on
// it, with a few examples of the kind that it is meant for. It needs no closed forms: derivatives are held
// against finite differences, and the rest against what the contracts say.
package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/models"
)

// TestModel proves model m on the data of one agent, as subtests:
//
//   - the derivatives of both losses, by finite differences, symmetry and adjointness ([adtest.Measure]);
//   - float32 close to float64;
//   - the oracle: same name, same bits; a minibatch is its rows; [dsbo.Whole], and a batch no smaller
//     than the data, are all rows; results overwrite what was there, and inputs stay;
//   - the dense derivatives are made of the products' columns;
//   - what the model claims by further methods: convexity, the penalty and the diagonal of the Hessian, scores in their
//     range, the shape of y, a finite start;
//   - vectors of a wrong length are errors, and steady work allocates nothing.
//
// The cost is that of a few hundred gradients, or of 2q products where q ≤ 256: keep s small, with a
// number of examples that is neither a power of two nor below 8.
func TestModel(t *testing.T, m models.Model, s data.Shard) {
	t.Helper()
	if _, err := models.NewOracle(m, s, models.Config{}); err != nil {
		t.Fatalf("NewOracle: %v", err)
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.err(newSubject(m, s)); err != nil {
				t.Error(err)
			}
		})
	}
}

type check struct {
	name string
	run  func(*subject) error
}

// err returns what the check finds wrong, or what kept it from looking.
func (c check) err(s *subject) (found error) {
	if failed := must.Try(func() { found = c.run(s) }); failed != nil {
		return failed
	}
	return found
}

var checks = []check{
	{"derivatives", (*subject).derivatives},
	{"float32", (*subject).float32},
	{"names", (*subject).names},
	{"minibatch", (*subject).minibatch},
	{"whole", (*subject).wholeData},
	{"results", (*subject).results},
	{"dense", (*subject).dense},
	{"convexity", (*subject).convexity},
	{"penalty", (*subject).penalty},
	{"diagonal", (*subject).diagonal},
	{"score", (*subject).score},
	{"shape", (*subject).shape},
	{"start", (*subject).start},
	{"lengths", (*subject).lengths},
	{"allocations", (*subject).allocations},
}

// A subject is a model under test with its data, and numbers to test it at.
type subject struct {
	m    models.Model
	s    data.Shard
	p, q int
	r    *rand.Rand
}

func newSubject(m models.Model, s data.Shard) *subject {
	p, q := m.Dims()
	return &subject{m: m, s: s, p: p, q: q, r: rand.New(rand.NewPCG(20, 23))}
}

// point returns x and y, which lie around the model's start, and a direction v.
func (s *subject) point() (x, y, v []float64) {
	x, y, v = make([]float64, s.p), make([]float64, s.q), s.normal(s.q, 1)
	if st, ok := s.m.(models.XStarter); ok {
		st.StartX(x)
	}
	for j, e := range s.normal(s.p, .5) {
		x[j] += e
	}
	if st, ok := s.m.(models.Starter); ok {
		st.Start(y)
	}
	for j, e := range s.normal(s.q, .5) {
		y[j] += e
	}
	return x, y, v
}

func (s *subject) normal(n int, deviation float64) []float64 {
	v := make([]float64, n)
	for j := range v {
		v[j] = deviation * s.r.NormFloat64()
	}
	return v
}

func (s *subject) oracle(c models.Config) *models.Oracle {
	return must.Get(models.NewOracle(s.m, s.s, c))
}

// loss is one of the model's two on all examples.
type loss struct {
	name string
	*ad.Derivs
}

// losses compiles the lower loss and the upper loss, in this order.
func (s *subject) losses(float32 bool) [2]loss {
	lower, err := models.Differentiate(s.m.Lower, s.p, s.q, s.s.Train, float32)
	if err != nil {
		must.OK(fmt.Errorf("lower loss: %w", err))
	}
	upper, err := models.Differentiate(s.m.Upper, s.p, s.q, s.s.Val, float32)
	if err != nil {
		must.OK(fmt.Errorf("upper loss: %w", err))
	}
	return [2]loss{{"lower loss", lower}, {"upper loss", upper}}
}

// call is one of the oracle's questions, at a fixed point.
type call struct {
	name string
	n    int // length of the result
	ask  func(o dsbo.Oracle, dst []float64, name dsbo.Sample) error
}

// calls returns all questions at one point.
func (s *subject) calls() []call {
	x, y, v := s.point()
	return []call{
		{"∇_x f", s.p, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error { return o.UpperGrad(dst, nil, x, y, n) }},
		{"∇_y f", s.q, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error { return o.UpperGrad(nil, dst, x, y, n) }},
		{"∇_y g", s.q, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error { return o.LowerGrad(dst, x, y, n) }},
		{"(∇²_yy g)v", s.q, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error { return o.HVP(dst, x, y, v, n) }},
		{"(∇²_xy g)v", s.p, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error { return o.JVP(dst, x, y, v, n) }},
		{"diagonal of ∇²_yy g", s.q, func(o dsbo.Oracle, dst []float64, n dsbo.Sample) error {
			return o.(dsbo.DiagonalOracle).Diagonal(dst, x, y, n)
		}},
	}
}

// answers makes all the calls under one sample name.
func answers(o dsbo.Oracle, calls []call, name dsbo.Sample) [][]float64 {
	out := make([][]float64, len(calls))
	for i, c := range calls {
		out[i] = make([]float64, c.n)
		if err := c.ask(o, out[i], name); err != nil {
			must.OK(fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return out
}

// sameBits compares two sets of answers.
func sameBits(calls []call, a, b [][]float64, what string) error {
	for i, c := range calls {
		for j := range a[i] {
			if math.Float64bits(a[i][j]) != math.Float64bits(b[i][j]) {
				return fmt.Errorf("%s: entry %d of %s is %g and %g", what, j, c.name, a[i][j], b[i][j])
			}
		}
	}
	return nil
}
