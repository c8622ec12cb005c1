package experiment

import "fmt"

// How much noise 1000 answers need within a budget, and what half of them tell.
func Example_accountant() {
	budget := Budget{Epsilon: 1, Delta: 1e-5}
	multiplier := noiseMultiplier(budget, 1000)
	fmt.Printf("deviation %.1f times what one row can change\n", multiplier)

	fmt.Printf("ε of 500 answers: %.2f\n", epsilonOf(divergenceRate(multiplier, 500), budget.Delta))
	// Output:
	// deviation 127.9 times what one row can change
	// ε of 500 answers: 0.69
}
