package network_test

import (
	"context"
	"fmt"
	"sync"

	"dsbo"
	"dsbo/network"
)

// Four agents on the paper's ring exchange their numbers until all hold the mean.
func Example() {
	g, err := network.New("ring", 4, network.Options{W: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g)
	exchange := network.NewLocal(g.W)
	x := [][]float64{{0}, {4}, {8}, {0}}
	var agents sync.WaitGroup
	for i := range x {
		agents.Go(func() {
			for range 60 {
				if err := exchange.Mixer(i).Mix(context.Background(), x[i], x[i]); err != nil {
					fmt.Println(err)
					return
				}
			}
		})
	}
	agents.Wait()
	fmt.Println(x)
	// Output:
	// ring, 4 agents, ρ = 0.500000
	// [[3] [3] [3] [3]]
}

// Four agents on a ring find the mean of their vectors at once, each to the last bit, and know what
// that has cost.
func ExampleAverages() {
	g, err := network.New("ring", 4, network.Options{W: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	averages, err := network.NewAverages(network.NewLocal(g.W), g.W, network.AverageOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	x := [][]float64{{0, 1e9}, {4, 0.5}, {8, -1e9}, {0, 0.25}}
	sent := make([]dsbo.Traffic, len(x))
	var agents sync.WaitGroup
	for i := range x {
		agents.Go(func() {
			a := averages.Agent(i)
			if err := a.Average(context.Background(), x[i]); err != nil {
				fmt.Println(err)
			}
			sent[i] = a.Sent()
		})
	}
	agents.Wait()
	fmt.Println(x)
	fmt.Printf("agent 0 sent %d messages with %d numbers in %d bytes\n", sent[0].Messages,
		sent[0].Floats, sent[0].Bytes)
	// Output:
	// [[3 0.1875] [3 0.1875] [3 0.1875] [3 0.1875]]
	// agent 0 sent 2 messages with 4 numbers in 128 bytes
}

func ExampleParse() {
	g, err := network.Parse("g.json", []byte(`{"agents": 3, "edges": [[0, 1], [1, 2]]}`), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range g.W.N() {
		fmt.Printf("%d: neighbours %v, weights %.3f\n", i, g.W.Neighbours(i), g.W.Dense()[i])
	}
	_, err = network.Parse("g", []byte(`{"agents": 3, "edges": [[0, 1]]}`), 0)
	fmt.Println(err)
	// Output:
	// 0: neighbours [1], weights [0.667 0.333 0.000]
	// 1: neighbours [0 2], weights [0.333 0.333 0.333]
	// 2: neighbours [1], weights [0.000 0.333 0.667]
	// graph file g: the graph must be connected; no path of edges leads from agent 0 to agent 2
}

func ExampleMatrix_Validate() {
	w, err := network.NewMatrix([][]float64{
		{0.5, 0.5, 0.0},
		{0.5, 0.2, 0.3},
		{0.0, 0.3, 0.6},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(w.Validate())
	// Output: row 2 of W must sum to 1; it sums to 0.8999999999999999
}
