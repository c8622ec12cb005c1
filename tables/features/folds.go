package features

import (
	"math/rand/v2"
	"slices"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/models"
)

// dealFolds assigns all rows except test rows to the folds of a cross-validation, if Options.Folds
// asks for one and all sites together have at most FoldRows such rows: with many rows a split is
// good enough, and cheaper. Validation rows become training rows then, and all of them validate.
func dealFolds(p *preparation) error {
	if p.Folds == 0 {
		return nil
	}
	rows, err := p.sum("training and validation rows", 1, func(i int, part []float64) {
		for row, of := range p.parts[i].of {
			if of != testing {
				part[0] += p.rowsOf(i, row)
			}
		}
	})
	if err != nil || p.FoldRows > 0 && rows[0] > float64(p.FoldRows) {
		return err
	}
	p.folds = p.Folds
	if p.SplitColumn != "" {
		p.note("column %s: its training and validation rows are dealt to %d folds together, so that all of them train "+
			"and validate (-folds 0 leaves each kind to its own)", p.SplitColumn, p.folds)
	}
	for _, i := range p.localSites() {
		p.parts[i].fold(p.folds, p.stratum(i), p.countOf(i), p.Seed, i)
	}
	return nil
}

// fold turns validation rows into training rows and assigns all of these to count folds. Rows come
// in random order, class by class; each goes to the fold that represents the fewest rows so far, so
// that folds get equal shares of each class. rows returns the number of rows that a row represents.
// seed and site choose the order, so that each site has one of its own.
func (part *partition) fold(count int, classes []int32, rows func(row int) float64, seed uint64, site int) {
	for row, k := range part.of {
		if k == validation {
			part.of[row] = training
		}
	}
	part.sizes[training], part.sizes[validation] = part.sizes[training]+part.sizes[validation], 0
	part.folds = part.folds[:0]
	have := make([]float64, count) // by fold: the rows that it represents so far
	fold := make([]int, len(part.of))
	for _, row := range shuffledRows(len(part.of), classes, seed, streamFolds, site) {
		if part.of[row] == training {
			fold[row] = slices.Index(have, slices.Min(have))
			have[fold[row]] += rows(row)
		}
	}
	for row, k := range part.of {
		if k == training {
			part.folds = append(part.folds, fold[row])
		}
	}
}

// streamFolds separates the draws of folds from all other draws.
const streamFolds = 0x666f6c6473

// shuffledRows returns the numbers of n rows in an order of the seed, the rows of each class one
// after the other.
func shuffledRows(n int, classes []int32, seed, stream uint64, site int) []int {
	order := rand.New(rand.NewPCG(num.SplitMix(seed), num.SplitMix(num.SplitMix(uint64(site))^stream))).Perm(n)
	if classes != nil {
		slices.SortStableFunc(order, func(a, b int) int { return int(classes[a]) - int(classes[b]) })
	}
	return order
}

// crossValidate returns training and validation examples of site i for cross-validation. Both have
// the same rows, and weights that select folds (models.FoldWeights). Validation losses of survival
// times are means over events, so their weights are scaled before they are split into folds.
func (p *preparation) crossValidate(i int, all data.Examples) (train, val data.Examples, err error) {
	p.made.Weights[i] = all.Weight
	train, val = all, all
	train.Weight, val.Weight, err = models.FoldWeights(p.parts[i].folds, p.folds, all.Weight)
	if by := perEvent(p, training); by != 1 && err == nil {
		var weight *ad.Table
		if weight, err = scaled(all.Weight, all.Len(), by); err == nil {
			_, val.Weight, err = models.FoldWeights(p.parts[i].folds, p.folds, weight)
		}
	}
	return train, val, err
}
