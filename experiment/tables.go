package experiment

import (
	"slices"

	"dsbo/runs"
)

// notConverged marks the name of a model whose solution has not converged, in every table.
const notConverged = " (not converged)"

// modelRows returns the table of models; nil if there are none. A model that has not converged is
// marked. It has no Φ, as that would not be exact, unless the lower problem has several solutions,
// where Φ is never exact.
func modelRows(s *runs.Summary) [][]string {
	if len(s.Models) == 0 {
		return nil
	}
	rows := [][]string{{"model", "Φ", "val loss", "held out", "test loss", "accuracy"}}
	for _, m := range s.Models {
		name := m.Name
		if !m.Converged {
			name += notConverged
		}
		rows = append(rows, []string{
			name, formatNumber("%.4f", m.PhiSolved()), formatNumber("%.4f", m.ValLoss),
			formatNumber("%.4f", m.HoldoutLoss),
			formatNumber("%.4f", m.TestLoss), formatNumber("%.4f", m.TestAccuracy),
		})
	}
	// Remove columns without values, as accuracies of numbers, from right to left: indices stay
	// valid.
	for _, column := range []int{5, 3} {
		if !slices.ContainsFunc(rows[1:], func(r []string) bool { return r[column] != "-" }) {
			for i, r := range rows {
				rows[i] = slices.Delete(r, column, column+1)
			}
		}
	}
	return rows
}

// widestCross is the largest number of sites whose models and rows fit on a line.
const widestCross = 6

// crossRows returns the table of test losses of each model on the test rows of each site; nil where
// the sites' own models have not been tried on others' rows, or are too many for a screen.
func crossRows(sites []runs.Site) [][]string {
	if len(sites) == 0 || len(sites) > widestCross || len(sites[0].OthersAlone) == 0 {
		return nil
	}
	head := []string{"test loss on rows of"}
	for i, s := range sites {
		head = append(head, s.Label(i))
	}
	rows := [][]string{append(head, "all sites")}
	for _, m := range runs.SiteModels(sites) {
		row := []string{m.Name}
		for _, score := range m.Scores {
			row = append(row, formatNumber("%.4f", score.Loss))
		}
		rows = append(rows, row)
	}
	return rows
}
