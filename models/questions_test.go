package models_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestVectorsOfQuestions: an oracle's answers overwrite what was in their place and leave x, y and
// v as they are; columns of its matrices are products with unit vectors; vectors of a wrong length
// are errors. All in both types, and with minibatches.
func TestVectorsOfQuestions(t *testing.T) {
	for _, c := range []models.Config{{}, {Float32: true}, {Batch: 8}} {
		o := testkit.Get(models.NewOracle(models.Softmax{Features: 3, Classes: 4}, classShard(30, 21, 3, 4), c))
		p, q := o.Dims()
		r := rand.New(rand.NewPCG(1, 2))
		x, y, v := normal(r, p, 1), normal(r, q, 1), normal(r, q, 1)
		s := dsbo.Sample{Set: dsbo.Curvature, K: 1}
		questions := map[string]struct {
			n   int
			ask func(dst, x, y, v []float64) error
		}{
			"UpperGrad by x": {p, func(dst, x, y, _ []float64) error { return o.UpperGrad(dst, nil, x, y, s) }},
			"UpperGrad by y": {q, func(dst, x, y, _ []float64) error { return o.UpperGrad(nil, dst, x, y, s) }},
			"LowerJointGrad": {p, func(dst, x, y, _ []float64) error { return o.LowerJointGrad(dst, nil, x, y, s) }},
			"LowerGrad":      {q, func(dst, x, y, _ []float64) error { return o.LowerGrad(dst, x, y, s) }},
			"HVP":            {q, func(dst, x, y, v []float64) error { return o.HVP(dst, x, y, v, s) }},
			"JVP":            {p, func(dst, x, y, v []float64) error { return o.JVP(dst, x, y, v, s) }},
			"Hessian":        {q * q, func(dst, x, y, _ []float64) error { return o.Hessian(dst, x, y, s) }},
			"Jacobian":       {p * q, func(dst, x, y, _ []float64) error { return o.Jacobian(dst, x, y, s) }},
			"Diagonal":       {q, func(dst, x, y, _ []float64) error { return o.Diagonal(dst, x, y, s) }},
			"Values": {2, func(dst, x, y, _ []float64) (err error) {
				dst[0], dst[1], err = o.Values(x, y, s)
				return err
			}},
		}
		answers := map[string][]float64{}
		before := slices.Concat(x, y, v)
		for name, k := range questions {
			answers[name] = make([]float64, k.n)
			dirty := slices.Repeat([]float64{math.NaN()}, k.n)
			testkit.OK(errors.Join(k.ask(answers[name], x, y, v), k.ask(dirty, x, y, v)))
			if !slices.Equal(dirty, answers[name]) {
				t.Errorf("%+v: %s is %v, and over NaN %v", c, name, answers[name], dirty)
			}
			dst, short := make([]float64, k.n), func(v []float64) []float64 { return v[1:] }
			wrong := map[string]error{"x": k.ask(dst, short(x), y, v), "y": k.ask(dst, x, append(y, 0), v)}
			if name != "Values" {
				wrong["a short answer"] = k.ask(dst[1:], x, y, v)
				wrong["a long answer"] = k.ask(append(dst, 0), x, y, v)
			}
			if name == "LowerGrad" || name == "HVP" || name == "JVP" { // a gradient of two parts may lack one
				wrong["no answer"] = k.ask(nil, x, y, v)
			}
			if name == "HVP" || name == "JVP" {
				wrong["v"] = k.ask(dst, x, y, short(v))
			}
			for what, err := range wrong {
				if !errors.Is(err, dsbo.ErrShape) {
					t.Errorf("%s with %s of another length: %v, want ErrShape", name, what, err)
				}
			}
		}
		if !slices.Equal(before, slices.Concat(x, y, v)) {
			t.Errorf("%+v: an input was changed", c)
		}
		unit, hv, jv := make([]float64, q), make([]float64, q), make([]float64, p)
		for j := range q {
			unit[j] = 1
			testkit.OK(errors.Join(o.HVP(hv, x, y, unit, s), o.JVP(jv, x, y, unit, s)))
			unit[j] = 0
			for i, a := range slices.Concat(hv, jv) {
				of := "Hessian"
				if i >= q {
					of, i = "Jacobian", i-q
				}
				// sums over 30 examples, in another order: some 30 roundings of the type
				if b := answers[of][i*q+j]; !(math.Abs(a-b) <= map[bool]float64{false: 1e-14, true: 1e-5}[c.Float32]) {
					t.Fatalf("%+v: entry (%d, %d) of the %s is %v, of the product %v", c, i, j, of, b, a)
				}
			}
		}
	}
}

// Models with a method that is almost an optional one.
type (
	formerScore   struct{ Ridge }
	pointerScore  struct{ Ridge }
	formerModulus struct{ Ridge }
	otherName     struct{ Ridge }
)

func (formerScore) Score(y *ad.Node, b models.Batch) (losses, hits *ad.Node) { return b.T, nil }

func (*pointerScore) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) { return b.T, nil }

func (formerModulus) Modulus() float64 { return 1 }

func (otherName) Rate(y *ad.Node) *ad.Node { return y }

// TestAlmostOptional: a method that nobody would call is an error that names it.
func TestAlmostOptional(t *testing.T) {
	for _, c := range []struct {
		model models.Model
		want  string // "": it is a model
	}{
		{formerScore{Ridge{1}}, "method Score of model models_test.formerScore must be func(*gorgonia.Node, " +
			"*gorgonia.Node, models.Batch) (*gorgonia.Node, *gorgonia.Node), as models.Scorer says"},
		{&formerScore{Ridge{1}}, "it is func(*gorgonia.Node, models.Batch) (*gorgonia.Node, *gorgonia.Node)"},
		{pointerScore{Ridge{1}}, "belongs to *models_test.pointerScore: pass the model as a pointer"},
		{&pointerScore{Ridge{1}}, ""},
		{formerModulus{Ridge{1}}, "method Modulus of model models_test.formerModulus must be func([]float64) float64"},
		{otherName{Ridge{1}}, ""},
	} {
		x, _ := ad.FloatTable(2, 1, []float64{1, 2})
		seen := data.Examples{X: x, Target: x}
		_, err := models.NewOracle(c.model, data.Shard{Train: seen, Val: seen}, models.Config{})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%T: %v", c.model, err)
		case c.want != "" && (!errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%T: error %v, want one that matches ErrConfig and says %q", c.model, err, c.want)
		}
	}
}

// TestExactDiagonals: closed forms are the same for all seeds, estimates are not.
func TestExactDiagonals(t *testing.T) {
	classes := classShard(30, 21, 5, 3)
	for _, c := range []struct {
		model models.Model
		shard data.Shard
		exact bool
	}{
		{models.Softmax{Features: 5, Classes: 3}, classes, true},
		{models.Logistic{Features: 5}, signShard(30, 21, 5), true},
		{models.HyperClean{Features: 5, Classes: 3, Examples: 40}, classes, true},
		{models.MLP{Features: 5, Outputs: 3, Hidden: []int{}}, classes, true},
		{models.MLP{Features: 5, Outputs: 3}, classes, true},
		{models.MLP{Features: 5, Outputs: 3, ReLU: true}, classes, true},
		{models.MLP{Features: 5, Outputs: 3, Hidden: []int{4, 4}}, classes, false},
		{quadratic(rand.New(rand.NewPCG(1, 1)), 3, 4), data.Shard{}, true},
		{factors{6, 7, 2}, ratings(6, 7), false},
		{models.Linear{Features: 5, Outputs: 1, Loss: models.Squared{}}, countShard(30, 21, 5), true},
		{models.Linear{Features: 5, Outputs: 1, Loss: models.Huber{}}, countShard(30, 21, 5), true},
		{models.Linear{Features: 5, Outputs: 1, Loss: models.Poisson{}}, countShard(30, 21, 5), true},
		{models.MLP{Features: 5, Outputs: 1, Loss: models.Squared{}}, countShard(30, 21, 5), true},
		{models.MLP{Features: 5, Outputs: 1, Loss: models.Huber{}}, countShard(30, 21, 5), true},
		{models.MLP{Features: 5, Outputs: 1, Loss: models.Poisson{}}, countShard(30, 21, 5), true},
	} {
		if got := exactDiagonal(c.model, c.shard); got != c.exact {
			t.Errorf("%T%+v: the same diagonal for two seeds is %v, want %v", c.model, c.model, got, c.exact)
		}
	}
}

// exactDiagonal reports whether the diagonal does not depend on the seed.
func exactDiagonal(m models.Model, s data.Shard) bool {
	var d [2][]float64
	for seed := range d {
		o := testkit.Get(models.NewOracle(m, s, models.Config{Seed: uint64(seed)}))
		p, q := o.Dims()
		r := rand.New(rand.NewPCG(9, 9))
		d[seed] = make([]float64, q)
		testkit.OK(o.Diagonal(d[seed], normal(r, p, 1), normal(r, q, 1), dsbo.Sample{Set: dsbo.Whole}))
	}
	return slices.Equal(d[0], d[1])
}
