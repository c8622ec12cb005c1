package ad

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"dsbo/internal/testkit"
)

// TestSameBitsOnManyProcessors: a network whose products are large enough to be shared has the
// same derivatives on any number of processors.
func TestSameBitsOnManyProcessors(t *testing.T) {
	const rows, in, hidden = 96, 301, 517 // of products that are shared, with parts that are not whole
	q := hidden*in + hidden*hidden
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64() / 20
		}
		return v
	}
	x, y, v, table := []float64{.3}, normal(q), normal(q), testkit.Get(FloatTable(rows, in, normal(rows*in)))
	for _, single := range []bool{true, false} {
		if testing.Short() && !single {
			break
		}
		var want [4][]float64
		for _, processors := range map[bool][]int{true: {1, 2, 4}, false: {1, 3}}[single] {
			d := testkit.Get(Differentiate(
				Loss{P: 1, Q: q, Rows: rows, Float32: single,
					Inputs: []Input{{Name: "X", Shape: []int{in}, Batch: true}},
					Build: func(x, y *Node, data []*Node) *Node {
						h := ReLU(MatMul(data[0], Part(y, 0, hidden, in), false, true))
						o := Outputs(Tanh(MatMul(h, Part(y, hidden*in, hidden, hidden), false, true)))
						return Add(SumAll(Square(o)), ScaleBy(SumAll(Exp(x)), Dot(y, y)))
					}}))
			testkit.OK(d.Bind("X", table, nil))
			got := [4][]float64{make([]float64, q), make([]float64, q), make([]float64, 1), make([]float64, q)}
			before := runtime.GOMAXPROCS(processors)
			err := errors.Join(d.Grad(nil, got[0], x, y), d.HVP(got[1], x, y, v), d.JVP(got[2], x, y, v),
				d.GaussNewton(got[3], x, y, v))
			runtime.GOMAXPROCS(before)
			testkit.OK(err)
			if processors == 1 {
				want = got
			}
			for i, what := range []string{"gradient", "HVP", "JVP", "Gauss-Newton product"} {
				sameBits(t, fmt.Sprintf("%s, float32=%v, %d processors", what, single, processors), got[i], want[i])
			}
		}
	}
}
