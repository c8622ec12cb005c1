package candidates

import (
	"cmp"
	"slices"

	"dsbo/runs"
)

// surely is by how many standard errors of the difference the least cross-fitted loss is to be
// below another structure's: the least of a dozen is by luck too. On 8 small real tables whose
// classes nearly separate, 10 splits each, losses on other rows are .90 of the least one's so, with
// a normal prior of strengths (.67 to 1.24); on 20 other real tables .99, on 7 made-up ones 1.006.
const surely = 2

// choose returns the first structure below whose cross-fitted loss the least one is not surely, as
// beats tells. Losses are with the prior of the strength, as of those that separate classes the
// weakest penalty is not the best. One whose loss alone is above the first one's is not taken,
// however large its error.
func choose(list []*Structure, prior func(strength float64) float64, beats func(least, st *Structure) (bool, error)) (
	*Structure, error) {
	judged := func(st *Structure) float64 { return float64(st.Loss) + prior(st.Strength) }
	low := slices.DeleteFunc(slices.Clone(list), func(st *Structure) bool { return st.Loss > list[0].Loss })
	least := slices.MinFunc(low, func(a, b *Structure) int { return cmp.Compare(judged(a), judged(b)) })
	for _, st := range low {
		if st == least {
			break
		}
		if beaten, err := beats(least, st); err != nil || !beaten {
			return st, err
		}
	}
	return least, nil
}

// beats reports whether a structure's cross-fitted loss is surely below another one's.
func (f *crossFit) beats(least, st *Structure) (bool, error) {
	gains, err := f.Problem.Compare(f.ctx, f.crossFitted(least.y), f.Problem, f.crossFitted(st.y))
	change := f.strengthPrior(least.Strength) - f.strengthPrior(st.Strength)
	for _, g := range gains {
		if g.Set == runs.Validation {
			return change+float64(g.LossChange)+float64(surely*float64(g.LossError)) < 0, err
		}
	}
	return false, err
}
