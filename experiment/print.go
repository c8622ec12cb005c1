package experiment

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"dsbo/internal/cli"
	"dsbo/report"
	"dsbo/runs"
)

// printResult writes what the run found.
func (r *runner) printResult(w io.Writer) error {
	head := fmt.Sprintf("%s; %v", r.problem.line, r.graph)
	if r.problem.Nonconvex {
		head += "; the lower problem is not convex, and Φ is at the solutions reached"
	}
	return Print(w, &r.summary, head, r.folder, r.Settings.Report)
}

// writePage writes report.html of a run and its figures to its folder, and returns the page's path.
func writePage(folder runs.Folder) (string, error) {
	run, err := report.Load(string(folder))
	if err != nil {
		return "", err
	}
	return report.Write(string(folder), []*report.Run{run}, report.Options{})
}

// Print writes to w what a finished run gave: the verdict, then the table of models, what they cost, and where the rest is. head
// says what problem it was. With page it first writes report.html and its figures to the run's folder.
func Print(w io.Writer, s *runs.Summary, head string, folder runs.Folder, page bool) (err error) {
	path := ""
	if page {
		if path, err = writePage(folder); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	writeVerdict(&b, "", s.Verdict, cli.IsTerminal(w))
	for _, line := range cli.Wrap(head, cli.Columns) {
		fmt.Fprintln(&b, line)
	}
	b.WriteString("\n")
	if len(s.Models) > 0 {
		if err := cli.Table(&b, modelRows(s)); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	for _, rows := range [][][]string{siteRows(s.Sites), crossRows(s.Sites)} {
		if rows == nil {
			continue
		}
		if err := cli.Table(&b, rows); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	for _, f := range [][2]string{
		{"privacy", privacyLine(s)},
		{"kept", keptLine(s)},
		{"iterations", fmt.Sprintf("%d of %s, %s ms each", s.Iterations, s.Algorithm, formatNumber("%.0f", s.MsPerIteration))},
		{"sent by all agents", megabytes(s.Traffic)},
		{"peak memory", formatNumber("%.0f MiB", s.PeakRSSMiB)},
		{"run folder", string(folder)},
		{"report", path},
	} {
		if f[1] != "" {
			fmt.Fprintf(&b, "%-20s%s\n", f[0], f[1])
		}
	}
	_, err = b.WriteTo(w)
	return err
}

// privacyLine says what differential privacy a run had, and how good its model is as far as that tells.
func privacyLine(s *runs.Summary) string {
	if s.Privacy == nil {
		return ""
	}
	return fmt.Sprintf("ε = %.4g, δ = %.4g; noisy test loss %s, accuracy %s", s.Privacy.Epsilon, s.Privacy.Delta,
		formatNumber("%.4f", s.TestLoss), formatNumber("%.4f", s.TestAccuracy))
}

// megabytes writes what all agents have sent.
func megabytes(t runs.Traffic) string {
	mb := func(s runs.Sent) float64 { return float64(s.Bytes) / 1e6 }
	text := fmt.Sprintf("%.1f MB: method %.1f, evaluation %.1f, models %.1f", mb(t.Total()), mb(t.Method), mb(t.Evaluation), mb(t.Models))
	if t.Setup.Bytes > 0 {
		text += fmt.Sprintf(", loading %.1f", mb(t.Setup))
	}
	return text
}

// colours are the codes that begin a terminal's colour of an outcome.
var colours = map[runs.Outcome]string{runs.Better: "\x1b[32m", runs.Worse: "\x1b[31m"}

// writeVerdict writes the sentence after a label, on a terminal in its colour, and the notes.
func writeVerdict(b *bytes.Buffer, label string, v runs.Verdict, terminal bool) {
	begin, end := "", ""
	if c := colours[v.Outcome]; terminal && c != "" {
		begin, end = c, "\x1b[0m"
	}
	fmt.Fprintf(b, "%s%s%s\n", begin, strings.Join(cli.Wrap(label+v.Sentence, cli.Columns), "\n"), end)
	for _, n := range v.Notes {
		fmt.Fprintln(b, strings.Join(cli.Wrap("Note: "+n, cli.Columns), "\n"))
	}
	b.WriteString("\n")
}

// keptLine says which model lambda.npy and omega.npy are.
func keptLine(s *runs.Summary) string {
	for _, m := range s.Models {
		if m.Kept {
			return m.Name + " (lambda.npy, omega.npy)"
		}
	}
	return ""
}

// notConverged marks the name of a model whose solution has not converged, in every table.
const notConverged = " (not converged)"

// modelRows returns the table of models. A model that has not converged is marked, and has no Φ, which would not be
// exact, unless it is that of a solution among several.
func modelRows(s *runs.Summary) [][]string {
	heldOut := false
	for _, m := range s.Models {
		heldOut = heldOut || m.HoldoutLoss.Known()
	}
	rows := [][]string{{"model", "Φ", "val loss", "held out", "test loss", "accuracy"}}
	for _, m := range s.Models {
		name, phi := m.Name, formatNumber("%.4f", m.Phi)
		if !m.Converged {
			name += notConverged
		}
		if !m.Converged && !m.Reached {
			phi = "-"
		}
		rows = append(rows, []string{
			name, phi, formatNumber("%.4f", m.ValLoss), formatNumber("%.4f", m.HoldoutLoss), formatNumber("%.4f", m.TestLoss), formatNumber("%.4f", m.TestAccuracy),
		})
	}
	if !heldOut {
		for i, r := range rows {
			rows[i] = append(r[:3], r[4:]...)
		}
	}
	return rows
}

// siteRows returns the table that says what each site gains by taking part, and all test examples together; nil if there are no sites.
func siteRows(sites []runs.Site) [][]string {
	if len(sites) == 0 {
		return nil
	}
	rows := [][]string{{"test loss (accuracy)", "examples", "site alone", "all, one penalty", "all, tuned"}}
	add := func(name string, s runs.Site) {
		row := []string{name, fmt.Sprint(s.Examples)}
		for _, score := range []runs.SiteScore{s.Alone, s.Constant, s.Tuned} {
			text := formatNumber("%.4f", score.Loss)
			if score.Accuracy.Known() {
				text += formatNumber(" (%.3f)", score.Accuracy)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	for i, s := range sites {
		add(s.Label(i), s)
	}
	add("all sites", runs.AllSites(sites))
	return rows
}

// widestCross is the largest number of sites whose models and rows fit on a line.
const widestCross = 6

// crossRows returns the table of test losses of each model on the test rows of each site; nil where the sites' own models have not
// been tried on others' rows, or are too many for a screen.
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

// formatNumber writes a number that may not be known.
func formatNumber(format string, n runs.Number) string {
	if !n.Known() {
		return "-"
	}
	return fmt.Sprintf(format, float64(n))
}
