package ad_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/ad/adtest"
	"dsbo/internal/testkit"
)

// ops are what a small network is made of. A test replaces one by an op with the same values and a
// mistake in its derivatives.
type ops struct {
	exp, tanh, relu func(a *ad.Node) *ad.Node
	norm            func(a *ad.Node) *ad.Node // of rows
	conv            func(images, filters *ad.Node, w ad.Window) *ad.Node
	bias            func(a, v *ad.Node) *ad.Node
	softmaxLoss     func(z, t *ad.Node) *ad.Node // sum over the rows
	squareX         func(x *ad.Node) *ad.Node    // what the squares of x add to the loss
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

// loss is cross-entropy with a penalty for the filters and one for the dense layers.
func (n network) loss(rows int) ad.Loss {
	taps, maps, q := n.sizes()
	inputs := []ad.Input{{Name: "images", Shape: []int{n.side * n.side}, Batch: true},
		{Name: "classes", Shape: []int{3}, Batch: true}}
	return ad.Loss{P: 2, Q: q, Rows: rows, Inputs: inputs, Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node {
		h := n.tanh(ad.Reshape(n.conv(in[0], ad.Part(y, 0, n.filters, 9), n.window()), rows, maps))
		h = ad.MatMul(h, ad.Part(y, taps, n.units, maps), false, true)
		off := taps + n.units*maps
		h = n.norm(n.relu(n.bias(h, ad.PartVec(y, off, n.units))))
		z := ad.AddRow(ad.MatMul(h, ad.Part(y, off+n.units, 3, n.units), false, true), ad.PartVec(y, q-3, 3))
		filters, dense := ad.PartVec(y, 0, taps), ad.PartVec(y, taps, q-taps)
		penalty := ad.Add(ad.Place(ad.Dot(filters, filters), 0, 2), ad.Place(ad.Dot(dense, dense), 1, 2))
		return ad.Sum(ad.Scale(1/float64(rows), n.softmaxLoss(z, in[1])), ad.Scale(.01, ad.Dot(n.exp(x), penalty)),
			n.squareX(ad.Square(x)))
	}}
}

// measure returns what the harness says at a few points, on pictures of noise, or at the first at
// which it finds a mistake.
func (n network) measure() (all []adtest.Report) {
	const rows = 30
	r := rand.New(rand.NewPCG(6, uint64(n.side)))
	pixels, labels := make([]float64, rows*n.side*n.side), make([]uint8, rows)
	for i := range pixels {
		pixels[i] = max(0, r.NormFloat64())
	}
	for i := range labels {
		labels[i] = uint8(r.IntN(3))
	}
	d := testkit.Get(ad.Differentiate(n.loss(rows)))
	testkit.OK(errors.Join(d.Bind("images", testkit.Get(ad.FloatTable(rows, n.side*n.side, pixels)), nil),
		d.Bind("classes", testkit.Get(ad.LabelTable(labels, 3)), nil)))
	_, _, q := n.sizes()
	for range 3 {
		x, y := []float64{r.NormFloat64(), r.NormFloat64()}, make([]float64, q)
		for j := range y {
			y[j] = .2 * r.NormFloat64()
		}
		r := testkit.Get(adtest.Measure(d, x, y))
		if all = append(all, r); r.Err() != nil && !r.Vague() {
			break
		}
	}
	return all
}

// wrongDerivative returns f's values with d's derivatives.
func wrongDerivative(f, d *ad.Node) *ad.Node { return ad.Add(d, ad.StopGradient(ad.Sub(f, d))) }

// bent returns f(a) with the right first derivative and a second one that is off by part·bend;
// both are elementwise.
func bent(f, a, bend *ad.Node, part float64) *ad.Node {
	off := ad.Sub(a, ad.StopGradient(a))
	return ad.Add(f, ad.Scale(.5*part, ad.Mul(ad.StopGradient(bend), ad.Square(off))))
}

// TestPlantedMistakes: the harness finds each mistake that an op can make in its derivatives, in a
// network of some other ops, and names the derivative. Mistakes of models themselves are planted
// beside the suite for models.
func TestPlantedMistakes(t *testing.T) {
	tanhBend := func(a *ad.Node) *ad.Node { // tanh″
		h := ad.Tanh(a)
		return ad.Scale(-2, ad.Mul(h, ad.Offset(1, ad.Neg(ad.Square(h)))))
	}
	for i, c := range []struct {
		name  string
		plant func(o *ops)
		says  string // how an error must begin; "": the network is right
		large bool   // plant it in a large network too
	}{
		{"none", func(*ops) {}, "", true},
		{"sign of tanh's derivative", func(o *ops) {
			o.tanh = func(a *ad.Node) *ad.Node { return wrongDerivative(ad.Tanh(a), ad.Neg(ad.Tanh(a))) }
		}, "∇_y", false},
		{"tanh's derivative, 1 %", func(o *ops) {
			o.tanh = func(a *ad.Node) *ad.Node { return wrongDerivative(ad.Tanh(a), ad.Scale(1.01, ad.Tanh(a))) }
		}, "∇_y", false},
		{"tanh's second derivative, 1 %", func(o *ops) {
			o.tanh = func(a *ad.Node) *ad.Node { return bent(ad.Tanh(a), a, tanhBend(a), .01) }
		}, "HVP", true},
		{"tanh's second derivative, 0", func(o *ops) {
			o.tanh = func(a *ad.Node) *ad.Node { return bent(ad.Tanh(a), a, tanhBend(a), -1) }
		}, "HVP", false},
		{"exp's derivative", func(o *ops) {
			o.exp = func(a *ad.Node) *ad.Node { return wrongDerivative(ad.Exp(a), a) }
		}, "∇_x", false},
		{"exp is stopped", func(o *ops) { o.exp = func(a *ad.Node) *ad.Node { return ad.StopGradient(ad.Exp(a)) } },
			"∇_x", false},
		{"what x adds is stopped",
			func(o *ops) { o.squareX = func(a *ad.Node) *ad.Node { return ad.SumAll(ad.StopGradient(a)) } },
			"∇_x", false},
		{"ReLU leaks backwards", func(o *ops) {
			o.relu = func(a *ad.Node) *ad.Node {
				return wrongDerivative(ad.ReLU(a), ad.Add(ad.ReLU(a), ad.Scale(-.01, ad.ReLU(ad.Neg(a)))))
			}
		}, "∇_y", false},
		{"ReLU bends", func(o *ops) {
			o.relu = func(a *ad.Node) *ad.Node { return bent(ad.ReLU(a), a, ad.Step(a), .01) }
		}, "HVP", false},
		{"the statistics of a norm are stopped", func(o *ops) { o.norm = norm(ad.StopGradient) }, "∇_y", false},
		{"a norm forgets how its statistics bend", func(o *ops) {
			o.norm = norm(func(a *ad.Node) *ad.Node { return bent(a, a, ad.Square(a), .01) })
		}, "HVP", false},
		{"a convolution forgets its filters", func(o *ops) {
			o.conv = func(images, filters *ad.Node, w ad.Window) *ad.Node {
				return conv(images, ad.StopGradient(filters), w)
			}
		}, "∇_y", false},
		{"a bias is stopped", func(o *ops) {
			o.bias = func(a, v *ad.Node) *ad.Node { return ad.AddRow(a, ad.StopGradient(v)) }
		}, "∇_y", true},
		{"a term of the loss is stopped", func(o *ops) {
			o.softmaxLoss = func(z, t *ad.Node) *ad.Node {
				return ad.Sub(ad.SumAll(ad.RowLogSumExp(z)), ad.StopGradient(ad.Dot(t, z)))
			}
		}, "∇_y", false},
		{"softmax's second derivative, 1 %", func(o *ops) {
			o.softmaxLoss = func(z, t *ad.Node) *ad.Node {
				return ad.SumAll(bent(ad.Sub(softmax(z), ad.Mul(t, z)), z, ad.RowSoftmax(z), .01))
			}
		}, "HVP", false},
	} {
		// The large one has ten thousand parameters, of which a mistake may be in few.
		for _, size := range []network{{side: 7, filters: 4, units: 8}, {side: 20, filters: 8, units: 16}} {
			if size.side > 7 && !c.large || testing.Short() && (size.side > 7 || i%4 > 0) {
				continue
			}
			size.ops = rightOps()
			c.plant(&size.ops)
			t.Run(fmt.Sprintf("%s, side %d", c.name, size.side), func(t *testing.T) {
				reports, found, right := size.measure(), 0, 0
				for _, r := range reports {
					switch err := r.Err(); {
					case err == nil:
						right++
					case c.says != "" && !r.Vague() && strings.HasPrefix(err.Error(), c.says):
						found++
					case !r.Vague():
						t.Errorf("error %v", err)
					}
				}
				if c.says == "" && right == 0 || c.says != "" && found == 0 {
					t.Errorf("the harness must say %q; it says\n%v", c.says, reports)
				}
			})
		}
	}
}

// softmax returns the log of the sum of the exponentials of each row, spread over its entries.
func softmax(z *ad.Node) *ad.Node {
	return ad.Scale(1./3, ad.RepeatCol(ad.RowLogSumExp(z), 3))
}
