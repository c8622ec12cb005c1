package experiment

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/runs"
)

// mostNotes is the largest number of lines of notes.
const mostNotes = 6

// writeAnswer writes the short summary of a run over tables: how good the model is, how much each
// site gained by joining, which features count, and notes. On a terminal the rows of sites have the
// colour of their outcome. Notes beyond mostNotes lines are left out.
func writeAnswer(b *bytes.Buffer, s *runs.Summary, a runs.Assessment, terminal bool) error {
	paragraph := func(text string) {
		if text != "" {
			fmt.Fprintf(b, "%s\n\n", strings.Join(cli.Wrap(text, cli.Columns), "\n"))
		}
	}
	paragraph(a.Judgement())
	if rows := joinedRows(s); rows != nil {
		var table bytes.Buffer
		if err := cli.Table(&table, rows); err != nil {
			return err
		}
		for k, line := range strings.Split(table.String(), "\n") {
			if site := k - 2; site >= 0 && site < len(s.Sites) { // after the head and its rule
				line = coloured(line, s.Sites[site].ChangeOutcome(len(s.Sites)), terminal)
			}
			fmt.Fprintln(b, line)
		}
		paragraph(s.ChangeMeaning())
	}
	paragraph(featuresText(a))
	var notes []string
	for _, n := range answerNotes(s, a) {
		notes = append(notes, cli.Wrap("Note: "+n, cli.Columns)...)
	}
	if len(notes) > 0 {
		fmt.Fprintf(b, "%s\n\n", strings.Join(notes[:min(len(notes), mostNotes)], "\n"))
	}
	return nil
}

// joinedRows returns the table of what each site gained by joining, and all test rows together; nil
// for a single site. The intervals of sites are widened to hold for all sites at once.
func joinedRows(s *runs.Summary) [][]string {
	if len(s.Sites) < 2 {
		return nil
	}
	rows := [][]string{{"site", "rows", "own model", "joint model", "change by joining"}}
	// intervals is the number of intervals that shall cover the truth together.
	add := func(name string, one runs.Site, intervals int) {
		row := []string{name, fmt.Sprint(one.Examples)}
		if !one.Change.Known() {
			rows = append(rows, append(row, "-", "-", one.NoChange()))
			return
		}
		for _, score := range []runs.SiteScore{one.Alone, one.Joint(s.TunedKept())} {
			text := lossText(score.Loss)
			if score.Accuracy.Known() {
				text += formatNumber(" (%.3f)", score.Accuracy)
			}
			row = append(row, text)
		}
		low, high := one.ChangeInterval(intervals)
		rows = append(rows, append(row,
			fmt.Sprintf("%s (%s to %s)", lossText(one.Change), lossText(low), lossText(high))))
	}
	for i, one := range s.Sites {
		add(one.Label(i), one, len(s.Sites))
	}
	if all := s.AllSites; all != nil {
		add("all sites", *all, 1)
	}
	return rows
}

// lossText formats a loss, or a difference of losses, with four decimals; with one from 100 on; and
// with more if four decimals would round it to 0, so that two or three digits show.
func lossText(n runs.Number) string {
	decimals := 4
	switch size := math.Abs(float64(n)); {
	case size >= 100:
		decimals = 1
	case 0 < size && size < 0.00005:
		for ; size < 0.001 && decimals < 12; size *= 10 {
			decimals++
		}
	}
	return strings.ReplaceAll(fmt.Sprintf("%.*f", decimals, float64(n)), "-", "−")
}

// negligible is the share of the largest weight below which a column is not among the used ones.
const negligible = 0.01

// featuresText names the columns with effects beyond chance, or, without any, the columns that the
// model uses most: in a linear model by the weight of a column times its step, in others by the
// rise of the loss without it (Importances, largest first). It is "" if there are neither. Features
// of one column are adjacent, so that Compact names it once.
func featuresText(a runs.Assessment) string {
	if a.Effects.ByChance() {
		return fmt.Sprintf("No feature counts beyond chance (p = %.2g).", a.Effects.NoFeature)
	}
	var used, beyond []string
	largest := 0.0
	for _, c := range a.Coefficients {
		largest = max(largest, math.Abs(float64(c.Value)*c.Step()))
	}
	for _, c := range a.Coefficients {
		if size := math.Abs(float64(c.Value) * c.Step()); size > 0 && size >= negligible*largest {
			used = append(used, cmp.Or(c.Column, c.Feature))
		}
		if c.BeyondChance {
			beyond = append(beyond, c.Column)
		}
	}
	for _, one := range a.Importances {
		if one.Rise > 0 && one.Rise >= negligible*a.Importances[0].Rise {
			used = append(used, one.Feature)
		}
	}
	switch {
	case beyond != nil:
		head := "Columns that count beyond chance"
		if e := a.Effects; e != nil && e.Shown < e.Of {
			head += ", of those that the model uses most"
		}
		return head + ": " + strings.Join(slices.Compact(beyond), ", ") + "."
	case used != nil:
		return "Columns that the model uses most: " + strings.Join(slices.Compact(used), ", ") + "."
	}
	return ""
}

// answerNotes returns the notes of writeAnswer, the most important first. Measures with heavy tails
// share one note.
func answerNotes(s *runs.Summary, a runs.Assessment) (notes []string) {
	notes = append(notes, s.Warnings...)
	for _, m := range s.Models {
		if m.Kept && !m.Solved() {
			notes = append(notes, "The model has not converged: it is not the best that there is.")
		}
	}
	marked := map[string][]string{}
	for _, m := range a.Measures {
		marked[m.Note] = append(marked[m.Note], m.Name)
	}
	if of := marked[runs.HeavyTails]; of != nil {
		notes = append(notes, fmt.Sprintf("%s: %s.", strings.Join(of, ", "), runs.HeavyTails))
	}
	if advice := s.JoiningAdvice(a); advice != "" {
		notes = append(notes, advice)
	}
	if a.Levels {
		notes = append(notes, "Each site predicts with a level of its own: of rows of a new site nothing is judged.")
	}
	if a.Kept > a.Made {
		notes = append(notes, fmt.Sprintf("These numbers are of a model of %s. The one that is kept is of all %d, the "+
			"test rows too (-refit none leaves them out).", wording.Count(a.Made, "row"), a.Kept))
	}
	return notes
}
