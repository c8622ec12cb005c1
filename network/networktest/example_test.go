package networktest_test

import (
	"fmt"
	"testing"

	"dsbo/network"
	"dsbo/network/networktest"
)

// A transport passes if the suite does, in a test of its own: here of agents which are goroutines.
func ExampleTestTeam() {
	test := func(t *testing.T) {
		networktest.TestTeam(t, 1, 16, func(w *network.Matrix) (teams []network.Team, closeAll func()) {
			l := network.NewLocal(w)
			return []network.Team{l}, l.Close
		})
	}
	fmt.Printf("%T\n", test)
	// Output: func(*testing.T)
}
