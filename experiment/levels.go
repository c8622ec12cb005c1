package experiment

import (
	"context"
	"fmt"
	"math"

	"dsbo/experiment/candidates"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/train"
)

// A levelChoice is the best shrinkage of sites' levels and slopes, and their gain with one penalty
// for all on rows that its models have not seen.
type levelChoice struct {
	Strength, SlopeStrength float64 // of slopes 0: there are none
	Gain                    runs.Gain
}

// chooseLevels decides whether each site gets a level (intercept) of its own. It returns structures
// of penalties for models with levels, with their problem parts and with c set accordingly, if
// their cross-fitted loss promises a gain over plain, the structures without levels; else plain and
// its parts. The note compares the losses. Levels with a single penalty are tried first, which is
// cheap: if these promise nothing, the search for structures is skipped. Levels.Always skips the
// comparison.
func (e *ending) chooseLevels(ctx context.Context, c CrossFit, plain *candidates.Structures,
	parts train.Problem) (CrossFit, *candidates.Structures, train.Problem, string, error) {
	best, err := kept(ctx, e, "levels", func() (levelChoice, error) { return e.tryLevels(ctx, c, plain, parts) })
	if err != nil {
		return c, nil, parts, "", err
	}
	if !c.Levels.Always && !candidates.Promises(best.Gain) {
		return c, plain, parts, levelNote(best, false), nil
	}
	with := c
	with.Levels.Strength, with.Levels.SlopeStrength = best.Strength, best.SlopeStrength
	found, ofLevels, err := e.keptStructures(ctx, with, plain.One(), "structures with levels")
	if err != nil {
		return c, nil, parts, "", err
	}
	if best.Gain, err = unseenGain(ctx, ofLevels, found.CrossFitted(), parts, plain.CrossFitted()); err != nil {
		return c, nil, parts, "", err
	}
	if !c.Levels.Always && !candidates.Promises(best.Gain) {
		return c, plain, parts, levelNote(best, false), nil
	}
	return with, found, ofLevels, levelNote(best, true), nil
}

// tryLevels searches, with one penalty for all columns, for the best strength of the shrinkage of
// levels; then for the best strength of slopes at that strength of levels. Slopes are taken only if
// they lower the criterion, or if Levels.Always asks for them. The gain of the best choice is over
// plain with one penalty, on rows that the models have not seen.
func (e *ending) tryLevels(ctx context.Context, c CrossFit, plain *candidates.Structures,
	parts train.Problem) (best levelChoice, err error) {
	least := math.Inf(1) // criterion of best
	tryStrengths := func(strength, ofSlopes float64) error {
		c.Levels.Strength, c.Levels.SlopeStrength = strength, ofSlopes
		fit, err := e.problem.foldsOf(c, e.watch)
		if err != nil {
			return err
		}
		y, criterion, err := plain.WithLevels(ctx, fit)
		if err != nil || !(criterion < least) {
			return err
		}
		least, best.Strength, best.SlopeStrength = criterion, strength, ofSlopes
		best.Gain, err = unseenGain(ctx, fit.Problem, y, parts, plain.CrossFittedOne())
		return err
	}
	for _, strength := range candidates.LevelStrengths {
		if err := tryStrengths(strength, 0); err != nil {
			return best, err
		}
	}
	if c.Levels.Slopes == nil {
		return best, nil
	}
	if c.Levels.Always { // slopes need not beat levels alone
		least = math.Inf(1)
	}
	ofLevels := best.Strength
	for _, ofSlopes := range candidates.LevelStrengths {
		if err := tryStrengths(ofLevels, ofSlopes); err != nil {
			return best, err
		}
	}
	return best, nil
}

// unseenGain returns the gain of m, models of the folds of p, over a, models of the folds of
// against, on the rows that each has not seen.
func unseenGain(ctx context.Context, p train.Problem, m train.Fit, against train.Problem, a train.Fit) (runs.Gain,
	error) {
	gains, err := p.Compare(ctx, m, against, a)
	for _, g := range gains {
		if g.Set == runs.Validation {
			return g, err
		}
	}
	return runs.Gain{}, err
}

// levelNote returns a note on whether sites have a level of their own, and why. A strength is the
// number of rows that would shrink as much.
func levelNote(of levelChoice, kept bool) string {
	head := "All sites have one level, as one for each does not promise more"
	unit, tail := "rows", ""
	if of.Strength == 1 {
		unit = "row"
	}
	if kept {
		tail = " Curves over iterations are without."
		head = fmt.Sprintf("Each site has a level of its own, which stays there, shrunk as by %g %s", of.Strength, unit)
		if of.SlopeStrength > 0 {
			head += fmt.Sprintf(", and slopes, as by %g", of.SlopeStrength)
		}
	}
	g := of.Gain
	return fmt.Sprintf("%s: on %s that its models have not seen the loss is %.4g with levels and %.4g without; the "+
		"difference is %.2g ± %.2g.%s", head, wording.Count(g.Examples, "row"), float64(g.Loss), float64(g.LossAgainst),
		float64(g.LossChange), float64(g.LossError), tail)
}
