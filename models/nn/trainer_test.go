package nn_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models/nn"
)

// optimizers have the parameters that PyTorch 1.13 has after six steps from (1, −2, ½) along
// cos((k+1)z) + z/2.
var optimizers = []struct {
	name string
	o    nn.Optimizer
	want []float32
}{
	{"SGD", &nn.SGD{Rate: nn.Constant(.1)},
		[]float32{0.792445838, -1.35398579, -0.0354545191}},
	{"SGD with momentum and decay", &nn.SGD{Rate: nn.Constant(.1), Momentum: .9, WeightDecay: .01},
		[]float32{0.773944736, 0.124889091, -0.742019057}},
	{"SGD of Nesterov", &nn.SGD{Rate: nn.Constant(.1), Momentum: .9, Nesterov: true},
		[]float32{0.698013484, 0.325003207, -0.386228144}},
	{"Adam", &nn.Adam{},
		[]float32{0.996934891, -1.99468076, 0.496146739}},
	{"Adam with decay", &nn.Adam{Rate: nn.Constant(.1), WeightDecay: .1, Beta1: .8},
		[]float32{0.775429726, -1.47796917, -0.0835312828}},
	{"AdamW", &nn.AdamW{Adam: nn.Adam{Rate: nn.Constant(.1)}},
		[]float32{0.784996152, -1.47434199, -0.091640234}},
	{"RMSprop", &nn.RMSprop{},
		[]float32{0.845242143, -1.6900593, 0.223984122}},
	{"RMSprop with momentum and decay, centred", &nn.RMSprop{Rate: nn.Constant(.05), Alpha: .9, Momentum: .5,
		WeightDecay: .1, Centred: true},
		[]float32{0.764164567, -1.23161769, -0.352112502}},
	{"SGD, cosine", &nn.SGD{Rate: nn.Cosine(.1, .01, 4)},
		[]float32{0.896131337, -1.65071905, 0.246169239}},
	{"SGD, warm-up and cosine", &nn.SGD{Rate: nn.WarmUp(.001, 2, nn.Cosine(.1, .01, 4))},
		[]float32{0.95453918, -1.70547366, 0.434284389}},
}

// TestOptimizers: within the rounding of float32, a few units of 6e-8 a step.
func TestOptimizers(t *testing.T) {
	for _, c := range optimizers {
		z, g := []float32{1, -2, .5}, make([]float32, 3)
		for k := range 6 {
			for i, v := range z {
				g[i] = float32(math.Cos(float64(v)*float64(k+1))) + v/2
			}
			c.o.Step(z, g)
		}
		for i, v := range z {
			if math.Abs(float64(v-c.want[i])) > 3e-6 {
				t.Errorf("%s: parameters %v, want %v", c.name, z, c.want)
				break
			}
		}
	}
}

// line is a linear network with a square loss, on rows of two features.
func line(rows int) (*nn.Params, nn.Build, data.Examples) {
	ps := new(nn.Params)
	l := nn.NewDense(ps, "l", 2, 1)
	x, y := make([]float64, 2*rows), make([]float64, rows)
	for i := range y {
		x[2*i], x[2*i+1] = math.Sin(float64(i)), math.Cos(float64(3*i))
		y[i] = 3*x[2*i] - x[2*i+1] + .5
	}
	return ps, func(z, x, t *ad.Node) *ad.Node {
			return ad.Mean(ad.Square(ad.Sub(ad.Flatten(l.Outputs(z, x)), t)))
		}, data.Examples{X: testkit.Get(ad.FloatTable(rows, 2, x)),
			Target: testkit.Get(ad.FloatTable(rows, 1, y))}
}

// TestTrainer: a last batch that is shorter counts by its rows; the same seed has the same bits,
// and what is saved is what is loaded.
func TestTrainer(t *testing.T) {
	ps, loss, e := line(17)
	fit := func(seed uint64) *nn.Trainer {
		tr := nn.NewTrainer(ps, &nn.SGD{Rate: nn.Constant(.2), Momentum: .5}, 5, seed, loss)
		for range 60 {
			testkit.Get(tr.Epoch(e))
		}
		return tr
	}
	a, again, other := fit(1), fit(1), fit(2)
	if !slices.Equal(a.Z, again.Z) || slices.Equal(a.Z, other.Z) {
		t.Errorf("parameters %v and %v of one seed, %v of another", a.Z, again.Z, other.Z)
	}
	for i, want := range []float32{3, -1, .5} {
		if math.Abs(float64(a.Z[i]-want)) > 1e-4 {
			t.Errorf("parameters %v, want 3, −1 and ½", a.Z)
			break
		}
	}
	still := nn.NewTrainer(ps, &nn.SGD{Rate: nn.Constant(0)}, 5, 1, loss)
	epoch, mean := testkit.Get(still.Epoch(e)), testkit.Get(still.Mean(e, loss))
	if math.Abs(epoch-mean) > 1e-6*mean {
		t.Errorf("without a step an epoch's loss is %g, the loss of all examples %g", epoch, mean)
	}
	var file bytes.Buffer
	testkit.OK(a.Save(&file))
	testkit.OK(still.Load(bytes.NewReader(file.Bytes())))
	if !slices.Equal(a.Z, still.Z) {
		t.Errorf("loaded %v, saved %v", still.Z, a.Z)
	}
	wide := new(nn.Params)
	nn.NewDense(wide, "l", 3, 1)
	err := nn.NewTrainer(wide, &nn.Adam{}, 5, 1, loss).Load(&file)
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), `parameter "l.weights"`) {
		t.Errorf("other parameters: error %v, want one that names l.weights", err)
	}
	if _, err := nn.NewTrainer(ps, &nn.Adam{}, 0, 1, loss).Epoch(e); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a batch of 0: error %v", err)
	}
}

// TestGoesOn: a trainer that loads another one's file continues with its bits, whatever the
// optimizer keeps.
func TestGoesOn(t *testing.T) {
	ps, loss, e := line(17)
	groups := func() nn.Optimizer {
		return nn.NewGroups(ps, func(p nn.Param) int { return min(p.Cols, 1) }, &nn.Adam{}, &nn.RMSprop{Momentum: .5})
	}
	for _, o := range []func() nn.Optimizer{
		func() nn.Optimizer { return &nn.SGD{Rate: nn.Cosine(.1, .01, 20), Momentum: .9} },
		func() nn.Optimizer { return &nn.AdamW{} }, groups,
	} {
		a, b := nn.NewTrainer(ps, o(), 5, 1, loss), nn.NewTrainer(ps, o(), 5, 1, loss)
		testkit.Get(a.Epoch(e))
		var file bytes.Buffer
		testkit.OK(a.Save(&file))
		testkit.OK(b.Load(bytes.NewReader(file.Bytes())))
		for _, tr := range []*nn.Trainer{a, b} {
			testkit.Get(tr.Epoch(e))
		}
		if !slices.Equal(a.Z, b.Z) {
			t.Errorf("%T: parameters %v, and %v of a trainer that was not stopped", o(), b.Z, a.Z)
		}
		other := nn.NewTrainer(ps, groups(), 5, 1, loss)
		if _, grouped := o().(*nn.Groups); !grouped {
			before := slices.Clone(other.Z)
			err := other.Load(&file)
			if !errors.Is(err, dsbo.ErrConfig) || !slices.Equal(other.Z, before) {
				t.Errorf("state of another optimizer: error %v, parameters %v from %v", err, other.Z, before)
			}
		}
	}
}

// TestGroups: biases without decay, and gradients of a largest norm, are as by hand.
func TestGroups(t *testing.T) {
	ps, _, e := line(8)
	slope := func(z, _, _ *ad.Node) *ad.Node { return ad.SumAll(ad.Scale(3, z)) }
	decay := nn.NewGroups(ps, func(p nn.Param) int { return min(p.Cols, 1) }, &nn.SGD{Rate: nn.Constant(.1)},
		&nn.SGD{Rate: nn.Constant(.1), WeightDecay: 1})
	tr := nn.NewTrainer(ps, decay, 8, 1, slope)
	tr.Z = []float32{1, 2, 4}
	tr.MaxNorm = 1
	testkit.Get(tr.Epoch(e))
	g := float32(1 / math.Sqrt(3)) // but for the 1e-6 that PyTorch adds to the norm
	for i, want := range []float32{1 - .1*(g+1), 2 - .1*(g+2), 4 - .1*g} {
		if math.Abs(float64(tr.Z[i]-want)) > 1e-6 {
			t.Errorf("parameter %d is %v; it must be %v", i, tr.Z[i], want)
		}
	}
	nn.NewGroups(ps, func(nn.Param) int { return 2 }, &nn.SGD{})
	if err := ps.Err(); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), `group of parameter "l.w`) {
		t.Errorf("a group that is not there: error %v", err)
	}
}

// TestMoments: with the moments of all examples a layer does to one batch of them what it does by
// its own statistics.
func TestMoments(t *testing.T) {
	ps, _, e := line(17)
	norm := nn.NewBatchNorm(ps, "norm", 2)
	tr := nn.NewTrainer(ps, &nn.Adam{}, 17, 1, nil)
	mean, variance, err := tr.Moments(e, 2, func(_, x, _ *ad.Node) *ad.Node { return x })
	testkit.OK(err)
	off := testkit.Get(tr.Mean(e, func(z, x, _ *ad.Node) *ad.Node {
		return ad.Abs(ad.Sub(norm.Outputs(z, x), norm.Fixed(z, x, mean, variance)))
	}))
	if off > 1e-6 { // numbers are around 1, in float32
		t.Errorf("outputs are off by %g", off)
	}
}

// TestRunningNorm: averages follow the statistics of batches as PyTorch's do, by a tenth of what is
// between them, whatever decay and the largest norm, are saved, and normalize outputs; the loss
// stays as it is without them.
func TestRunningNorm(t *testing.T) {
	const epochs = 5
	_, _, e := line(17)
	ps := &nn.Params{}
	norm, last := nn.NewRunningNorm(ps, "norm", 2), nn.NewDense(ps, "last", 2, 1)
	trainer := func() *nn.Trainer {
		t := nn.NewTrainer(ps, &nn.AdamW{Adam: nn.Adam{WeightDecay: .5}}, 17, 1, func(z, x, t *ad.Node) *ad.Node {
			h, term := norm.Trained(z, x)
			return ad.Add(ad.Mean(ad.Square(ad.Sub(ad.Flatten(last.Outputs(z, h)), t))), term)
		})
		t.MaxNorm = 1e-3
		return t
	}
	tr := trainer()
	for range epochs {
		testkit.Get(tr.Epoch(e))
	}
	mean, variance, err := tr.Moments(e, 2, func(_, x, _ *ad.Node) *ad.Node { return x })
	testkit.OK(err)
	old := math.Pow(.9, epochs)
	for j := range 2 {
		for _, c := range []struct {
			got  float32
			want float64
		}{{tr.Z[norm.Mean.Offset+j], (1 - old) * float64(mean[j])},
			{tr.Z[norm.Variance.Offset+j], old + (1-old)*float64(variance[j])*17/16}} {
			if !(math.Abs(float64(c.got)-c.want) <= 1e-5) { // some 20 roundings of numbers around 1
				t.Errorf("column %d: an average is %v, want %v", j, c.got, c.want)
			}
		}
	}
	var file bytes.Buffer
	testkit.OK(tr.Save(&file))
	again := trainer()
	testkit.OK(again.Load(&file))
	off := testkit.Get(again.Mean(e, func(z, x, _ *ad.Node) *ad.Node {
		return ad.Abs(ad.Sub(norm.Outputs(z, x), norm.Fixed(z, x, tr.Z[norm.Mean.Offset:][:2],
			tr.Z[norm.Variance.Offset:][:2])))
	}))
	if off > 1e-6 {
		t.Errorf("outputs by averages are off by %g", off)
	}
}

// TestMasks: masks are drawn anew for each batch, the same of the same seed, with a mean of 1 where
// they drop entries and 0 where they are normal; what is no batch has none.
func TestMasks(t *testing.T) {
	const rows, cols = 500, 40
	ps, _, e := line(rows)
	drop, noise := &nn.Mask{Cols: cols, Keep: .8}, &nn.Mask{Cols: cols}
	mean := func(m *nn.Mask, seed uint64) (losses []float64) {
		tr := nn.NewTrainer(ps, &nn.SGD{Rate: nn.Constant(0)}, rows, seed, func(z, x, _ *ad.Node) *ad.Node {
			if m.Node() == nil {
				return ad.Mean(ad.Flatten(x))
			}
			return ad.Add(ad.Mean(ad.Flatten(m.Node())), ad.Scale(0, ad.SumAll(z)))
		})
		tr.Masks = []*nn.Mask{drop, noise}
		for range 2 {
			losses = append(losses, testkit.Get(tr.Epoch(e)))
		}
		without := testkit.Get(tr.Mean(e, func(_, x, _ *ad.Node) *ad.Node {
			if m.Node() != nil {
				t.Error("there is a mask where no batch is drawn")
			}
			return nn.Dropout(x, m.Node())
		}))
		if want := testkit.Get(tr.Mean(e, func(_, x, _ *ad.Node) *ad.Node { return x })); without != want {
			t.Errorf("without a mask the mean is %g, want %g", without, want)
		}
		return losses
	}
	for _, c := range []struct {
		name            string
		mask            *nn.Mask
		mean, deviation float64 // of one number: √((1 − .8)/.8) where .8 are kept
	}{
		{"dropout", drop, 1, .5},
		{"normal", noise, 0, 1},
	} {
		a, again, other := mean(c.mask, 1), mean(c.mask, 1), mean(c.mask, 2)
		if !slices.Equal(a, again) || slices.Equal(a, other) || a[0] == a[1] {
			t.Errorf("%s: means %v and %v of one seed, %v of another", c.name, a, again, other)
		}
		for _, m := range a {
			if math.Abs(m-c.mean) > 5*c.deviation/math.Sqrt(rows*cols) {
				t.Errorf("%s: mean %g, want %g within five of its deviations", c.name, m, c.mean)
			}
		}
	}
	tr := nn.NewTrainer(ps, &nn.Adam{}, 5, 1, func(z, x, t *ad.Node) *ad.Node { return ad.SumAll(z) })
	tr.Masks = []*nn.Mask{{Cols: 3, Keep: 1.5}}
	if _, err := tr.Epoch(e); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "mask 0") {
		t.Errorf("a mask that keeps 1.5: error %v, want one that names it", err)
	}
}
