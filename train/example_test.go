package train_test

import (
	"context"
	"fmt"

	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/network"
	"dsbo/train"
)

// Run works on any oracles, here the oracles of a problem with a known answer.
func ExampleRun() {
	var prob train.Problem
	for _, o := range algotest.NewQuadratics(8, 3, 6, 1) {
		prob.Oracles, prob.Evaluate = append(prob.Oracles, o), append(prob.Evaluate, o)
	}
	ring, err := network.Ring(8, 0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := train.Run(context.Background(), train.Config{
		Problem: prob, W: ring.W, K: 200, EvalEvery: 100,
		Method: &algo.MADSBO{Alpha: "0.2/sqrt(k+1)", Beta: "0.2/sqrt(k+1)", Gamma: "0.2"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rec := range r.Records {
		fmt.Printf("iteration %3d: Φ = %.3f, consensus error of x %.0e\n", rec.Iteration, rec.Phi, rec.ConsensusX)
	}
	// Output:
	// iteration   0: Φ = 0.582, consensus error of x 0e+00
	// iteration 100: Φ = 0.385, consensus error of x 2e-03
	// iteration 200: Φ = 0.382, consensus error of x 1e-03
}

// Curvature tells which steps are stable before a run is made.
func ExampleProblem_Curvature() {
	var prob train.Problem
	for _, o := range algotest.NewQuadratics(3, 2, 4, 1) {
		prob.Oracles = append(prob.Oracles, o)
	}
	lmax, err := prob.Curvature(context.Background(), make([]float64, 2), make([]float64, 4))
	if err != nil {
		fmt.Println(err)
		return
	}
	ring, err := network.Ring(3, 0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range train.StepWarnings(train.Config{W: ring.W, Method: &algo.MADSBO{Beta: "0.5", Gamma: "0.5"}}, lmax,
		0) {
		fmt.Println(w)
	}
	// Output:
	// gamma = 0.5, the step of z, is not below 0.371 (L_max = 2.1): z may diverge
}
