package networktest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"dsbo"
	"dsbo/network"
	"dsbo/network/networktest"
)

// A transport passes if the suite does, in a test of its own: here of agents which are goroutines.
func ExampleTestTeam() {
	test := func(t *testing.T) {
		networktest.TestTeam(t, func(w *network.Matrix) (teams []network.Team, closeAll func()) {
			l := network.NewLocal(w)
			return []network.Team{l}, l.Close
		})
	}
	fmt.Printf("%T\n", test)
	// Output: func(*testing.T)
}

// Of five agents that all know of each other the last one lies. Trimmed mixing leaves its numbers
// out: what honest agents get is between what honest agents have sent.
func ExampleWithLiars() {
	g, err := network.New("complete", 5, network.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := g.W.WithMixing(network.Trimmed{Liars: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	exchange := network.NewLocal(w)
	var mixers []dsbo.Mixer
	for _, i := range exchange.Local() {
		mixers = append(mixers, exchange.Mixer(i))
	}
	mixers = networktest.WithLiars(mixers, 1, networktest.Drift(1000))
	x := [][]float64{{1}, {2}, {3}, {4}, {5}}
	err = errors.Join(networktest.RunAll(len(mixers),
		func(i int) error { return mixers[i].Mix(context.Background(), x[i], x[i]) })...)
	fmt.Printf("%.2f %v\n", x[:4], err)
	// Output: [[2.67] [3.00] [3.00] [3.00]] <nil>
}
