package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/runs/report"
)

// WriteResult writes the result of a finished run to w: the verdict, the table of models, the cost,
// and the paths of further files. For a run over tables it writes the short summary (writeAnswer)
// first, and only that unless all is set, by -v. head names the problem. With page it first writes
// report.html to the run folder, with figures if the program draws them. After an error nothing is
// written to w.
func WriteResult(w io.Writer, s *runs.Summary, head string, folder runs.Folder, page, all bool) (err error) {
	path := ""
	if page {
		if path, err = report.WriteRun(string(folder)); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	a, err := folder.ReadAssessment()
	if err == nil {
		if err := writeAnswer(&b, s, a, cli.IsTerminal(w)); err != nil {
			return err
		}
		if !all {
			writeFacts(&b, [][2]string{{"model", string(folder)}, {"all of it", path}})
			_, err = b.WriteTo(w)
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) { // only runs over tables have an assessment
		return err
	}
	writeVerdict(&b, s.Verdict, cli.IsTerminal(w))
	for _, line := range cli.Wrap(head, cli.Columns) {
		fmt.Fprintln(&b, line)
	}
	b.WriteString("\n")
	for _, rows := range [][][]string{modelRows(s), crossRows(s.Sites)} {
		if rows == nil {
			continue
		}
		if err := cli.Table(&b, rows); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	writeFacts(&b, [][2]string{
		{"privacy", privacyLine(s)},
		{"kept", keptLine(s)},
		{"not known", strings.Join(s.Unknown, "; ")},
		{"members at the end", wording.Ranges(s.Members)},
		{"iterations", fmt.Sprintf("%d of %s, %s ms each", s.Iterations, s.Algorithm,
			formatNumber("%.0f", s.MsPerIteration))},
		{"sent by all agents", megabytes(s.Traffic)},
		{"peak memory", formatNumber("%.0f MiB", s.PeakRSSMiB)},
		{"run folder", string(folder)},
		{"report", path},
		{"figures for print", printHint(folder, path)},
	})
	_, err = b.WriteTo(w)
	return err
}

// printHint returns the command that draws the figures of a page for print, where this program did
// not; "" without a page.
func printHint(folder runs.Folder, page string) string {
	if page == "" || report.Draw != nil {
		return ""
	}
	return "dsbo report " + string(folder)
}

// writeFacts writes names and values in two columns, but for empty values.
func writeFacts(b *bytes.Buffer, facts [][2]string) {
	for _, f := range facts {
		if f[1] != "" {
			_ = cli.Printf(b, "%-20s%s\n", f[0], f[1]) // a buffer takes all
		}
	}
}

// privacyLine returns a run's differential privacy, and its model's quality within that.
func privacyLine(s *runs.Summary) string {
	if s.Privacy == nil {
		return ""
	}
	return fmt.Sprintf("ε = %.4g, δ = %.4g; noisy test loss %s, accuracy %s", s.Privacy.Epsilon, s.Privacy.Delta,
		formatNumber("%.4f", s.TestLoss), formatNumber("%.4f", s.TestAccuracy))
}

// megabytes writes what all agents have sent.
func megabytes(t runs.PhaseTraffic) string {
	mb := func(s dsbo.Traffic) float64 { return float64(s.Bytes) / 1e6 }
	text := fmt.Sprintf("%.1f MB: method %.1f, evaluation %.1f, models %.1f", mb(t.Total()), mb(t.Method),
		mb(t.Evaluation), mb(t.Models))
	if t.Setup.Bytes > 0 {
		text += fmt.Sprintf(", loading %.1f", mb(t.Setup))
	}
	return text
}

// colours are the codes that begin a terminal's colour of an outcome.
var colours = map[runs.Outcome]string{runs.Better: "\x1b[32m", runs.Worse: "\x1b[31m"}

// coloured returns a text, on a terminal in the colour of an outcome.
func coloured(text string, of runs.Outcome, terminal bool) string {
	if c := colours[of]; terminal && c != "" {
		return c + text + "\x1b[0m"
	}
	return text
}

// writeVerdict writes the sentence, on a terminal in its colour, and the notes.
func writeVerdict(b *bytes.Buffer, v runs.Verdict, terminal bool) {
	fmt.Fprintln(b, coloured(strings.Join(cli.Wrap(v.Sentence, cli.Columns), "\n"), v.Outcome, terminal))
	for _, n := range v.Notes {
		fmt.Fprintln(b, strings.Join(cli.Wrap("Note: "+n, cli.Columns), "\n"))
	}
	b.WriteString("\n")
}

// keptLine names the model in lambda.npy and omega.npy.
func keptLine(s *runs.Summary) string {
	for _, m := range s.Models {
		if m.Kept {
			return m.Name + " (lambda.npy, omega.npy)"
		}
	}
	return ""
}

// formatNumber writes a number in a format of package fmt, "-" if it is not known.
func formatNumber(format string, n runs.Number) string {
	if !n.Known() {
		return "-"
	}
	return fmt.Sprintf(format, float64(n))
}
