package ad

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

const waveRows = 3000

// A waved is a network of one hidden layer on rows of bytes or of numbers.
type waved struct {
	asBytes, float32 bool
	large            bool // processors share the parts of its one sum over the batch
}

// eachWaved runs f with all networks.
func eachWaved(f func(waved)) {
	for i := range 8 {
		f(waved{i&1 > 0, i&2 > 0, i&4 > 0})
	}
}

// derivs returns the network's derivatives and points, of a batch in any order. In each row an
// entry of y, or a constant, scales the hidden units.
func (w waved) derivs(groups []float64) (d *Derivs, x, y, v []float64) {
	features, hidden, most := 64, 24, 3
	if w.large {
		features, hidden = 200, 136
	}
	r := rand.New(rand.NewPCG(5, 6))
	bytes, numbers := make([]byte, waveRows*features), make([]float64, waveRows*features)
	for i := range bytes {
		bytes[i] = byte(r.IntN(256))
		numbers[i] = float64(bytes[i]) / 255
	}
	table := testkit.Get(FloatTable(waveRows, features, numbers))
	if w.asBytes {
		table = testkit.Get(ByteTable(waveRows, features, bytes, 1./255))
	}
	q := features*hidden + hidden + most
	d = testkit.Get(Differentiate(Loss{P: 1, Q: q, Rows: waveRows, Float32: w.float32,
		Inputs: []Input{{Name: "X", Shape: []int{features}, Batch: true}, {Name: "group", Batch: true}},
		Build: func(x, y *Node, in []*Node) *Node {
			h := Tanh(MatMul(in[0], Part(y, 0, features, hidden), false, false))
			if w.large {
				s := Gather(NewConst(y, "scales", most, 1, []float64{1, .5, 2}), in[1])
				return Mean(Square(RowScale(h, Flatten(s))))
			}
			s := Gather(Part(y, q-most, most, 1), in[1])
			out := MatVec(RowScale(h, Flatten(s)), PartVec(y, features*hidden, hidden), false)
			return Add(Mean(Square(out)), Mul(SumAll(x), SumAll(Square(y))))
		}}))
	order := r.Perm(waveRows)
	testkit.OK(d.Bind("X", table, order))
	testkit.OK(d.Bind("group", testkit.Get(FloatTable(waveRows, 1, groups)), nil))
	y, v = make([]float64, q), make([]float64, q)
	for i := range y {
		y[i], v[i] = .1*r.NormFloat64(), r.NormFloat64()
	}
	return d, []float64{.01}, y, v
}

// onProcessors runs f with some numbers of processors.
func onProcessors(t *testing.T, f func(processors int)) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for _, n := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(n)
		f(n)
	}
}

// TestWaves: processors that share the tiles of a pass give the bits of one.
func TestWaves(t *testing.T) {
	groups := make([]float64, waveRows)
	for i := range groups {
		groups[i] = float64(i % 3)
	}
	eachWaved(func(w waved) {
		var want []float64
		alone := 0
		onProcessors(t, func(n int) {
			d, x, y, v := w.derivs(groups)
			p, q := len(x), len(y)
			got := make([]float64, 2*p+2*q+1)
			got[0] = testkit.Get(d.ValueGrad(got[1:][:p], got[1+p:][:q], x, y))
			testkit.OK(d.HVP(got[1+p+q:][:q], x, y, v))
			testkit.OK(d.JVP(got[1+p+2*q:], x, y, v))
			if list, _ := poolOf(d.Program).Scratch(); n == 1 {
				want, alone = got, len(list)
			} else if len(list) <= alone {
				t.Errorf("%d processors have %d blocks of memory, as one has: they share no tiles", n, len(list))
			}
			sameBits(t, fmt.Sprintf("%+v, %d processors", w, n), got, want)
		})
	})
}

// TestErrorsOfWaves: the first of two rows that are wrong is in the error, whoever finds which, and
// what comes after has the bits of before.
func TestErrorsOfWaves(t *testing.T) {
	groups := make([]float64, waveRows)
	groups[1200], groups[2900] = 3, 4
	for _, w := range []waved{{}, {large: true}} {
		onProcessors(t, func(n int) {
			d, x, y, v := w.derivs(groups)
			hv, again := make([]float64, len(y)), make([]float64, len(y))
			for range 3 {
				wantError(t, d.HVP(hv, x, y, v), dsbo.ErrShape, "that of row 1200 is 3")
			}
			right := testkit.Get(FloatTable(waveRows, 1, make([]float64, waveRows)))
			testkit.OK(d.Bind("group", right, nil))
			testkit.OK(d.HVP(hv, x, y, v))
			fresh, _, _, _ := w.derivs(make([]float64, waveRows))
			testkit.OK(fresh.HVP(again, x, y, v))
			sameBits(t, fmt.Sprintf("after errors, %+v, %d processors", w, n), hv, again)
		})
	}
}
