package candidates_test

import (
	"slices"
	"testing"

	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// A counter counts the products of models.
type counter struct {
	products []int
	said     bool // that a search begins
}

func (c *counter) Begin(string)              {}
func (c *counter) Solved()                   {}
func (c *counter) Found(m *candidates.Model) { c.products = append(c.products, m.Steps) }
func (c *counter) Expect(int)                {}
func (c *counter) Log(string, ...any)        { c.said = true }

// TestDescentCost: where the iterations end far above the best constant, the search from there says
// so before, finds a lower x, and takes about as many products as they and the models before it.
func TestDescentCost(t *testing.T) {
	const features, spent = 40, 20
	task := testkit.Get(data.Synthetic{Agents: 3, Features: features, Train: 60, Val: 60, Test: 20, Rate: 1,
		Seed: 1}.Task())
	p := testkit.Get(train.NewProblem(task, models.Logistic{Features: features}, models.Config{Seed: 1}))
	c := new(counter)
	find := candidates.New(p, "λ", features, p.Solver(), nil, c)
	find.Spent = spent
	tuned := candidates.NewModel("λ tuned", runs.Unknown(), slices.Repeat([]float64{5}, features))
	testkit.OK(find.Solve(t.Context(), tuned, nil, nil))
	_, rival, err := find.Constants(t.Context(), 5)
	testkit.OK(err)
	bound := spent
	for _, n := range c.products {
		bound += n
	}
	before := len(c.products)
	found, notes, err := find.Descent(t.Context(), tuned, rival)
	testkit.OK(err)
	if !found.Below(rival) || len(notes) != 1 || !c.said {
		t.Errorf("Φ is %g, of the best constant %g; it said so before: %t; notes: %q", found.Phi, rival.Phi,
			c.said, notes)
	}
	search := c.products[before:]
	last, sum := search[len(search)-1], 0
	for _, n := range search {
		sum += n
	}
	if sum-last > bound {
		t.Errorf("%v products after %v: only the last solution may go beyond %d", search, c.products[:before], bound)
	}
}
