package models_test

import (
	"fmt"

	"dsbo/models"
)

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
