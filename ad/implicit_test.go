package ad

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// implicits are the cases of implicit nodes. Their solvers come as near as rounding lets them, for
// differences of values.
var implicits = []opCase{
	{"ArgMin", func(k *kit) *Node {
		return ArgMin(bowl, Uniform(0, k.vec(3)), []*Node{k.vec(3), k.vec(3)}, Solver{Tolerance: 1e-13})
	}},
	{"ArgMin by BFGS, of a matrix and rows", func(k *kit) *Node {
		fit := func(y *Node, in []*Node) *Node {
			off := Sub(MatMul(in[0], y, false, false), in[1])
			return Add(SumAll(Softplus(off)), SumAll(Mul(Square(y), Exp(in[2]))))
		}
		inputs := []*Node{k.rowsMat(2), k.rowsMat(1), k.mat(2, 1)}
		start := NewConst(k.z, "start", 2, 1, []float64{1, 2})
		return ArgMin(fit, start, inputs, Solver{Method: BFGS, Tolerance: 1e-13})
	}},
	{"Root", func(k *kit) *Node {
		return Root(swirl, Uniform(0, k.vec(3)), []*Node{k.mat(3, 3), k.vec(3)}, Solver{Tolerance: 1e-13})
	}},
	{"FixedPoint, of one input twice", func(k *kit) *Node {
		g := func(z *Node, in []*Node) *Node { return Add(Scale(.3, Sin(Add(z, in[0]))), Mul(in[0], in[1])) }
		a := k.vec(3)
		return FixedPoint(g, Uniform(0, a), []*Node{a, a}, Solver{Tolerance: 1e-14})
	}},
	{"ArgMin of four inputs", func(k *kit) *Node {
		fit := func(y *Node, in []*Node) *Node {
			return Add(bowl(y, in), Dot(Exp(in[2]), Mul(Square(y), Square(in[3]))))
		}
		inputs := []*Node{k.vec(3), k.vec(3), k.vec(3), k.vec(3)}
		return ArgMin(fit, Uniform(0, inputs[0]), inputs, Solver{Tolerance: 1e-13})
	}},
	{"ArgMin in Root", func(k *kit) *Node {
		f := func(z *Node, in []*Node) *Node {
			return Sub(z, ArgMin(bowl, Uniform(0, z), []*Node{Scale(.2, z), in[0]}, Solver{Tolerance: 1e-14}))
		}
		return Root(f, Uniform(0, k.vec(2)), []*Node{k.vec(2)}, Solver{Tolerance: 1e-13})
	}},
}

func bowl(y *Node, in []*Node) *Node {
	return Add(SumAll(Softplus(Add(y, in[0]))), Add(Dot(y, in[1]), SumAll(Square(y))))
}

// swirl has a Jacobian that is neither symmetric nor dominated by its diagonal.
func swirl(z *Node, in []*Node) *Node {
	turned := Sub(Gather(z, NewConst(z, "turn", 3, 0, []float64{1, 2, 0})), Scale(.3, z))
	return Add(Add(turned, Scale(.3, Tanh(MatVec(in[0], z, false)))), in[1])
}

// TestSolversAgree: methods come to one solution, whatever their start, with equal derivatives.
func TestSolversAgree(t *testing.T) {
	y, v := []float64{.3, -.2, .5, .1, .4, -.6}, []float64{1, 2, -1, .5, 0, 3}
	var want []float64
	for _, c := range []struct {
		by    Solver
		start float64
	}{{Solver{}, 0}, {Solver{}, 3}, {Solver{Method: BFGS}, 2}, {Solver{Method: Anderson}, -1}} {
		d := testkit.Get(Differentiate(Loss{Q: 6, Build: func(_, y *Node, _ []*Node) *Node {
			in := []*Node{PartVec(y, 0, 3), PartVec(y, 3, 3)}
			start := Uniform(c.start, in[0])
			if c.by.Method == Anderson {
				step := func(z *Node, in []*Node) *Node {
					return Sub(z, Scale(.4, testkit.Get(Grad(bowl(z, in), z))[0]))
				}
				return SumAll(Sin(FixedPoint(step, start, in, c.by)))
			}
			return SumAll(Sin(ArgMin(bowl, start, in, c.by)))
		}}))
		g, h := make([]float64, 6), make([]float64, 6)
		testkit.OK(errors.Join(d.Grad(nil, g, nil, y), d.HVP(h, nil, y, v)))
		got := append(append([]float64{testkit.Get(d.Value(nil, y))}, g...), h...)
		if want == nil {
			want = got
		}
		within(t, c.by.Method.String(), got, want, 1e-8) // by the tolerance of 1e-10
	}
}

// TestUnsolved: an equation without a solution, or with none that the steps reach, is an error.
func TestUnsolved(t *testing.T) {
	square := func(z *Node, _ []*Node) *Node { return Offset(1, Square(z)) }
	saddle := func(y *Node, in []*Node) *Node { return Sub(Square(Item(y, 0)), Square(Item(y, 1))) }
	for _, c := range []struct {
		want string
		f    func(y *Node) *Node
	}{
		{"Root by Newton: the residual must come to 1.41e-10 in 500 steps",
			func(y *Node) *Node { return Root(square, Uniform(0, y), nil, Solver{}) }},
		{"ArgMin by BFGS: the residual must come to", func(y *Node) *Node {
			return ArgMin(bowl, Uniform(3, y), []*Node{y, y}, Solver{Method: BFGS, Steps: 1})
		}},
		{"FixedPoint", func(y *Node) *Node {
			return FixedPoint(func(z *Node, _ []*Node) *Node { return Offset(1, z) }, y, nil, Solver{})
		}},
		{"ArgMin: the Hessian at the solution must be positive definite; a curvature there is -", func(y *Node) *Node {
			return Mul(y, ArgMin(func(z *Node, in []*Node) *Node { return Add(saddle(z, nil), Dot(in[0], Square(z))) },
				Uniform(0, y), []*Node{Scale(1e-300, y)}, Solver{}))
		}},
	} {
		d, err := Differentiate(Loss{Q: 2, Build: func(_, y *Node, _ []*Node) *Node { return SumAll(c.f(y)) }})
		testkit.OK(err)
		want := strings.Replace(c.want, "FixedPoint", "Root by Anderson", 1)
		for range 2 { // the program can be asked again
			_, err := d.ValueGrad(nil, make([]float64, 2), nil, []float64{1, 2})
			wantError(t, err, dsbo.ErrDiverged, want)
		}
	}
}

// TestBadImplicit: what no solver can take is refused where the model is built.
func TestBadImplicit(t *testing.T) {
	for _, c := range []struct {
		want string
		f    func(y *Node) *Node
	}{
		{"Root: F must have as many numbers as z; shapes are () and (2)",
			func(y *Node) *Node {
				return Root(func(z *Node, _ []*Node) *Node { return SumAll(z) }, y, nil, Solver{})
			}},
		{"ArgMin: the loss must be a scalar; its shape is (2)",
			func(y *Node) *Node { return ArgMin(func(z *Node, _ []*Node) *Node { return z }, y, nil, Solver{}) }},
		{"Root: BFGS with tolerance 0 and 0 steps is no solver for it",
			func(y *Node) *Node { return Root(swirl, y, nil, Solver{Method: BFGS}) }},
	} {
		_, err := Differentiate(Loss{Q: 2, Build: func(_, y *Node, _ []*Node) *Node { return SumAll(c.f(y)) }})
		wantError(t, err, dsbo.ErrShape, c.want)
	}
	_, err := Differentiate(Loss{Q: 2, Build: func(_, y *Node, _ []*Node) *Node {
		return SumAll(Root(func(z *Node, _ []*Node) *Node { return Sub(z, y) }, y, nil, Solver{}))
	}})
	wantError(t, err, ErrGraph, "all inputs must come from the function's own")
}

// TestImplicitListing: a program says how an implicit node is found, and keeps the solution for
// products at one point.
func TestImplicitListing(t *testing.T) {
	d := testkit.Get(Differentiate(Loss{Q: 3, Build: func(_, y *Node, _ []*Node) *Node {
		return SumAll(Sin(ArgMin(bowl, Uniform(0, y), []*Node{y, Sin(y)}, Solver{Tolerance: 1e-9})))
	}}))
	l := testkit.Get(d.Listing(HVPOf))
	kept := 0
	for _, s := range l.Steps {
		if strings.HasPrefix(s.Op, "ArgMin") && s.Kept {
			kept++
		}
	}
	if kept != 1 || !strings.Contains(l.String(), "ArgMin(Newton, tolerance 1e-09)") {
		t.Errorf("the solution must be kept once, and the listing name its solver:\n%v", l)
	}
}

// TestManyUnknowns: systems that are larger than the products that GMRES keeps, and a network of
// several minima, are solved.
func TestManyUnknowns(t *testing.T) {
	const n = 150
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Sin(float64(i))
	}
	next := make([]float64, n)
	for i := range next {
		next[i] = float64((i + 1) % n)
	}
	d := testkit.Get(Differentiate(Loss{Q: n, Build: func(_, y *Node, _ []*Node) *Node {
		f := func(z *Node, in []*Node) *Node {
			return Sub(Sub(Scale(2, z), Gather(z, NewConst(z, "next", n, 0, next))), Sin(Add(in[0], Scale(.5, z))))
		}
		return SumAll(Square(Root(f, Uniform(0, y), []*Node{y}, Solver{})))
	}}))
	g, h := make([]float64, n), make([]float64, n)
	testkit.OK(errors.Join(d.Grad(nil, g, nil, y), d.HVP(h, nil, y, y)))
	for _, v := range append(g, h...) {
		if math.IsNaN(v) {
			t.Fatal("a derivative is NaN")
		}
	}
}

// TestArgMinBesideLargeTerms: a minimum comes to 1e-12 though the loss is a small difference of
// larger terms, as where classes all but separate: it has no digits for what a last step gains.
func TestArgMinBesideLargeTerms(t *testing.T) {
	const rows = 100
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		logits, onehot := make([]float64, 2*rows), make([]float64, 2*rows)
		for i := range rows {
			s := 1.3 * r.NormFloat64()
			logits[2*i], logits[2*i+1] = 1000-s, 1000+s
			likely := 1
			if s < -3 {
				likely = 0
			}
			onehot[2*i+likely] = 1
		}
		d := testkit.Get(Differentiate(Loss{Q: 2, Build: func(_, y *Node, _ []*Node) *Node {
			outputs := NewConst(y, "logits", rows, 2, logits)
			in := []*Node{outputs, NewConst(y, "labels", rows, 2, onehot)}
			level := ArgMin(func(b *Node, in []*Node) *Node {
				at := AddRow(in[0], b)
				loss := Scale(1./rows, Sub(SumAll(RowLogSumExp(at)), Dot(Flatten(in[1]), Flatten(at))))
				return Add(loss, Scale(5e-4, Dot(b, b)))
			}, Uniform(0, SumRows(outputs)), in, Solver{Tolerance: 1e-12})
			return Dot(y, level)
		}}))
		if err := d.Grad(nil, make([]float64, 2), nil, []float64{1, 2}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
