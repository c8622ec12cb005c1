package candidates_test

import (
	"context"
	"flag"
	"fmt"

	"dsbo/experiment"
	"dsbo/experiment/candidates"
	"dsbo/internal/must"
	"dsbo/models"
	"dsbo/tasks"
	"dsbo/train"
)

// The model without penalties, and that of the best single penalty, which three agents find together.
func ExampleFinder_Constants() {
	task, flags := tasks.Synthetic(), flag.NewFlagSet("", flag.PanicOnError)
	task.Flags(flags)
	must.OK(flags.Parse([]string{"-r=1", "-p=4", "-train=30", "-val=30", "-test=20"}))
	must.OK(task.(experiment.Checker).Check())
	data, m, err := task.Load(experiment.Agents{N: 3, Local: []int{0, 1, 2}, Seed: 1})
	must.OK(err)
	p := must.Get(train.NewProblem(data, m, models.Config{Seed: 1}))
	find := candidates.New(p, "λ", 4, p.Solver(), nil, nil)
	zero, best, err := find.Constants(context.Background(), 0)
	must.OK(err)
	fmt.Println(best.Name, best.Below(zero), "after", len(find.Tried), "constants")
	// Output: λ = -8 true after 9 constants
}
