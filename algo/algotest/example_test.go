package algotest_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
)

// The test of a method is one line.
func ExampleTestMethod() {
	_ = func(t *testing.T) {
		algotest.TestMethod(t, func() algo.Method { return &algo.Sparkle{Alpha: "0.05"} })
	}
}

// Agents on a ring find the solution of quadratics, which is known in closed form.
func ExampleNewQuadratics() {
	const agents, p, q, K = 4, 2, 3, 1500
	problem := algotest.NewQuadratics(agents, p, q, 1)
	mixers := algotest.NewMixers(algotest.Ring(agents, 0.5))
	var methods []algo.Method
	var oracles []dsbo.Oracle
	for _, o := range problem {
		m := &algo.Sparkle{Alpha: "0.05", Beta: "0.1", Gamma: "0.1"}
		if err := m.Init(p, q, K); err != nil {
			fmt.Println(err)
			return
		}
		methods, oracles = append(methods, m), append(oracles, o)
	}
	for k := range K {
		if err := algotest.Step(context.Background(), k, methods, oracles, mixers); err != nil {
			fmt.Println(err)
			return
		}
	}
	solution := algotest.Solve(problem)
	for i, m := range methods {
		distance := math.Hypot(m.X()[0]-solution.X[0], m.X()[1]-solution.X[1])
		fmt.Printf("agent %d sent %d numbers to each neighbour; near the solution: %t\n", i, mixers[i].Floats,
			distance < 1e-9)
	}
	// Output:
	// agent 0 sent 12000 numbers to each neighbour; near the solution: true
	// agent 1 sent 12000 numbers to each neighbour; near the solution: true
	// agent 2 sent 12000 numbers to each neighbour; near the solution: true
	// agent 3 sent 12000 numbers to each neighbour; near the solution: true
}
