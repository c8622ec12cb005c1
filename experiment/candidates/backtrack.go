package candidates

import (
	"context"
	"fmt"
	"slices"

	"dsbo/internal/linalg"
	"dsbo/runs"
)

// halvings bounds how often a tuned x is moved half of the way to its rival's x.
const halvings = 3

// Backtrack returns a tuned model whose Φ is below its rival's, if one is found, and a note on how;
// else the tuned model. Where the lower problem is not convex, hypergradients belong to solutions
// on the way, and x may go too far for the solution that is found there. x is then moved half of
// the way to the rival's, and half again, as in a line search.
func (f *Finder) Backtrack(ctx context.Context, tuned, rival *Model) (*Model, []string, error) {
	if !f.Problem.Nonconvex || rival.Finder != f || rival.Y == nil {
		return tuned, nil, nil
	}
	nearer, share := tuned, 1.0
	for range halvings {
		if nearer.Below(rival) {
			break
		}
		share = float64(share / 2)
		x := slices.Clone(rival.X)
		linalg.Comb(x, 1-share, x, share, tuned.X)
		nearer = NewModel(tuned.Name, runs.Unknown(), x)
		if err := f.Solve(ctx, nearer, nil, nil); err != nil {
			return nil, nil, err
		}
	}
	if nearer == tuned || !nearer.Below(rival) {
		return tuned, nil, nil
	}
	nearer.FoundBy = FoundByHalving
	return nearer, []string{
		fmt.Sprintf(
			"Φ at the %[1]s of the iterations is %.4[2]f, not below that of %[3]s: the tuned %[1]s is %[4]g of the "+
				"way from there to it.",
			f.Symbol, float64(tuned.Phi), rival.Name, share)}, nil
}
