package experiment_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// A run of a task, as its command line would make it, and what its folder says of it.
func Example() {
	folder := testkit.Get(os.MkdirTemp("", "run"))
	defer os.RemoveAll(folder)
	testkit.OK(os.Remove(folder)) // a run makes its folder
	args := []string{"-agents=3", "-r=1", "-p=4", "-train=30", "-val=30", "-test=20", "-K=2", "-quiet", "-report=false",
		"-out=" + folder}
	testkit.OK(experiment.Run(context.Background(), tasks.Synthetic(), args, io.Discard, io.Discard))

	summary := testkit.Get(runs.Folder(folder).ReadSummary())
	fmt.Println(summary.State, "after", summary.Iterations, "iterations")
	// Output: finished after 2 iterations
}

// A plan counts what a run would send before it is run. It loads the data, and exchanges nothing.
func ExampleJob_Plan() {
	args := []string{"-agents=3", "-r=1", "-p=4", "-train=30", "-val=30", "-test=20", "-K=2"}
	job := testkit.Get(experiment.Parse(tasks.Synthetic(), args, io.Discard))
	p := testkit.Get(job.Plan(context.Background(), 0, nil))
	fmt.Println(strings.Replace(p.Line, " examples, ", " examples\n", 1))
	for _, q := range p.Quantities[:3] {
		fmt.Printf("%s: sums of %.0f numbers, %s times\n", q.Name, q.Length, q.Times.Text("%.0f"))
	}
	// Output:
	// synthetic task with r = 1, p = q = 4, 3 agents with 30 training and 30 validation examples
	// losses as a sum; ring, 3 agents, ρ = 0.250000
	// gradients: sums of 4 numbers, 5-19 times
	// residuals: sums of 4 numbers, 2 times
	// products with the Hessian: sums of 4 numbers, 40-168 times
}
