package benchmarks

import (
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/ad"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// task is one of the paper's two problems with random data of its sizes.
type task struct {
	m, d, c   int // rows of a minibatch, features, classes (1 in the logistic task)
	floats    []float64
	bytes     []uint8
	labels    []uint8
	signs     []float64
	x, y, v   []float64
	idx       []int // the current minibatch, nil for all rows
	minibatch [][]int
	turn      int
}

func newTask(rows, m, d, c int, asBytes bool) *task {
	r := rand.New(rand.NewPCG(1, 2))
	k := &task{m: m, d: d, c: c}
	for range rows * d {
		if asBytes {
			k.bytes = append(k.bytes, uint8(r.IntN(256)*r.IntN(2)))
		} else {
			k.floats = append(k.floats, r.NormFloat64())
		}
	}
	for range rows {
		k.labels = append(k.labels, uint8(r.IntN(max(c, 2))))
		k.signs = append(k.signs, float64(2*r.IntN(2)-1))
	}
	normal := func(n int) []float64 {
		a := make([]float64, n)
		for i := range a {
			a[i] = .1 * r.NormFloat64()
		}
		return a
	}
	k.x, k.y, k.v = normal(d), normal(c*d), normal(c*d)
	for range 8 {
		var idx []int
		if m < rows {
			idx = r.Perm(rows)[:m]
		}
		k.minibatch = append(k.minibatch, idx)
	}
	return k
}

// next draws the next minibatch and moves y and v, so that nothing of the last call can be
// used again.
func (k *task) next() {
	k.turn++
	k.idx = k.minibatch[k.turn%len(k.minibatch)]
	k.y[k.turn%len(k.y)] += 1e-3
	k.v[k.turn%len(k.v)] += 1e-3
}

// derivs is the task's lower loss by ad.
func (k *task) derivs(float32 bool) *engine {
	rows := len(k.labels)
	var x, t *ad.Table
	if k.bytes != nil {
		x = testkit.Get(ad.ByteTable(rows, k.d, k.bytes, 1./255))
	} else {
		x = testkit.Get(ad.FloatTable(rows, k.d, k.floats))
	}
	var m models.Model
	inputs := []ad.Input{{Name: "X", Shape: []int{k.d}, Batch: true}, {Name: "T", Batch: true}}
	if k.c > 1 {
		t = testkit.Get(ad.LabelTable(k.labels, k.c))
		inputs[1].Shape = []int{k.c}
		m = models.Softmax{Features: k.d, Classes: k.c}
	} else {
		t = testkit.Get(ad.FloatTable(rows, 1, k.signs))
		m = models.Logistic{Features: k.d}
	}
	d := testkit.Get(ad.Differentiate(ad.Loss{P: k.d, Q: k.c * k.d, Rows: k.m, Float32: float32, Inputs: inputs,
		Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node {
			return m.Lower(x, y, models.Batch{Rows: k.m, X: in[0], T: in[1]})
		}}))
	return &engine{k, d, x, t}
}

// engine asks ad for a task's derivatives on its current minibatch.
type engine struct {
	*task
	d    *ad.Derivs
	x, t *ad.Table
}

// bound returns the derivatives on the current minibatch.
func (e *engine) bound() *ad.Derivs {
	testkit.OK(e.d.Bind("X", e.x, e.idx))
	testkit.OK(e.d.Bind("T", e.t, e.idx))
	return e.d
}

func (e *engine) grad(dst []float64) { testkit.OK(e.bound().Grad(nil, dst, e.task.x, e.y)) }
func (e *engine) hvp(dst []float64)  { testkit.OK(e.bound().HVP(dst, e.task.x, e.y, e.v)) }
func (e *engine) jvp(dst []float64)  { testkit.OK(e.bound().JVP(dst, e.task.x, e.y, e.v)) }

// derivative is one derivative, by ad and by hand.
type derivative struct {
	name                string
	length              int
	ad, kernels, gonums func(dst []float64)
}

// tileRows is the number of rows that the formulas on the kernels take at once; those on gonum
// take all.
const tileRows = 32

func (k *task) derivatives(float32 bool) []derivative {
	e := k.derivs(float32)
	ds := []derivative{
		{name: "gradient", length: k.c * k.d, ad: e.grad},
		{name: "HVP", length: k.c * k.d, ad: e.hvp},
		{name: "JVP", length: k.d, ad: e.jvp},
	}
	if float32 {
		byHand(k, ds, newHand(k, kernels[float32type](), tileRows), newHand(k, gonum32(), k.m))
	} else {
		byHand(k, ds, newHand(k, kernels[float64](), tileRows), newHand(k, gonum64(), k.m))
	}
	return ds
}

type float32type = float32

func byHand[T float](k *task, ds []derivative, own, blas *hand[T]) {
	for i, f := range []func(h *hand[T], dst []float64){(*hand[T]).softmaxGrad, (*hand[T]).softmaxHVP,
		(*hand[T]).softmaxJVP} {
		if k.c == 1 {
			f = []func(h *hand[T], dst []float64){(*hand[T]).logisticGrad, (*hand[T]).logisticHVP,
				(*hand[T]).logisticJVP}[i]
		}
		ds[i].kernels = func(dst []float64) { f(own, dst) }
		ds[i].gonums = func(dst []float64) { f(blas, dst) }
	}
}

var tasks = []struct {
	name    string
	float32 bool
	make    func(share int) *task // of the examples, one in a number
}{
	{"mnist-f32", true, func(share int) *task { return newTask(3750/share, 1000/share, 784, 10, true) }},
	{"mnist-f64", false, func(share int) *task { return newTask(3750/share, 1000/share, 784, 10, true) }},
	{"logistic-p200-f64", false, func(share int) *task { return newTask(500/share, 500/share, 200, 1, false) }},
}

// TestByHand: the three ways compute the same thing.
func TestByHand(t *testing.T) {
	for _, c := range tasks {
		k := c.make(5)
		tol := 1e-12
		if c.float32 {
			tol = 1e-4
		}
		for _, d := range k.derivatives(c.float32) {
			k.next()
			want := make([]float64, d.length)
			d.ad(want)
			within := tol * norm(want)
			for _, by := range []func(dst []float64){d.kernels, d.gonums} {
				got := make([]float64, d.length)
				by(got)
				for i := range got {
					if !(math.Abs(got[i]-want[i]) <= within) {
						t.Fatalf("%s, %s: entry %d is %v by hand and %v by ad", c.name, d.name, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// BenchmarkDerivatives compares ad with the formulas by hand. Each call has a new minibatch and a
// new point.
func BenchmarkDerivatives(b *testing.B) {
	for _, c := range tasks {
		k := c.make(1)
		for _, d := range k.derivatives(c.float32) {
			dst := make([]float64, d.length)
			b.Run(c.name+"/"+d.name, func(b *testing.B) {
				contest(b,
					contender{"ad", func() { k.next(); d.ad(dst) }},
					contender{"kernels", func() { k.next(); d.kernels(dst) }},
					contender{"gonum", func() { k.next(); d.gonums(dst) }})
			})
		}
	}
}

// BenchmarkProductOverGradient compares ad's products with ad's gradient of the same loss.
func BenchmarkProductOverGradient(b *testing.B) {
	for _, c := range tasks {
		k := c.make(1)
		e := k.derivs(c.float32)
		dy, dx := make([]float64, len(k.y)), make([]float64, len(k.x))
		b.Run(c.name, func(b *testing.B) {
			contest(b,
				contender{"HVP", func() { k.next(); e.hvp(dy) }},
				contender{"gradient", func() { k.next(); e.grad(dy) }},
				contender{"JVP", func() { k.next(); e.jvp(dx) }})
		})
	}
}
