package models_test

import (
	"fmt"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/models"
)

// Ridge is linear regression whose penalties, one per feature, are tuned on the
// validation examples:
//
//	f_i(x, y) = ½ mean_e (a_e'y − t_e)²
//	g_i(x, y) = ½ mean_e (a_e'y − t_e)² + ½ Σ_j e^{x_j} y_j²
type Ridge struct{ Features int }

// Dims returns the lengths of x and y.
func (r Ridge) Dims() (p, q int) { return r.Features, r.Features }

// Upper builds f_i.
func (r Ridge) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	residual := ad.Sub(ad.MatVec(b.X, y, false), b.T)
	return ad.Scale(.5, ad.Mean(ad.Square(residual)))
}

// Lower builds g_i.
func (r Ridge) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(r.Upper(x, y, b), ad.Scale(.5, ad.Dot(ad.Exp(x), ad.Square(y))))
}

// A new model in one file: all derivatives come from its two losses.
func Example_newModel() {
	features, _ := ad.FloatTable(2, 1, []float64{1, 2}) // a = 1 and 2
	targets, _ := ad.FloatTable(2, 1, []float64{2, 4})  // t = 2a
	seen := data.Examples{X: features, Target: targets}
	oracle, err := models.NewOracle(Ridge{Features: 1}, data.Shard{Train: seen, Val: seen}, models.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y, v, all := []float64{0}, []float64{1}, []float64{1}, dsbo.Sample{Set: dsbo.Whole}
	grad, hvp, jvp := make([]float64, 1), make([]float64, 1), make([]float64, 1)
	fmt.Println(oracle.LowerGrad(grad, x, y, all), oracle.HVP(hvp, x, y, v, all), oracle.JVP(jvp, x, y, v, all))
	fmt.Println("∇_y g:", grad, " (∇²_yy g)v:", hvp, " (∇²_xy g)v:", jvp)
	// Output:
	// <nil> <nil> <nil>
	// ∇_y g: [-1.5]  (∇²_yy g)v: [3.5]  (∇²_xy g)v: [1]
}

// With y*(x) = 2x + 1, Φ(x) = ½(2x+1)² + ½x² is least at x = −0.4.
func ExampleSolveQuadratics() {
	agent := models.Quadratic{P: 1, Q: 1, A: []float64{2}, B: []float64{4}, C: []float64{2},
		D: []float64{1}, T: []float64{0}, E: []float64{1}, LinearTerm: []float64{0}}
	s, err := models.SolveQuadratics([]models.Quadratic{agent})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("x* = %.1f, y* = %.1f, Φ* = %.1f\n", s.X[0], s.Y[0], s.Phi)
	// Output: x* = -0.4, y* = 0.2, Φ* = 0.1
}
