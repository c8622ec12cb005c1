package experiment

import (
	"context"
	"fmt"
	"slices"

	"dsbo/internal/vec"
	"dsbo/runs"
)

// halvings bounds how often a tuned x is moved half of the way to that of its rival.
const halvings = 3

// backtrack returns a tuned model whose Φ is below that of its rival, if one is found, and a note on how; else the tuned model. Where
// the lower problem is not convex, hypergradients are those of solutions on the way, and x may go farther than the solutions that are
// reached bear: there x is moved half of the way to the rival's, and half again, as a line search from the rival's along what tuning
// has found would.
func (f *finder) backtrack(ctx context.Context, tuned, rival *model) (*model, []string, error) {
	if !f.problem.Nonconvex || rival.finder != f || rival.y == nil {
		return tuned, nil, nil
	}
	nearer, share := tuned, 1.0
	for range halvings {
		if nearer.objective() < rival.objective() {
			break
		}
		share = float64(share / 2)
		x := slices.Clone(rival.x)
		vec.Comb(x, 1-share, x, share, tuned.x)
		nearer = newModel(tuned.Name, runs.Unknown(), x)
		if err := f.solve(ctx, nearer, rival.y, nil, f.fineTol); err != nil {
			return nil, nil, err
		}
	}
	if nearer == tuned || !(nearer.objective() < rival.objective()) {
		return tuned, nil, nil
	}
	return nearer, []string{fmt.Sprintf("Φ at the %[1]s of the iterations is %.4[2]f, not below that of %[3]s: the tuned %[1]s is %[4]g of the way from there to it.",
		f.problem.meaning.Symbol, float64(tuned.Phi), rival.Name, share)}, nil
}
