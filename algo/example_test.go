package algo_test

import (
	"context"
	"errors"
	"fmt"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
)

// Four agents on a ring, each with a quadratic of its own, together find the x that makes the
// upper loss smallest.
func Example() {
	const n, p, q = 4, 3, 4
	problem := algotest.NewQuadratics(n, p, q, 1)
	mixers := algotest.NewMixers(algotest.Ring(n, 0.5))
	var agents []*algo.Tuned
	var oracles []dsbo.Oracle
	for i := range n {
		a := &algo.Tuned{Alpha: "0.2/sqrt(k+1)", Beta: "0.2", Gamma: "0.1", T: 3, N: 5, WarmZ: true, TrackY: true}
		if err := a.Init(p, q, 600); err != nil {
			fmt.Println(err)
			return
		}
		agents, oracles = append(agents, a), append(oracles, problem[i])
	}
	for k := range 600 {
		if err := algotest.Step(context.Background(), k, agents, oracles, mixers); err != nil {
			fmt.Println(err)
			return
		}
	}
	for i, x := range algotest.Solve(problem).X {
		fmt.Printf("found %.1f, exact %.1f\n", agents[0].X()[i], x)
	}
	// Output:
	// found 0.7, exact 0.7
	// found 0.2, exact 0.2
	// found -0.2, exact -0.2
}

func ExampleSchedule() {
	for _, s := range []algo.Schedule{"0.5", "0.5/sqrt(k+1)", "0.1,0.05", "half"} {
		at, err := s.For(100)
		if err != nil {
			fmt.Printf("%q is no schedule: %t\n", s, errors.Is(err, dsbo.ErrConfig))
			continue
		}
		fmt.Println(at(0), at(3))
	}
	// Output:
	// 0.5 0.5
	// 0.5 0.25
	// 0.1 0.05
	// "half" is no schedule: true
}

// A method by name, with parameters as a configuration file has them.
func ExampleDecode() {
	m, err := algo.New("madsbo")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(algo.Decode(m, []byte(`{"aplha":0.5}`)))
	fmt.Println(algo.Decode(m, []byte(`{"alpha":0.5,"T":5}`)), m.Init(784, 7840, 100))
	cost := m.Cost(0)
	fmt.Println(cost.Floats, cost.Messages, cost.HVP)
	// Output:
	// madsbo has no parameter "aplha"; it has alpha, beta, gamma, T, N
	// <nil> <nil>
	// 196784 15 9
}
