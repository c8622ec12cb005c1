package experiment_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"dsbo/experiment"
	"dsbo/internal/must"
	"dsbo/runs"
	"dsbo/tasks"
)

// A run of a task, as its command line would make it, and what its folder says of it.
func Example() {
	folder := must.Get(os.MkdirTemp("", "run"))
	defer os.RemoveAll(folder)
	must.OK(os.Remove(folder)) // a run makes its folder
	args := []string{"-agents=3", "-r=1", "-p=4", "-train=30", "-val=30", "-test=20", "-K=2", "-quiet", "-report=false", "-out=" + folder}
	must.OK(experiment.Run(context.Background(), tasks.Synthetic(), args, io.Discard, io.Discard))

	summary := must.Get(runs.Folder(folder).ReadSummary())
	fmt.Println(summary.State, "after", summary.Iterations, "iterations")
	// Output: finished after 2 iterations
}

// A plan says what a run would send before it is run. It loads the data, and exchanges nothing.
func ExampleJob_Plan() {
	args := []string{"-agents=3", "-r=1", "-p=4", "-train=30", "-val=30", "-test=20", "-K=2"}
	job := must.Get(experiment.Parse(tasks.Synthetic(), args, io.Discard))
	p := must.Get(job.Plan(context.Background(), 0, nil))
	fmt.Println(p.Line)
	for _, q := range p.Quantities[:2] {
		fmt.Printf("%s: %d numbers, %.0f to %.0f times\n", q.Name, q.Length, q.Times.Least, q.Times.Most)
	}
	// Output:
	// synthetic task with r = 1, p = q = 4, 3 agents with 30 training and 30 validation examples, losses as a sum; ring, 3 agents, ρ = 0.250000
	// gradients and Hessian products: 4 numbers, 50 to 213 times
	// hypergradient: 4 numbers, 2 to 2 times
}
