package models_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// weighted returns s with random weights, some of them 0.
func weighted(s data.Shard) data.Shard {
	r := rand.New(rand.NewPCG(12, 13))
	for _, e := range []*data.Examples{&s.Train, &s.Val} {
		w := make([]float64, e.Len())
		for i := range w {
			w[i] = max(0, 2*r.Float64()-.2)
		}
		e.Weight = table(len(w), 1, w)
	}
	return s
}

// countShard makes examples with normal features and small counts as targets.
func countShard(train, val, features int) data.Shard {
	return numberShard(train, val, features, func(r *rand.Rand) float64 {
		return math.Floor(5 * r.Float64() * r.Float64())
	})
}

// valueShard makes examples with normal features and normal targets.
func valueShard(train, val, features int) data.Shard {
	return numberShard(train, val, features, (*rand.Rand).NormFloat64)
}

// form is a loss of one output by hand: its value, slope and curvature.
type form func(o, t float64) (loss, slope, curvature float64)

func squaredForm(o, t float64) (loss, slope, curvature float64) {
	return (o - t) * (o - t) / 2, o - t, 1
}

func huberForm(o, t float64) (loss, slope, curvature float64) {
	const delta = .8
	if r := o - t; !(math.Abs(r) <= delta) {
		return delta * (math.Abs(r) - delta/2), math.Copysign(delta, r), 0
	}
	return squaredForm(o, t)
}

func poissonForm(o, t float64) (loss, slope, curvature float64) {
	rate := math.Exp(o)
	if loss = rate - t*o - t; t > 0 {
		loss += t * math.Log(t)
	}
	return loss, rate - t, rate
}

// TestLinearClosedForm compares the regressions with their formulas, differentiated by hand.
func TestLinearClosedForm(t *testing.T) {
	const d = 6
	groups := []int{0, 2, 1, 1, 0, 2}
	r := rand.New(rand.NewPCG(8, 9))
	for _, c := range []struct {
		loss  models.OutputLoss
		form  form
		shard data.Shard
	}{
		{models.Squared{}, squaredForm, valueShard(40, 23, d)},
		{models.Huber{Delta: .8}, huberForm, valueShard(40, 23, d)},
		{models.Poisson{}, poissonForm, countShard(40, 23, d)},
	} {
		for _, s := range []data.Shard{c.shard, weighted(c.shard)} {
			t.Run(fmt.Sprintf("%T/weighted=%v", c.loss, s.Train.Weight != nil), func(t *testing.T) {
				m := models.Linear{Features: d, Outputs: 1, Loss: c.loss, Penalties: models.PerGroup{Of: groups}}
				x, y, v := normal(r, 3, 1), normal(r, d+1, 1), normal(r, d+1, 1)
				// Sums of some forty terms, in another order.
				compare(t, derivsAt(t, m, s, x, y, v), linearForm(s, c.form, groups, x, y, v), 1e-13)
			})
		}
	}
}

// linearForm is f = mean w L(a'y + b, t), g = f + 1/d Σ e^{x_r} y_j² + ½·1e-6 b², by hand.
func linearForm(s data.Shard, l form, groups []int, x, y, v []float64) derivs {
	q := len(y)
	d := newDerivs(len(x), q)
	mean := func(e data.Examples, value *float64, slope, hv []float64) {
		for i := range e.Len() {
			w := 1 / float64(e.Len())
			if e.Weight != nil {
				w *= e.Weight.At(i, 0)
			}
			a := append(row(e, i), 1)
			loss, first, second := l(linalg.Dot(a, y), e.Target.At(i, 0))
			*value += w * loss
			linalg.Axpy(slope, w*first, a)
			if hv != nil {
				linalg.Axpy(hv, w*second*linalg.Dot(a, v), a)
			}
		}
	}
	mean(s.Val, &d.f, d.fy, nil)
	mean(s.Train, &d.g, d.gy, d.hv)
	for j, group := range groups {
		weight := math.Exp(x[group]) / float64(len(groups))
		d.g += weight * y[j] * y[j]
		d.gx[group] += weight * y[j] * y[j]
		d.gy[j] += 2 * weight * y[j]
		d.hv[j] += 2 * weight * v[j]
		d.j[group] += 2 * weight * y[j] * v[j]
	}
	last := q - 1
	d.g += .5e-6 * y[last] * y[last]
	d.gy[last] += 1e-6 * y[last]
	d.hv[last] += 1e-6 * v[last]
	return d
}

// TestOutputLosses compares losses of single outputs with numbers by hand.
func TestOutputLosses(t *testing.T) {
	for _, c := range []struct {
		loss         models.OutputLoss
		o, t         float64
		want, within float64
	}{
		{models.Squared{}, 3, 1, 2, 0},
		{models.Huber{}, 1.5, 1, .125, 0},
		{models.Huber{}, 4, 1, 2.5, 0},
		{models.Huber{}, -4, 0, 3.5, 0},
		{models.Huber{Delta: 2}, -4, 0, 6, 0},
		{models.Poisson{}, 0, 0, 1, 0},
		{models.Poisson{}, 0, 1, 0, 0},
		{models.Poisson{}, math.Log(3), 3, 0, 1e-15},
		{models.Poisson{}, 1, 2, math.E - 4 + 2*math.Ln2, 1e-15},
		{models.Poisson{}, -800, 0, 0, 0},
		{models.Poisson{}, -800, 2, 1600 - 2 + 2*math.Ln2, 1e-12},
		{models.Poisson{}, 32, 1, 5*math.Exp(30) - 33, 1e-2}, // 1 + 2 + ½·2²; ulp of 5e13
		{models.Poisson{Most: 3}, math.Log(2), 2, 0, 1e-15},
		{models.Poisson{Most: 3}, 8, 0, 3, 1e-14}, // not e⁸
		{models.Poisson{Most: 3}, 8, 5, 3 - 5 + 5*math.Log(5./3), 1e-14},
		{models.Poisson{}, 1000, 0, math.Exp(30) * (1 + 970 + 970*970/2), 1e4},
	} {
		m := models.Linear{Features: 1, Outputs: 1, Loss: c.loss}
		e := data.Examples{X: table(1, 1, []float64{1}), Target: table(1, 1, []float64{c.t})}
		got, hits := testkit.Get2(testkit.Get(models.NewScore(m, e, false)).Examples([]float64{0}, []float64{c.o, 0}))
		if !(math.Abs(got[0]-c.want) <= c.within) || hits != nil {
			t.Errorf("%T of output %g and target %g is %g with hits %v, want %g without", c.loss, c.o, c.t,
				got[0], hits, c.want)
		}
	}
}

// TestWeightsAreRepetitions: an example of weight k counts as k examples in a loss, and as one in
// a score.
func TestWeightsAreRepetitions(t *testing.T) {
	s := classShard(20, 20, 4, 3)
	var w []float64
	var rows []int
	for i := range 20 {
		w = append(w, float64(i%4))
		for range i % 4 {
			rows = append(rows, i)
		}
	}
	repeated := testkit.Get(s.Train.Pick(rows))
	unweighted := s.Train
	s.Train.Weight = table(20, 1, w)
	r := rand.New(rand.NewPCG(5, 5))
	for _, m := range []models.Model{models.Linear{Features: 4, Outputs: 3}, models.MLP{Features: 4, Outputs: 3},
		models.Softmax{Features: 4, Classes: 3}} {
		p, q := m.Dims()
		x, y := normal(r, p, 1), normal(r, q, 1)
		got, mean := valueOf(m.Upper, s.Train, x, y), valueOf(m.Upper, repeated, x, y)
		// Sums of 20 and of 30 terms.
		if want := mean * float64(len(rows)) / 20; !(math.Abs(got-want) <= 1e-14*want) {
			t.Errorf("%T: weighted loss %g, want %g", m, got, want)
		}
		if each, plain := lossesOf(m, s.Train, x, y), lossesOf(m, unweighted, x, y); !slices.Equal(each, plain) {
			t.Errorf("%T: scores are %v with weights, %v without", m, each, plain)
		}
	}
}

// TestOnePenaltyIsAllAlike: a value of x means the same whatever shares it.
func TestOnePenaltyIsAllAlike(t *testing.T) {
	s := classShard(20, 20, 4, 3)
	value := func(m models.Model, lambda float64) float64 {
		p, q := m.Dims()
		x, y := make([]float64, p), normal(rand.New(rand.NewPCG(6, 6)), q, 1)
		linalg.Fill(x, lambda)
		return valueOf(m.Lower, s.Train, x, y)
	}
	for _, group := range []models.Penalties{models.PerFeature{}, models.PerGroup{Of: []int{0, 1, 1, 0}},
		models.PerLayer{}} {
		for _, pair := range [][2]models.Model{
			{models.Linear{Features: 4, Outputs: 3, Penalties: group},
				models.Linear{Features: 4, Outputs: 3, Penalties: models.OnePenalty{}}},
			{models.MLP{Features: 4, Outputs: 3, Penalties: group},
				models.MLP{Features: 4, Outputs: 3, Penalties: models.OnePenalty{}}},
		} {
			got, want := value(pair[0], 1.5), value(pair[1], 1.5)
			if !(math.Abs(got-want) <= 1e-14*want) {
				t.Errorf("%T: %T gives %g, one penalty %g", pair[0], group, got, want)
			}
		}
	}
}

// TestInterceptRidge: predictions agree with the predictions of an intercept without penalty.
func TestInterceptRidge(t *testing.T) {
	target := make([]float64, 50)
	for i := range target {
		target[i] = 3 + float64(i%2)
	}
	m := models.Linear{Features: 1, Outputs: 1, Loss: models.Squared{}}
	e := data.Examples{X: table(50, 1, make([]float64, 50)), Target: table(50, 1, target)}
	d := testkit.Get(models.Differentiate(m.Lower, 1, 2, e, false))
	y, g := []float64{0, 3.5}, make([]float64, 2)
	testkit.OK(d.Grad(nil, g, []float64{0}, y))
	if shift := math.Abs(g[1]); shift > 1e-5 { // the curvature is 1
		t.Errorf("the intercept moves by %g", shift)
	}
}

// TestIntercepts: both models start with the outputs that they are told.
func TestIntercepts(t *testing.T) {
	b := []float64{.5, -1, 2}
	for _, m := range []models.Starter{models.Linear{Features: 2, Outputs: 3, Intercepts: b},
		models.MLP{Features: 2, Outputs: 3, Hidden: []int{4}, Intercepts: b}} {
		_, q := m.(models.Model).Dims()
		y := normal(rand.New(rand.NewPCG(1, 1)), q, 1)
		m.Start(y)
		if got := y[q-3:]; !slices.Equal(got, b) {
			t.Errorf("%T starts with intercepts %v, want %v", m, got, b)
		}
	}
}

func TestLinearErrors(t *testing.T) {
	classes, values := classShard(20, 20, 4, 3), valueShard(20, 20, 4)
	negative := weighted(classes)
	negative.Val.Weight = table(20, 1, append(make([]float64, 19), -1))
	short := weighted(classes)
	short.Train.Weight = table(19, 1, make([]float64, 19))
	for _, c := range []struct {
		model models.Linear
		shard data.Shard
		kind  error
		want  string
	}{
		{models.Linear{Features: 4, Outputs: 1, Loss: models.Poisson{}}, values, dsbo.ErrConfig,
			"counts must be at least 0; row"},
		{models.Linear{Features: 4, Outputs: 2, Loss: models.Squared{}}, values, dsbo.ErrShape,
			"each of the model's 2 outputs; they have 1"},
		{models.Linear{Features: 4, Outputs: 1}, values, dsbo.ErrShape,
			"each of the model's 1 classes, at least 2; they have 1"},
		{models.Linear{Features: 4, Outputs: 1, Loss: models.Huber{Delta: -1}}, values, dsbo.ErrConfig, "it is -1"},
		{models.Linear{Features: 4, Outputs: 1, Loss: models.Huber{Delta: math.Inf(1)}}, values,
			dsbo.ErrConfig, "it is +Inf"},
		{models.Linear{Features: 4, Outputs: 3, Intercepts: []float64{1}}, classes, dsbo.ErrConfig,
			"each of 3 outputs, or none; they are [1]"},
		{models.Linear{Features: 4, Outputs: 1, Loss: models.Squared{}, Intercepts: []float64{math.Inf(-1)}}, values,
			dsbo.ErrConfig, "they are [-Inf]"},
		{models.Linear{Features: 3, Outputs: 3}, classes, dsbo.ErrShape, "the model's 3 features; they have 4"},
		{models.Linear{Features: 4, Outputs: 3, Penalties: models.PerGroup{Of: []int{0, 1}}}, classes,
			dsbo.ErrConfig, "groups of 2"},
		{models.Linear{Features: 4, Outputs: 3, Penalties: models.PerGroup{Of: []int{0, 1, 2, 9}}}, classes,
			dsbo.ErrConfig, "feature 3 has 9"},
		{models.Linear{Features: 4, Outputs: 3, Penalties: models.PerGroup{Of: []int{0, 0, 2, 0}}}, classes,
			dsbo.ErrConfig, "group 1 of 3 has none"},
		{models.Linear{Features: 4, Outputs: 3}, negative, dsbo.ErrConfig, "that of example 19 is -1"},
		{models.Linear{Features: 4, Outputs: 3}, short, dsbo.ErrShape, "must have a weight; there are 19"},
	} {
		if _, err := models.NewOracle(c.model, c.shard, models.Config{}); !errors.Is(err, c.kind) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error is %v, want %q", c.model, err, c.want)
		}
	}
}

// Counts over two groups of features, one of which stands for a categorical column.
func ExampleLinear() {
	features, _ := ad.FloatTable(3, 3, []float64{.5, 1, 0, -1, 0, 1, .2, 0, 1})
	counts, _ := ad.FloatTable(3, 1, []float64{3, 0, 1})
	e := data.Examples{X: features, Target: counts}
	m := models.Linear{Features: 3, Outputs: 1, Loss: models.Poisson{}, Penalties: models.PerGroup{Of: []int{0, 1, 1}}}
	oracle, err := models.NewOracle(m, data.Shard{Train: e, Val: e}, models.Config{})
	p, q := m.Dims()
	fmt.Println(p, q, oracle != nil, err)
	// Output: 2 4 true <nil>
}
