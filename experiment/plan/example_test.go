package plan_test

import (
	"context"
	"fmt"
	"io"

	"dsbo/experiment"
	"dsbo/experiment/plan"
	"dsbo/internal/must"
	"dsbo/tasks"
)

// What three sites would send in the iterations of a run, and how long they wait for it over links of 100 Mbit/s and 10 ms.
func Example() {
	args := []string{"-agents=3", "-r=1", "-p=4", "-train=30", "-val=30", "-test=20", "-K=2", "-algorithm=dsoba", "-evaluate=off"}
	p := must.Get(must.Get(experiment.Parse(tasks.Synthetic(), args, io.Discard)).Plan(context.Background(), 0, nil))
	for _, q := range p.Quantities {
		if q.Phase == plan.Iterations {
			fmt.Printf("%s: %d numbers by %s, %.0f times, %.0f bytes each\n", q.Name, q.Length, q.Way, q.Times.Usual, q.Bytes)
		}
	}
	least := p.Seconds(plan.Link{Mbit: 100, Ms: 10}).Least
	fmt.Printf("exchanges take %.1f s at least\n", least)
	// Output:
	// copies of x, y, z, trackers: 12 numbers by mix, 2 times, 576 bytes each
	// exchanges take 2.4 s at least
}
