package dsbo_test

import (
	"context"
	"fmt"
	"log"

	"dsbo/algo"
	"dsbo/data"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

// Four agents in a ring tune one regularization weight per feature. No example leaves its agent.
func Example() {
	task, err := data.Synthetic{Agents: 4, Features: 20, Train: 60, Val: 60, Rate: 0.5, Seed: 1}.Task()
	if err != nil {
		log.Fatal(err)
	}
	problem, err := train.NewProblem(task, models.Logistic{Features: 20, Mean: true}, models.Config{})
	if err != nil {
		log.Fatal(err)
	}
	ring, err := network.Ring(4, 0.5)
	if err != nil {
		log.Fatal(err)
	}
	result, err := train.Run(context.Background(), train.Config{
		Problem: problem, W: ring.W, K: 200, EvalEvery: 100,
		Method: &algo.MADSBO{Alpha: "0.5", Beta: "0.3", Gamma: "0.3", T: 5, N: 20},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("k=  0  Φ %.3f\n", result.Records[0].Phi) // y = 0, which takes no side
	for _, r := range result.Records[1:] {
		fmt.Printf("k=%3d  Φ %.3f  test accuracy %.4f\n", r.Iteration, r.Phi, r.TestAccuracy)
	}
	// Output:
	// k=  0  Φ 0.558
	// k=100  Φ 0.488  test accuracy 0.9010
	// k=200  Φ 0.435  test accuracy 0.8925
}
