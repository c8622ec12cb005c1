package ad_test

import (
	"errors"
	"fmt"
	"log"

	"dsbo/ad"
)

// The three derivatives of Σ y_j³, each made from the one before.
func ExampleGrad() {
	p, err := ad.Compile(ad.Func{P: 1, Q: 3, Build: func(_, y *ad.Node, _ []*ad.Node) []*ad.Node {
		cost := ad.SumAll(ad.Mul(y, ad.Square(y)))
		var sums []*ad.Node
		for range 3 {
			g, err := ad.Grad(cost, y)
			if err != nil {
				log.Fatal(err)
			}
			cost = ad.SumAll(g[0]) // the cost of the next sweep: its derivative is H·1, and so on
			sums = append(sums, cost, first(g[0]))
		}
		return sums
	}})
	if err != nil {
		log.Fatal(err)
	}
	v := make([]float64, 6)
	if err := p.Eval(v, []float64{0}, []float64{1, 2, 3}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("sum of 3y²:", v[0], " first:", v[1])
	fmt.Println("sum of 6y: ", v[2], " first:", v[3])
	fmt.Println("sum of 6:  ", v[4], " first:", v[5])
	// Output:
	// sum of 3y²: 42  first: 3
	// sum of 6y:  36  first: 6
	// sum of 6:   18  first: 6
}

// first is entry 0 of a vector, as a scalar.
func first(v *ad.Node) *ad.Node { return ad.SumAll(ad.PartVec(v, 0, 1)) }

// Ridge regression with one penalty weight e^{x_j} per feature, on two of three examples.
func ExampleDifferentiate() {
	features, err := ad.FloatTable(3, 2, []float64{1, 0, 0, 1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	targets, err := ad.FloatTable(3, 1, []float64{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	d, err := ad.Differentiate(ad.Loss{
		P: 2, Q: 2, Rows: 2,
		Inputs: []ad.Input{{Name: "features", Shape: []int{2}, Batch: true}, {Name: "target", Batch: true}},
		Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node {
			residual := ad.Sub(ad.MatVec(in[0], y, false), in[1])
			return ad.Scale(.5, ad.Add(ad.Dot(residual, residual), ad.Dot(ad.Exp(x), ad.Square(y))))
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	batch := []int{0, 2}
	if err := d.Bind("features", features, batch); err != nil {
		log.Fatal(err)
	}
	if err := d.Bind("target", targets, batch); err != nil {
		log.Fatal(err)
	}

	x, y, v := []float64{0, 0}, []float64{1, 1}, []float64{1, 0}
	gy, hv, jv := make([]float64, 2), make([]float64, 2), make([]float64, 2)
	loss, err := d.Value(x, y)
	if err != nil {
		log.Fatal(err)
	}
	if err := d.Grad(nil, gy, x, y); err != nil {
		log.Fatal(err)
	}
	if err := d.HVP(hv, x, y, v); err != nil {
		log.Fatal(err)
	}
	if err := d.JVP(jv, x, y, v); err != nil {
		log.Fatal(err)
	}
	fmt.Println("loss", loss)
	fmt.Println("∇_y ", gy)
	fmt.Println("HVP ", hv)
	fmt.Println("JVP ", jv)
	// Output:
	// loss 1.5
	// ∇_y  [0 0]
	// HVP  [3 1]
	// JVP  [1 0]
}

// Two rows of a hundred thousand numbers, three of which are not 0: products cost what three cost.
func ExampleSparseTable() {
	const cols = 100_000
	rows, err := ad.SparseTable(2, cols, []int{0, 2, 3}, []int32{7, 99_999, 7}, []float32{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	p, err := ad.Compile(ad.Func{P: 1, Q: cols, Rows: 2,
		Inputs: []ad.Input{{Name: "a", Shape: []int{cols}, Batch: true, Sparse: true}},
		Build:  func(_, y *ad.Node, in []*ad.Node) []*ad.Node { return []*ad.Node{ad.MatVec(in[0], y, false)} }})
	if err != nil {
		log.Fatal(err)
	}
	y, products := make([]float64, cols), make([]float64, 2)
	y[7], y[99_999] = 10, 1
	if err := p.Bind("a", rows, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Eval(products, []float64{0}, y), products)
	// Output: <nil> [12 30]
}

// A bilevel problem: the penalty of a ridge regression on three examples by its loss on another
// one. Φ(x) = f(argmin_y g(x, y)) has all derivatives, here the first and the second.
func ExampleArgMin() {
	train := func(y *ad.Node, in []*ad.Node) *ad.Node {
		features, targets := ad.NewConst(y, "features", 3, 2, []float64{1, 0, 0, 1, 1, 1}), []float64{1, 2, 4}
		off := ad.Sub(ad.MatVec(features, y, false), ad.NewConst(y, "targets", 3, 0, targets))
		return ad.Add(ad.Dot(off, off), ad.Mul(ad.Exp(in[0]), ad.Dot(y, y)))
	}
	phi, err := ad.Differentiate(ad.Loss{Q: 1, Build: func(_, x *ad.Node, _ []*ad.Node) *ad.Node {
		start := ad.NewConst(x, "start", 2, 0, []float64{0, 0})
		y := ad.ArgMin(train, start, []*ad.Node{ad.Item(x, 0)}, ad.Solver{})
		return ad.Square(ad.Offset(-2.4, ad.SumAll(y)))
	}})
	if err != nil {
		log.Fatal(err)
	}
	slope, curvature := make([]float64, 1), make([]float64, 1)
	value, err := phi.ValueGrad(nil, slope, nil, []float64{0})
	if err := errors.Join(err, phi.HVP(curvature, nil, []float64{0}, []float64{1})); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Φ = %.4f, Φ' = %.4f, Φ'' = %.4f\n", value, slope[0], curvature[0])
	// Output:
	// Φ = 0.1225, Φ' = -0.4813, Φ'' = 0.7047
}
