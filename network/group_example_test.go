package network_test

import (
	"context"
	"fmt"

	"dsbo"
	"dsbo/network"
)

// Three agents of one process find the mean of a number each, over a star: one to each of two
// leaves, and back.
func ExampleGroup_MeanNumbers() {
	var sent dsbo.Traffic
	group := network.NewGroup(network.GroupConfig{N: 3, Sent: &sent, Average: network.AverageOptions{}})
	mean := make([]float64, 1)
	err := group.MeanNumbers(context.Background(), "numbers", mean, func(i int, part []float64) error {
		part[0] = float64(i)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean %g by %d messages\n", mean[0], sent.Messages)
	// Output:
	// mean 1 by 4 messages
}
