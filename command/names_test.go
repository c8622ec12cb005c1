package command

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/internal/wording"
)

// forged ends a line, begins another one, and turns a terminal red. A table with NUL is refused.
const forged = "\nFORGED\t\r\x1b[31m\u200f\u2028z"

// TestNamesStayInTheirLine: no name of a column, a class, a word, a site, a file or a folder ends
// a line of stdout or stderr, or has a character that moves the cursor. A short name is in a line
// that is not wrapped, a long one in one that is.
func TestNamesStayInTheirLine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d"+forged)
	testkit.OK(os.Mkdir(dir, 0o777))
	for site := range 2 {
		r := rand.New(rand.NewPCG(uint64(site), 5))
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		testkit.OK(w.Write([]string{"a" + forged, "word" + forged, "t" + forged}))
		for range 120 {
			x, word := r.NormFloat64(), r.IntN(3)
			class := "no" + forged
			if 3*x+r.NormFloat64() > 0 {
				class = "yes" + forged
			}
			testkit.OK(w.Write([]string{fmt.Sprint(x), fmt.Sprint(word, forged), class}))
		}
		w.Flush()
		testkit.OK(os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d.csv", site)), text.Bytes(), 0o666))
	}
	data, out, target := filepath.Join(dir, "s{agent}.csv"), filepath.Join(dir, "run"), "t"+forged
	tune := []string{"tune", "-data", data, "-target", target, "-K", "2"}
	for _, c := range []struct {
		args []string
		said string // what shows that the command wrote the name
	}{
		{append(tune, "-out", out), `Columns that count beyond chance: a\nFORGED`},
		{append(tune, "-out", out, "-force", "-v"), `run folder          /`},
		{append(tune, "-out", out+"2", "-from", out), `run2`},
		{append(tune, "-check"), `word\nFORGED`},
		{append(tune, "-out", out), "holds a finished run"},
		{append(tune, "-out", out+"3", "-drop", "b"+forged), `there is no column "b\nFORGED`},
		{append(tune, "-out", out+"3", "-drop", "b"), `its columns are a\nFORGED`},
		{[]string{"plan", "tune", "-data", data, "-target", target}, `t\nFORGED`},
		{[]string{"predict", "-model", out, "-data", filepath.Join(dir, "s0.csv")}, `p_no\nFORGED`},
		{[]string{"predict", "-model", out, "-data", filepath.Join(dir, "none")}, "no such file"},
		{[]string{"report", out}, `\nFORGED`},
		{[]string{"report", filepath.Join(dir, "none")}, "FORGED"},
		{[]string{"init", filepath.Join(dir, "new")}, `\nFORGED`},
		{[]string{"mnist", "-data", dir, "-out", filepath.Join(dir, "mnist")}, "MNIST not found"},
		{[]string{"mnist", "-K", "1" + forged}, `"1\nFORGED`},
		{[]string{"mnist", "-n" + forged, "1"}, "unknown flag -n"},
		{[]string{"verb" + forged}, `unknown verb "verb\nFORGED`},
	} {
		var stdout, stderr bytes.Buffer
		if err := run(t.Context(), c.args, &stdout, &stderr); err != nil {
			cli.Report(&stderr, "dsbo", err)
		}
		all := stdout.String() + stderr.String()
		if !strings.Contains(all, c.said) {
			t.Errorf("%q: %q has no %q", c.args, all, c.said)
		}
		for line := range strings.Lines(all) {
			if !wording.Printable(strings.TrimSuffix(line, "\n")) || strings.HasPrefix(line, "FORGED") {
				t.Errorf("%q has the line %q", c.args, line)
			}
		}
	}
}
