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
			if err := a.Average(context.Background(), dsbo.Named{Name: "x", Value: x[i]}); err != nil {
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
