package algo_test

import (
	"context"
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
	var agents []dsbo.Algorithm
	var oracles []dsbo.Oracle
	for i := range n {
		a, err := algo.New("madsbo_tuned", p, q, algo.Params{
			Alpha: algo.InverseRoot(0.2), Beta: algo.Constant(0.2), Gamma: algo.Constant(0.1), T: 3, N: 5,
			WarmZ: true, TrackY: true,
		})
		if err != nil {
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
	for i, x := range algotest.Minimum(problem) {
		fmt.Printf("found %.1f, exact %.1f\n", agents[0].X()[i], x)
	}
	// Output:
	// found 0.7, exact 0.7
	// found 0.2, exact 0.2
	// found -0.2, exact -0.2
}

func ExampleParseSchedule() {
	for _, text := range []string{"0.5", "0.5/sqrt(k+1)", "0.1,0.05"} {
		s, err := algo.ParseSchedule(text)
		fmt.Println(s.At(0), s.At(3), err)
	}
	_, err := algo.ParseSchedule("half")
	fmt.Println(err)
	// Output:
	// 0.5 0.5 <nil>
	// 0.5 0.25 <nil>
	// 0.1 0.05 <nil>
	// schedule "half": "half" is no finite number; right are 0.5, 0.5/sqrt(k+1), 0.5/(k+1), 0.5/sqrt(K), 0.5*(1-k/K) or 0.1,0.05: bad configuration
}

func ExampleCostOf() {
	c, err := algo.CostOf("madsbo", algo.Params{T: 10, N: 10}, 784, 7840, 0)
	fmt.Println(c.Floats, c.Messages, c.HVP, err)
	// Output: 235984 20 9 <nil>
}
