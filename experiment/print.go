package experiment

import (
	"bytes"
	"fmt"
	"io"

	"dsbo/internal/cli"
	"dsbo/report"
	"dsbo/runs"
)

// printResult writes the page about the run, and the table with what it found.
func (r *runner) printResult(w io.Writer) error {
	head := fmt.Sprintf("%s; %v\nEach model is found by all agents together at its λ; ", r.problem.line, r.graph)
	if r.problem.convex {
		head += "Φ is exact."
	} else {
		head += "the lower problem is not convex, so there is no Φ."
	}
	return Print(w, &r.summary, head, r.folder, r.Settings.Report)
}

// Print writes a finished run's models and what they cost to w, after a head. With page it first writes report.html and its
// figures to the run's folder.
func Print(w io.Writer, s *runs.Summary, head string, folder runs.Folder, page bool) error {
	path := ""
	if page {
		run, err := report.Load(string(folder))
		if err != nil {
			return err
		}
		if path, err = report.Write(string(folder), []*report.Run{run}, report.Options{}); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	b.WriteString(head + "\n\n")
	if err := printModels(&b, s); err != nil {
		return err
	}
	for _, f := range [][2]string{
		{"iterations", fmt.Sprintf("%d of %s, %s ms each", s.Iterations, s.Algorithm, formatNumber("%.0f", s.MsPerIteration))},
		{"consensus error of x", formatNumber("%.2e", s.ConsensusX)},
		{"hypergradient error", formatNumber("%.3f", s.HypergradientError)},
		{"sent", fmt.Sprintf("%.0f numbers an agent and iteration (by the method's formula %.0f), %.1f MB in all", s.FloatsSent, s.FloatsFormula, float64(s.BytesSent)/1e6)},
		{"peak memory", formatNumber("%.0f MiB", s.PeakRSSMiB)},
		{"run folder", string(folder)},
		{"report", path},
	} {
		if f[1] != "" {
			fmt.Fprintf(&b, "%-22s%s\n", f[0], f[1])
		}
	}
	_, err := b.WriteTo(w)
	return err
}

// printModels writes the table of models, and which of them are not to be trusted.
func printModels(b *bytes.Buffer, s *runs.Summary) error {
	rows := [][]string{{"model", "Φ", "validation loss", "test loss", "test accuracy"}}
	for _, m := range s.Models {
		rows = append(rows, []string{m.Name, formatNumber("%.4f", m.Phi), formatNumber("%.4f", m.ValLoss), formatNumber("%.4f", m.TestLoss), formatNumber("%.4f", m.TestAccuracy)})
	}
	rows = append(rows, []string{"last iterate", "", formatNumber("%.4f", s.ValLoss), formatNumber("%.4f", s.TestLoss), formatNumber("%.4f", s.TestAccuracy)})
	if err := cli.Table(b, rows); err != nil {
		return err
	}
	for _, m := range s.Models {
		if !m.Converged {
			fmt.Fprintf(b, "%s: stopped after %d steps, before it had converged (gradient %.1e)\n", m.Name, m.Steps, m.Gradient)
		}
	}
	b.WriteString("\n")
	return nil
}

// formatNumber writes a number that may not be known.
func formatNumber(format string, n runs.Number) string {
	if !n.Known() {
		return "-"
	}
	return fmt.Sprintf(format, float64(n))
}
