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
