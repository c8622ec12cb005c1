package ad

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"dsbo/internal/testkit"
)

// state is all that a program's results are a function of: choices among a few points, vectors and
// minibatches.
type state struct{ x, y, v, batch int }

// walker is a program with the choices.
type walker struct {
	k       *task
	x, y, v [3][]float64
	batches [3][]int
}

const minibatch = 20 // in tiles of 8

func newWalker(t testing.TB) *walker {
	w := &walker{k: newTask(50, 6, 4, 1)}
	r := rand.New(rand.NewPCG(8, 9))
	for i := range 3 {
		for _, to := range []*[]float64{&w.x[i], &w.y[i], &w.v[i]} {
			*to = normals(r, 24)
		}
		w.x[i] = w.x[i][:6]
		w.batches[i] = r.Perm(50)[:minibatch]
	}
	// Points that differ little: in one entry, and in the sign of zeros alone.
	copy(w.y[1], w.y[0])
	w.y[1][5]++
	clear(w.v[0])
	clear(w.v[1])
	w.v[1][3] = math.Copysign(0, -1)
	return w
}

func (w *walker) program(t testing.TB) *Derivs {
	l := w.k.softmaxLoss()
	l.Rows = minibatch
	// As softmaxLoss, with 1/m of its own, and a term in which x and y meet the data.
	l.Build = func(x, y *Node, in []*Node) *Node {
		wm := Part(y, 0, 4, 6)
		logits := MatMul(ColScale(in[0], Tanh(x)), wm, false, true)
		ce := Mean(Sub(RowLogSumExp(logits), RowDot(in[1], logits)))
		return Add(ce, Scale(.1, SumAll(ColScale(Square(wm), Exp(x)))))
	}
	d := testkit.Get(Differentiate(l))
	setTile(d.Program, 8)
	return d
}

// derivative sets the state and returns one derivative.
func (w *walker) derivative(t rapid.TB, d *Derivs, s state, what string) []float64 {
	for _, name := range []string{"X", "T"} {
		testkit.OK(d.Bind(name, w.k.tables[name], w.batches[s.batch]))
	}
	x, y, v := w.x[s.x], w.y[s.y], w.v[s.v]
	dst := make([]float64, 24)
	var err error
	switch what {
	case "value":
		dst[0], err = d.Value(x, y)
	case "∇_x":
		err = d.Grad(dst[:6], nil, x, y)
	case "∇_y":
		err = d.Grad(nil, dst, x, y)
	case "both":
		dst = make([]float64, 30)
		err = d.Grad(dst[24:], dst[:24], x, y)
	case "HVP":
		err = d.HVP(dst, x, y, v)
	case "JVP":
		err = d.JVP(dst[:6], x, y, v)
	case "Hessian":
		dst = make([]float64, 24*24)
		err = d.Hessian(dst, x, y)
	case "Jacobian":
		dst = make([]float64, 6*24)
		err = d.Jacobian(dst, x, y)
	}
	testkit.OK(err)
	return dst
}

// TestSameBitsAfterAnyHistory: what a program was asked before, in which order its plans were
// made, and which of x, y, v and the batch have changed since, leaves no trace in the result. Nor
// does what another program of the same pool, at this point or another, was asked between.
func TestSameBitsAfterAnyHistory(t *testing.T) {
	w := newWalker(t)
	fresh := map[string][]float64{}
	want := func(s state, what string) []float64 {
		key := fmt.Sprint(s, what)
		if fresh[key] == nil {
			fresh[key] = w.derivative(t, w.program(t), s, what)
		}
		return fresh[key]
	}
	rapid.Check(t, func(rt *rapid.T) {
		var pool Pool
		first := w.program(t)
		programs := [2]*Derivs{first.Fork(&Workspace{Pool: &pool}), first.Fork(&Workspace{Pool: &pool})}
		var states [2]state
		choice := rapid.IntRange(0, 2)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			which := rapid.IntRange(0, 1).Draw(rt, "program")
			d, s := programs[which], &states[which]
			switch rapid.SampledFrom([]string{"x", "y", "v", "batch", "nothing"}).Draw(rt, "change") {
			case "x":
				s.x = choice.Draw(rt, "x")
			case "y":
				s.y = choice.Draw(rt, "y")
			case "v":
				s.v = choice.Draw(rt, "v")
			case "batch":
				s.batch = choice.Draw(rt, "batch")
			}
			what := rapid.SampledFrom(
				[]string{"value", "∇_x", "∇_y", "both", "HVP", "JVP", "Hessian", "Jacobian"}).Draw(rt, "ask")
			sameBits(rt, fmt.Sprintf("%s at %+v", what, *s), w.derivative(rt, d, *s, what), want(*s, what))
		}
	})
}

// TestDirectionAlone: where v alone changes, no product is of the v before, in any order.
func TestDirectionAlone(t *testing.T) {
	w, asked := newWalker(t), []string{"HVP", "JVP"}
	for order := range 1 << 6 { // every order of six products
		d := w.program(t)
		for k := range 6 {
			what, s := asked[order>>k&1], state{v: 2 * (k / 2 % 2)}
			sameBits(t, fmt.Sprintf("%s at %+v, number %d of order %b", what, s, k, order),
				w.derivative(t, d, s, what), w.derivative(t, w.program(t), s, what))
		}
	}
}
