package membership_test

import (
	"fmt"
	"strings"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
)

// A run of 4 agents that agent 2 leaves after 10 iterations, and in which it is back after 30,
// together with a new agent.
func Example() {
	l := testkit.Get(membership.Parse("log.jsonl", strings.NewReader(
		`{"epoch":1,"iteration":10,"members":[0,1,3],"proposer":0,"why":["agent 2 left"]}
{"epoch":2,"iteration":30,"members":[0,1,2,3,4],"edges":[[0,4],[2,4]],"proposer":0,`+
			`"why":["agent 2 returned","agent 4 joined"]}
`)))
	testkit.OK(l.Validate(4, 0))
	for number := range len(l) + 1 {
		e := testkit.Get(l.At(number, 4))
		position, is := e.Position(3)
		fmt.Println(number, e.Iteration, e.Members, position, is)
	}
	fmt.Println(l.Validate(3, 0))
	fmt.Println(l.Validate(4, 4))
	// Output:
	// 0 0 [0 1 2 3] 3 true
	// 1 10 [0 1 3] 2 true
	// 2 30 [0 1 2 3 4] 3 true
	// membership log: agent 3 is not known: the roster is 0 to 2, and no edges admit it
	// membership log: epoch 1 must have the quorum, 4 members; it has 3
}
