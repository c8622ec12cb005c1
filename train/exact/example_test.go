package exact_test

import (
	"context"
	"fmt"

	"dsbo/algo/algotest"
	"dsbo/train/exact"
)

// A solver says what a method should have found.
func ExampleSolver_Solve() {
	var solver exact.Solver
	for _, o := range algotest.NewQuadratics(8, 3, 6, 1) {
		solver.Oracles = append(solver.Oracles, o)
	}
	at, err := solver.Solve(context.Background(), []float64{0, 0, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("Φ = %.4f, ∇Φ = %.4f\n", at.Phi, at.Gradient)
	// Output:
	// Φ = 0.5822, ∇Φ = [0.3057 0.1824 0.2374]
}
