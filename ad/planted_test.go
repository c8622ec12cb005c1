package ad_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/models/modeltest"
)

// ops are what a small network is made of. A test replaces one by an op with the same values and a
// mistake in its derivatives.
type ops struct {
	exp, tanh, relu func(a *ad.Node) *ad.Node
	norm            func(a *ad.Node) *ad.Node // of rows
	conv            func(images, filters *ad.Node, w ad.Window) *ad.Node
	bias            func(a, v *ad.Node) *ad.Node
	softmaxLoss     func(z, t *ad.Node) *ad.Node // sum over the rows
	upperX          func(x *ad.Node) *ad.Node    // what x adds to the upper loss
}

func rightOps() ops {
	return ops{ad.Exp, ad.Tanh, ad.ReLU, norm(func(a *ad.Node) *ad.Node { return a }), conv, ad.AddRow,
		softmaxLoss, ad.SumAll}
}

// norm gives each row length 1; statistics returns the lengths.
func norm(statistics func(a *ad.Node) *ad.Node) func(a *ad.Node) *ad.Node {
	return func(a *ad.Node) *ad.Node {
		return ad.RowScale(a, ad.Exp(ad.Scale(-.5, ad.Log(statistics(ad.Offset(.1, ad.RowDot(a, a)))))))
	}
}

func conv(images, filters *ad.Node, w ad.Window) *ad.Node {
	return ad.MatMul(ad.Im2col(images, w), filters, false, true)
}

func softmaxLoss(z, t *ad.Node) *ad.Node { return ad.Sub(ad.SumAll(ad.RowLogSumExp(z)), ad.Dot(t, z)) }

// network is a convolution of side×side pixels with filters of 3×3, a dense layer, and three
// classes.
type network struct {
	ops
	side, filters, units int
}

func (n network) window() ad.Window {
	return ad.Window{H: n.side, W: n.side, C: 1, KH: 3, KW: 3, Stride: 2}
}

func (n network) sizes() (taps, maps, q int) {
	w := n.window()
	taps, maps = n.filters*9, w.OutH()*w.OutW()*n.filters
	return taps, maps, taps + n.units*(maps+1) + 3*(n.units+1)
}

func (n network) Dims() (p, q int) {
	_, _, q = n.sizes()
	return 2, q
}

func (n network) fit(y *ad.Node, b models.Batch) *ad.Node {
	taps, maps, q := n.sizes()
	h := n.tanh(ad.Reshape(n.conv(b.X, ad.Part(y, 0, n.filters, 9), n.window()), b.Rows, maps))
	h = ad.MatMul(h, ad.Part(y, taps, n.units, maps), false, true)
	off := taps + n.units*maps
	h = n.norm(n.relu(n.bias(h, ad.PartVec(y, off, n.units))))
	z := ad.AddRow(ad.MatMul(h, ad.Part(y, off+n.units, 3, n.units), false, true), ad.PartVec(y, q-3, 3))
	return ad.Scale(1/float64(b.Rows), n.softmaxLoss(z, b.T))
}

func (n network) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(n.fit(y, b), n.upperX(ad.Square(x)))
}

func (n network) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	taps, _, q := n.sizes()
	filters, dense := ad.PartVec(y, 0, taps), ad.PartVec(y, taps, q-taps)
	penalty := ad.Add(ad.Place(ad.Dot(filters, filters), 0, 2), ad.Place(ad.Dot(dense, dense), 1, 2))
	return ad.Add(n.fit(y, b), ad.Scale(.01, ad.Dot(n.exp(x), penalty)))
}

func (n network) Start(y []float64) {
	r := rand.New(rand.NewPCG(2, 2))
	for j := range y {
		y[j] = .2 * r.NormFloat64()
	}
}

func pictures(rows, side int) data.Shard {
	r := rand.New(rand.NewPCG(6, uint64(side)))
	set := func(rows int) data.Examples {
		v, labels := make([]float64, rows*side*side), make([]uint8, rows)
		for i := range v {
			v[i] = max(0, r.NormFloat64())
		}
		for i := range labels {
			labels[i] = uint8(r.IntN(3))
		}
		return data.Examples{X: testkit.Get(ad.FloatTable(rows, side*side, v)),
			Target: testkit.Get(ad.LabelTable(labels, 3))}
	}
	return data.Shard{Train: set(rows), Val: set(rows - 7)}
}

// wrongDerivative returns f's values with d's derivatives.
func wrongDerivative(f, d *ad.Node) *ad.Node { return ad.Add(d, ad.StopGradient(ad.Sub(f, d))) }

// bent returns f(a) with the right first derivative and a second one that is off by part·bend;
// both are elementwise.
func bent(f, a, bend *ad.Node, part float64) *ad.Node {
	off := ad.Sub(a, ad.StopGradient(a))
	return ad.Add(f, ad.Scale(.5*part, ad.Mul(ad.StopGradient(bend), ad.Square(off))))
}

// alarms collects what the suite says of a model, up to the alarm that is awaited.
type alarms struct {
	testing.TB
	awaited string // how it begins; "" awaits none
	all     []string
	heard   bool // the awaited one
}

func (a *alarms) Helper() {}
func (a *alarms) Errorf(format string, args ...any) {
	alarm := fmt.Sprintf(format, args...)
	a.all = append(a.all, alarm)
	if a.heard = a.awaited != "" && strings.HasPrefix(alarm, a.awaited); a.heard {
		runtime.Goexit() // what else the suite would say is nothing new
	}
}

// listen runs the suite on a model, to its end or to the awaited alarm.
func (a *alarms) listen(m models.Model, s data.Shard) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		modeltest.TestModel(a, m, s)
	}()
	<-done
}

// TestPlantedMistakes: the suite for models finds each mistake that an op can make in its
// derivatives, in a network of some other ops, and says in which derivative it is. Mistakes of
// models themselves are planted beside the suite.
func TestPlantedMistakes(t *testing.T) {
	tanhBend := func(a *ad.Node) *ad.Node { // tanh″
		h := ad.Tanh(a)
		return ad.Scale(-2, ad.Mul(h, ad.Offset(1, ad.Neg(ad.Square(h)))))
	}
	for i, c := range []struct {
		name  string
		plant func(o *ops)
		says  string // how an alarm must begin; "": the network is right
		large bool   // plant it in a large network too
	}{
		{"none", func(*ops) {}, "", true},
		{"sign of tanh's derivative", func(o *ops) {
			o.tanh = func(a *ad.Node) *ad.Node { return wrongDerivative(ad.Tanh(a), ad.Neg(ad.Tanh(a))) }
		}, "lower loss: ∇_y", false},
		{"tanh's derivative, 1 %", func(o *ops) {
			o.tanh = func(a *ad.Node) *ad.Node { return wrongDerivative(ad.Tanh(a), ad.Scale(1.01, ad.Tanh(a))) }
		}, "lower loss: ∇_y", false},
		{"tanh's second derivative, 1 %", func(o *ops) {
			o.tanh = func(a *ad.Node) *ad.Node { return bent(ad.Tanh(a), a, tanhBend(a), .01) }
		}, "lower loss: HVP", true},
		{"tanh's second derivative, 0", func(o *ops) {
			o.tanh = func(a *ad.Node) *ad.Node { return bent(ad.Tanh(a), a, tanhBend(a), -1) }
		}, "lower loss: HVP", false},
		{"exp's derivative", func(o *ops) {
			o.exp = func(a *ad.Node) *ad.Node { return wrongDerivative(ad.Exp(a), a) }
		},
			"lower loss: ∇_x", false},
		{"exp is stopped", func(o *ops) { o.exp = func(a *ad.Node) *ad.Node { return ad.StopGradient(ad.Exp(a)) } },
			"lower loss: ∇_x", false},
		{"the upper loss's x is stopped",
			func(o *ops) { o.upperX = func(a *ad.Node) *ad.Node { return ad.SumAll(ad.StopGradient(a)) } },
			"upper loss: ∇_x", false},
		{"ReLU leaks backwards", func(o *ops) {
			o.relu = func(a *ad.Node) *ad.Node {
				return wrongDerivative(ad.ReLU(a), ad.Add(ad.ReLU(a), ad.Scale(-.01, ad.ReLU(ad.Neg(a)))))
			}
		}, "lower loss: ∇_y", false},
		{"ReLU bends", func(o *ops) {
			o.relu = func(a *ad.Node) *ad.Node { return bent(ad.ReLU(a), a, ad.Step(a), .01) }
		}, "lower loss: HVP", false},
		{"the statistics of a norm are stopped", func(o *ops) { o.norm = norm(ad.StopGradient) },
			"lower loss: ∇_y", false},
		{"a norm forgets how its statistics bend", func(o *ops) {
			o.norm = norm(func(a *ad.Node) *ad.Node { return bent(a, a, ad.Square(a), .01) })
		}, "lower loss: HVP", false},
		{"a convolution forgets its filters", func(o *ops) {
			o.conv = func(images, filters *ad.Node, w ad.Window) *ad.Node {
				return conv(images, ad.StopGradient(filters), w)
			}
		}, "lower loss: ∇_y", false},
		{"a bias is stopped", func(o *ops) {
			o.bias = func(a, v *ad.Node) *ad.Node { return ad.AddRow(a, ad.StopGradient(v)) }
		},
			"lower loss: ∇_y", true},
		{"a term of the loss is stopped", func(o *ops) {
			o.softmaxLoss = func(z, t *ad.Node) *ad.Node {
				return ad.Sub(ad.SumAll(ad.RowLogSumExp(z)), ad.StopGradient(ad.Dot(t, z)))
			}
		}, "lower loss: ∇_y", false},
		{"softmax's second derivative, 1 %", func(o *ops) {
			o.softmaxLoss = func(z, t *ad.Node) *ad.Node {
				return ad.SumAll(bent(ad.Sub(softmax(z), ad.Mul(t, z)), z, ad.RowSoftmax(z), .01))
			}
		}, "lower loss: HVP", false},
	} {
		// The large one has ten thousand parameters, of which a mistake may be in few.
		for _, size := range []network{{side: 7, filters: 4, units: 8}, {side: 20, filters: 8, units: 16}} {
			if size.side > 7 && !c.large || testing.Short() && (size.side > 7 || i%4 > 0) {
				continue
			}
			size.ops = rightOps()
			c.plant(&size.ops)
			a := &alarms{TB: t}
			if c.says != "" {
				a.awaited = "derivatives: " + c.says
			}
			a.listen(size, pictures(30, size.side))
			switch {
			case c.says == "" && len(a.all) > 0:
				t.Errorf("the right network fails:\n%s", strings.Join(a.all, "\n"))
			case c.says != "" && !a.heard:
				t.Errorf("%s, side %d: the suite must say %q; it says\n%s", c.name, size.side, c.says,
					strings.Join(a.all, "\n"))
			}
		}
	}
}

// softmax returns the log of the sum of the exponentials of each row, spread over its entries.
func softmax(z *ad.Node) *ad.Node {
	return ad.Scale(1./3, ad.RepeatCol(ad.RowLogSumExp(z), 3))
}
