package benchmarks

import (
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// BenchmarkTape compares the gradient of a network 784-256-128-10 on 64 examples in float32 with
// Gorgonia's own: by gorgonia.Grad, on its TapeMachine. (It has no Hessian-vector product:
// gorgonia.Grad of its own result gives the first gradient again.)
func BenchmarkTape(b *testing.B) {
	const rows, classes = 64, 10
	sizes := []int{784, 256, 128, classes}
	m := models.MLP{Features: sizes[0], Outputs: classes, Hidden: sizes[1:3], ReLU: true}
	o := testkit.Get(models.NewOracle(m, drawnShard(rows, sizes[0], classes), models.Config{Float32: true}))
	p, q := m.Dims()
	x, y, dst := make([]float64, p), make([]float64, q), make([]float64, q)
	m.Start(y)
	tape := tapeGradient(rows, sizes)
	contest(b,
		contender{"ad", func() {
			y[0] += 1e-3 // another point: nothing is known of it
			testkit.OK(o.LowerGrad(dst, x, y, dsbo.Sample{Set: dsbo.Whole}))
		}},
		contender{"tape", func() { testkit.OK(tape()) }})
}

// tapeGradient returns the gradient of such a network with a decay of its weights by Gorgonia.
func tapeGradient(rows int, sizes []int) func() error {
	g, r := gorgonia.NewGraph(), rand.New(rand.NewPCG(1, 2))
	leaf := func(name string, shape ...int) *gorgonia.Node {
		v := make([]float32, tensor.Shape(shape).TotalSize())
		for i := range v {
			v[i] = .05 * float32(r.NormFloat64())
		}
		return gorgonia.NewMatrix(g, gorgonia.Float32, gorgonia.WithShape(shape...), gorgonia.WithName(name),
			gorgonia.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))))
	}
	get := testkit.Get[*gorgonia.Node]
	h, decay := leaf("examples", rows, sizes[0]), gorgonia.NewConstant(float32(.01))
	var weights gorgonia.Nodes
	var penalty *gorgonia.Node
	for i, out := range sizes[1:] {
		name := string(rune('1' + i))
		w, bias := leaf("w"+name, sizes[i], out), leaf("b"+name, 1, out)
		weights = append(weights, w, bias)
		if i > 0 {
			h = get(gorgonia.Rectify(h))
		}
		h = get(gorgonia.BroadcastAdd(get(gorgonia.Mul(h, w)), bias, nil, []byte{0}))
		square := get(gorgonia.Sum(get(gorgonia.Square(w))))
		if penalty != nil {
			square = get(gorgonia.Add(penalty, square))
		}
		penalty = square
	}
	target := leaf("targets", rows, sizes[len(sizes)-1]) // any numbers take the same time
	entropy := get(gorgonia.Sum(get(gorgonia.HadamardProd(target, get(gorgonia.Log(get(gorgonia.SoftMax(h))))))))
	testkit.Get(gorgonia.Grad(get(gorgonia.Sub(get(gorgonia.Mul(decay, penalty)), entropy)), weights...))
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(weights...))
	return func() error {
		vm.Reset()
		return vm.RunAll()
	}
}
