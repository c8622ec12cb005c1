package candidates_test

import (
	"context"
	"fmt"

	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train"
)

// The model without penalties, and the model of the best single penalty, which three agents
// find together; from a penalty that is near the best one, fewer have to be tried.
func ExampleFinder_Constants() {
	task := testkit.Get(data.Synthetic{Agents: 3, Features: 4, Train: 30, Val: 30, Test: 20, Rate: 1, Seed: 1}.Task())
	p := testkit.Get(train.NewProblem(task, models.Logistic{Features: 4}, models.Config{Seed: 1}))
	find := candidates.New(p, "λ", 4, p.Solver(), nil, nil)
	zero, best, err := find.Constants(context.Background(), 0)
	testkit.OK(err)
	fmt.Println(best.Name, best.Below(zero), "after", len(find.Tried), "constants")
	find = candidates.New(p, "λ", 4, p.Solver(), nil, nil)
	best, err = find.ConstantNear(context.Background(), -6)
	testkit.OK(err)
	fmt.Println(best.Name, "after", len(find.Tried))
	find = candidates.New(p, "λ", 4, p.Solver(), nil, nil)
	_, best, err = find.Constants(context.Background(), -6)
	testkit.OK(err)
	fmt.Println(best.Name, "after", len(find.Tried))
	// Output:
	// λ = -8 true after 9 constants
	// λ = -8 after 3
	// λ = -8 after 4
}
