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
	"dsbo/internal/testkit"
	"dsbo/models"
)

// broken builds what does not fit.
type broken struct{ models.Logistic }

func (b broken) Upper(_, y *ad.Node, e models.Batch) *ad.Node { return ad.Dot(y, e.T) }

// hollow has no variables.
type hollow struct{ models.Logistic }

func (hollow) Dims() (p, q int) { return 1, 0 }

func TestNewOracleErrors(t *testing.T) {
	signs, classes := signShard(10, 9, 3), classShard(10, 9, 3, 4)
	bare := signs
	bare.Val = data.Examples{}
	other := signs
	other.Train.Target = signShard(8, 8, 3).Train.Target
	ids := signs
	ids.Train.ID = ids.Train.ID[1:]
	numbers := numberShard(10, 9, 3, func(*rand.Rand) float64 { return .5 })
	large := signs
	large.Val.X = table(9, 3, []float64{1e39, 26: 1})
	odd := signs
	odd.Holdout = numbers.Val
	anonymous := classes
	anonymous.Train.ID = nil
	for _, c := range []struct {
		name  string
		model models.Model
		shard data.Shard
		cfg   models.Config
		kind  error
		says  string
	}{
		{"features", models.Logistic{Features: 4}, signs, models.Config{Agent: 7}, dsbo.ErrShape,
			"agent 7: training examples must have the model's 4 features; they have 3"},
		{"classes for signs", models.Logistic{Features: 3}, classes, models.Config{}, dsbo.ErrShape,
			"targets must be one column of +1 and -1; there are 4 columns"},
		{"numbers for signs", models.Logistic{Features: 3}, numbers, models.Config{}, dsbo.ErrConfig,
			"targets must be +1 or -1; row 0 has 0.5"},
		{"held-out numbers", models.Logistic{Features: 3}, odd, models.Config{}, dsbo.ErrConfig,
			"held-out examples: targets must be +1 or -1"},
		{"signs for classes", models.Softmax{Features: 3, Classes: 4}, signs, models.Config{}, dsbo.ErrShape,
			"targets must have a column for each of the model's 4 classes, at least 2; they have 1"},
		{"one class", models.Softmax{Features: 3, Classes: 1}, signs, models.Config{}, dsbo.ErrShape, "at least 2"},
		{"no examples", models.Logistic{Features: 3}, bare, models.Config{}, dsbo.ErrShape,
			"there must be validation examples"},
		{"targets of others", models.Logistic{Features: 3}, other, models.Config{}, dsbo.ErrShape,
			"each of 10 examples must have a target"},
		{"IDs of others", models.Logistic{Features: 3}, ids, models.Config{}, dsbo.ErrShape,
			"each of 10 examples must have an ID; there are 9"},
		{"batch", models.Logistic{Features: 3}, signs, models.Config{Batch: -1}, dsbo.ErrConfig,
			"batch must be at least 0 (all examples); it is -1"},
		{"too large for float32", models.Logistic{Features: 3}, large, models.Config{Agent: 3, Float32: true},
			dsbo.ErrConfig,
			"agent 3, upper loss: numbers in float32 must be at most 3.4e+38; row 0, column 0 has 1e+39"},
		{"no variables", hollow{models.Logistic{Features: 3}}, signs, models.Config{}, dsbo.ErrShape,
			"p and q of a model must be at least 1; they are 1 and 0"},
		{"hyperclean without IDs", models.HyperClean{Features: 3, Classes: 4, Examples: 20}, anonymous, models.Config{},
			dsbo.ErrShape, "needs the ID"},
		{"hyperclean, too few", models.HyperClean{Features: 3, Classes: 4, Examples: 14}, classes, models.Config{},
			dsbo.ErrShape, "IDs of training examples must be from 0 to 13; example 9 has 14"},
		{"hyperclean ridge", models.HyperClean{Features: 3, Classes: 4, Examples: 20, Ridge: -1}, classes,
			models.Config{}, dsbo.ErrConfig,
			"the ridge of data hyper-cleaning must be positive, or 0 for the default; it is -1"},
		{"mlp units", models.MLP{Features: 3, Outputs: 4, Hidden: []int{2, -3}}, classes, models.Config{},
			dsbo.ErrConfig, "hidden layer 1 must have at least 1 unit; it has -3"},
		{"mlp signs", models.MLP{Features: 3, Outputs: 4}, signs, models.Config{}, dsbo.ErrShape, "4 classes"},
		{"quadratic", models.Quadratic{P: 1, Q: 1}, data.Shard{}, models.Config{}, dsbo.ErrShape,
			"A of a quadratic with p=1, q=1 must have 1 numbers; it has 0"},
		{"quadratic of nothing", models.Quadratic{}, data.Shard{}, models.Config{}, dsbo.ErrShape,
			"p and q of a quadratic must be at least 1; they are 0 and 0"},
		{"quadratic noise", quadratic(rand.New(rand.NewPCG(0, 1)), 2, 2), signs, models.Config{}, dsbo.ErrShape,
			"noise rows of a quadratic must have q=2 numbers; they have 3"},
		{"compositional", models.Compositional{P: 1, Q: 1}, data.Shard{}, models.Config{}, dsbo.ErrConfig,
			"both Inner and Outer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := models.NewOracle(c.model, c.shard, c.cfg)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error is %v, want %q that matches %v", err, c.says, c.kind)
			}
		})
	}
}

// TestBuildErrors: what is wrong in a model's graph is an error of its first use, naming agent
// and loss.
func TestBuildErrors(t *testing.T) {
	o := testkit.Get(models.NewOracle(broken{models.Logistic{Features: 3}}, signShard(10, 9, 3),
		models.Config{Agent: 4}))
	x, y := make([]float64, 3), make([]float64, 3)
	for range 2 {
		err := o.UpperGrad(x, nil, x, y, dsbo.Sample{})
		if err == nil || !strings.Contains(err.Error(), "agent 4, upper loss: ") ||
			!strings.Contains(err.Error(), "Dot") {
			t.Errorf("error is %v, want agent, loss and op", err)
		}
	}
	if _, _, err := o.Values(x, y, dsbo.Sample{}); err == nil {
		t.Error("Values has no error")
	}
	testkit.OK(o.LowerGrad(make([]float64, 3), x, y, dsbo.Sample{}))
}

// TestBadData: an index that is no row of the parameters is an error that names the parameter, the
// loss and the example.
func TestBadData(t *testing.T) {
	shard := ratings(6, 7)
	pairs := make([]float64, 2*70)
	pairs[2*41] = 6 // of rows 0 to 5
	shard.Train.X = table(70, 2, pairs)
	o := testkit.Get(models.NewOracle(factors{6, 7, 2}, shard, models.Config{Agent: 3}))
	_, q := o.Dims()
	dst := make([]float64, q)
	err := o.LowerGrad(dst, []float64{0, 0}, dst, dsbo.Sample{Set: dsbo.Whole})
	const want = "agent 3, lower loss: Gather: indices must be whole numbers from 0 to 5; that of row 41 is 6"
	if !errors.Is(err, dsbo.ErrShape) || err.Error() != want {
		t.Errorf("error %v, want one that matches ErrShape and says %q", err, want)
	}
}

func TestNewScore(t *testing.T) {
	// Three examples of one feature: y = 2 is right on the first, wrong on the second, and
	// undecided, so wrong, on the third.
	e := data.Examples{X: table(3, 1, []float64{1, 1, 0}), Target: table(3, 1, []float64{1, -1, 1})}
	for _, float32 := range []bool{false, true} {
		score := testkit.Get(models.NewScore(models.Logistic{Features: 1}, e, float32))
		losses, hits := testkit.Get2(score.Examples([]float64{0}, []float64{2}))
		for i, want := range []float64{softplus(-2), softplus(2), math.Ln2} {
			if !(math.Abs(losses[i]-want) <= 1e-6) {
				t.Errorf("the loss of example %d is %g, want %g", i, losses[i], want)
			}
		}
		if want := []float64{1, 0, 0}; !slices.Equal(hits, want) {
			t.Errorf("hits %v, want %v", hits, want)
		}
		sum, right := testkit.Get2(score.Sums([]float64{0}, []float64{2}))
		if want := softplus(-2) + softplus(2) + math.Ln2; !(math.Abs(sum-want) <= 1e-6) || right != 1 {
			t.Errorf("sums %g and %g, want %g and 1", sum, right, want)
		}
	}
	if _, err := models.NewScore(models.Quadratic{P: 1, Q: 1}, e, false); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("a score of a quadratic: error is %v", err)
	}
	if _, err := models.NewScore(models.Softmax{Features: 2, Classes: 3}, e, false); err == nil {
		t.Error("no error from examples of another model")
	}
	if _, err := models.NewScore(models.Logistic{Features: 1}, data.Examples{X: e.X}, false); !errors.Is(err,
		dsbo.ErrShape) {
		t.Errorf("examples without targets: error is %v", err)
	}
}

// TestPartitionsNeedMeans: what is remembered of each batch is put together as a mean, so a loss
// that is a sum over examples is refused, unless one batch has all of them.
func TestPartitionsNeedMeans(t *testing.T) {
	s := signShard(40, 30, 3)
	for _, c := range []struct {
		mean    bool
		n       int
		refused bool
	}{{true, 7, false}, {false, 7, true}, {false, 2, true}, {false, 1, false}} {
		o := testkit.Get(models.NewOracle(models.Logistic{Features: 3, Mean: c.mean}, s, models.Config{}))
		for _, set := range []dsbo.Set{dsbo.Lower, dsbo.Upper} {
			_, _, err := o.Batch(dsbo.Sample{Set: set, K: 2}, c.n)
			if errors.Is(err, dsbo.ErrConfig) != c.refused || c.refused != (err != nil) ||
				c.refused && !strings.Contains(err.Error(), "-reduce mean") {
				t.Errorf("mean %t, %d batches of %v: %v", c.mean, c.n, set, err)
			}
		}
	}
}

// TestLowerValueGrad: value and gradient in one pass are, also of an oracle in float32, the value
// and the gradient in float64.
func TestLowerValueGrad(t *testing.T) {
	o := testkit.Get(models.NewOracle(models.Logistic{Features: 3, Mean: true}, signShard(40, 40, 3),
		models.Config{Float32: true}))
	x, y := []float64{.1, .2, -.3}, []float64{.5, -1, 1}
	got, want := make([]float64, 3), make([]float64, 3)
	value := testkit.Get(o.LowerValueGrad(got, x, y))
	testkit.OK(o.Double().LowerGrad(want, x, y, dsbo.Sample{Set: dsbo.Whole}))
	if loss := testkit.Get(o.LowerValue(x, y)); !(math.Abs(value-loss) <= 1e-15*loss) || !slices.Equal(got, want) {
		t.Errorf("%v and %v in one pass, want %v and %v", value, got, loss, want)
	}
}

// TestOracleHVPs: many products have the bits of HVP, and lengths that do not fit are named.
func TestOracleHVPs(t *testing.T) {
	m := models.MLP{Features: 5, Outputs: 3, Hidden: []int{4}}
	o := testkit.Get(models.NewOracle(m, classShard(20, 15, 5, 3), models.Config{Batch: 8}))
	p, q := m.Dims()
	r := rand.New(rand.NewPCG(1, 2))
	x, y, vs := normal(r, p, .3), normal(r, q, .3), normal(r, 3*q, 1)
	dst, one, s := make([]float64, 3*q), make([]float64, q), dsbo.Sample{Set: dsbo.Curvature, K: 2}
	testkit.OK(o.HVPs(dst, x, y, vs, s))
	for k := range 3 {
		testkit.OK(o.HVP(one, x, y, vs[k*q:][:q], s))
		if !slices.Equal(one, dst[k*q:][:q]) {
			t.Errorf("product %d differs from that of HVP", k)
		}
	}
	want := fmt.Sprintf("agent 0, lower loss: vectors must have len(y)=%d numbers each, and their products as many; ",
		q)
	testkit.WantError(t, "half a vector", o.HVPs(dst[:q+1], x, y, vs[:q+1], s), dsbo.ErrShape, want)
	testkit.WantError(t, "too few products", o.HVPs(dst[:q], x, y, vs, s), dsbo.ErrShape, want)
}

// TestCapabilities: an oracle has Penalty of a penalized model alone, and Gauss-Newton products
// where the lower loss marks its outputs; what it has does not fail with ErrCapability.
func TestCapabilities(t *testing.T) {
	shard := classShard(30, 21, 3, 4)
	for name, c := range map[string]struct {
		m                models.Model
		penalty, outputs bool
	}{
		"marked":  {models.Softmax{Features: 3, Classes: 4}, true, true},
		"neither": {bareModel{models.Softmax{Features: 3, Classes: 4}}, false, false},
	} {
		o := testkit.Get(models.NewOracle(c.m, shard, models.Config{Batch: 7}))
		can := testkit.Get(dsbo.Capabilities(o))
		if (can.Penalty != nil) != c.penalty || (can.GaussNewton != nil) != c.outputs {
			t.Errorf("%s: penalty %t, want %t; Gauss-Newton products %t, want %t", name, can.Penalty != nil, c.penalty,
				can.GaussNewton != nil, c.outputs)
		}
		p, q := o.Dims()
		if x, v := make([]float64, p), make([]float64, q); c.outputs {
			testkit.OK(errors.Join(can.Penalty(v, x), can.GaussNewton(v, x, slices.Clone(v), slices.Clone(v),
				dsbo.Sample{Set: dsbo.Whole})))
		}
	}
}

// A bareModel has the lower loss of squares, which marks nothing, and no method but a model's.
type bareModel struct{ of models.Softmax }

func (m bareModel) Dims() (p, q int)                             { return m.of.Dims() }
func (m bareModel) Upper(x, y *ad.Node, b models.Batch) *ad.Node { return m.of.Upper(x, y, b) }
func (bareModel) Lower(x, y *ad.Node, _ models.Batch) *ad.Node {
	return ad.Add(ad.Dot(y, y), ad.Dot(x, x))
}
