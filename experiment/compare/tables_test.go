package compare

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/runs/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// handmade is a result of two methods, one at the edge of its grid, and one that is not for
// the task.
func handmade(t *testing.T) *Result {
	t.Helper()
	s := testkit.Get(Parse([]byte(`{
		"tasks": [{"task": "synthetic -r=1", "name": "50 % & _more_"}],
		"methods": [{"method": "dsoba", "grid": {"alpha": [0.1, 1]}}, "newtoncg", "dascgd"], "seeds": [1, 2]}`)))
	k := &Ranking{Task: s.Tasks[0], spec: s}
	for i, m := range s.Methods {
		e := newEntry(m)
		e.search = m.Grid.search(0)
		e.search.Best = make([]int, len(m.Grid))
		for n := range m.Grid.points() {
			point := make([]int, len(m.Grid))
			if len(point) > 0 {
				point[0] = n
			}
			e.search.Tried = append(e.search.Tried, point)
			for _, seed := range s.Seeds {
				trial := &Trial{Task: s.Tasks[0].Name, Method: m.Name, Point: m.Grid.String(point), Seed: seed,
					Folder: "out", State: NotApplicable, Error: "dascgd is for others"}
				if m.Algorithm != "dascgd" {
					trial.State, trial.Error = runs.Finished, ""
					trial.Config = runs.Config{Task: "synthetic", Agents: 4}
					for record := range 3 {
						trial.Records = append(trial.Records, runs.Record{
							Iteration: record, Phi: runs.Number(8 - 2*float64(i*record) - float64(n*record) -
								float64(seed)/4), TestLoss: 0.5 + runs.Number(i)*runs.Number(seed)/16,
							TestAccuracy: runs.Unknown(),
							ValLoss:      0.25, HoldoutLoss: runs.Unknown(), Calls: dsbo.Calls{HVP: 40 * record},
							Traffic: dsbo.Traffic{Bytes: int64(record) * 3e6}, Seconds: float64(record),
						})
					}
					trial.Summary = runs.Summary{TestLossTuned: runs.Unknown()}
				}
				e.points[trial.Point] = append(e.points[trial.Point], trial)
			}
		}
		if i == 0 {
			e.search.Best = []int{1}
		}
		k.Entries = append(k.Entries, e)
	}
	k.untuned = newEntry(untuned)
	k.untuned.search = &Search{Tried: [][]int{nil}}
	for _, seed := range s.Seeds {
		k.untuned.points[""] = append(k.untuned.points[""], &Trial{Method: untuned.Name, Seed: seed,
			State: runs.Finished, Summary: runs.Summary{Verdict: runs.Verdict{Against: "λ = 0"},
				Models: []runs.Model{{Name: "λ = 0", Phi: 7, TestLoss: 0.75, TestAccuracy: runs.Unknown()},
					{Name: "tuned", Phi: 1}}}})
	}
	r := &Result{Spec: s, Processes: 2, Rankings: []*Ranking{k}}
	testkit.OK(r.rank())
	return r
}

// TestTables compares the tables with those that were read through by hand.
func TestTables(t *testing.T) {
	r := handmade(t)
	for name, write := range map[string]func(*bytes.Buffer) error{
		CSVFile:   func(b *bytes.Buffer) error { return r.WriteCSV(b) },
		BestFile:  func(b *bytes.Buffer) error { return r.WriteBest(b) },
		LaTeXFile: func(b *bytes.Buffer) error { return r.WriteLaTeX(b) },
	} {
		var b bytes.Buffer
		testkit.OK(write(&b))
		path := filepath.Join("testdata", name)
		if *update {
			testkit.OK(os.WriteFile(path, b.Bytes(), 0o644))
		}
		if want := testkit.Get(os.ReadFile(path)); !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s is\n%s\nwant\n%s", name, &b, want)
		}
	}
}

// TestUnlikeProblems: runs with other data than the first one's are not ranked with it.
func TestUnlikeProblems(t *testing.T) {
	r := handmade(t)
	r.Rankings[0].Entries[1].Trials()[1].Config.Agents = 5
	if err := r.rank(); err == nil {
		t.Error("want an error")
	}
}

// TestPaired: against a table of Student's t, two-sided 5 % with 4 degrees of freedom are 2.776.
func TestPaired(t *testing.T) {
	const limit = 2.7764451
	differences := []float64{-1, 1, -1, 1, 0} // standard deviation 1, and so t = √5·mean
	a := make([]float64, len(differences))
	for i, d := range differences {
		a[i] = 7 + d + limit/math.Sqrt(5)
	}
	d := paired(a, []float64{7, 7, 7, 7, 7})
	if math.Abs(d.p-0.05) > 1e-6 || math.Abs(d.half-d.mean) > 1e-6 || math.Abs(d.mean-limit/math.Sqrt(5)) > 1e-9 {
		t.Errorf("%+v; p must be 0.05, and the interval must reach to 0", d)
	}
	for _, c := range [][]float64{{1}, {2, 2}, {math.NaN(), 1}} {
		if d := paired(c, make([]float64, len(c))); !math.IsNaN(d.p) || !math.IsNaN(d.half) {
			t.Errorf("%v: %+v, which nobody can know", c, d)
		}
	}
}

// TestCurves: a line for each number that is known, and figures of them for LaTeX.
func TestCurves(t *testing.T) {
	r := handmade(t)
	var b bytes.Buffer
	testkit.OK(r.WriteCurves(&b))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	// two methods that finished, two seeds, three records, phi and test_loss
	if len(lines) != 1+2*2*3*2 || !strings.Contains(b.String(), "newtoncg,,1,2,6,20,2,phi,3.75\n") {
		t.Errorf("%d lines:\n%s", len(lines), &b)
	}
	records := r.Rankings[0].Entries[0].Best[0].Records
	for i, v := range []runs.Number{runs.Unknown(), runs.Number(math.Inf(1))} {
		before := records[i].Phi
		b.Reset()
		records[i].Phi = v
		testkit.OK(r.WriteCurves(&b))
		if got := strings.Count(b.String(), "\n"); got != len(lines)-1 {
			t.Errorf("with Φ %v: %d lines, want one fewer than %d", v, got, len(lines))
		}
		records[i].Phi = before
	}
	b.Reset()
	f := r.Rankings[0].figure(Phi, Bytes)
	testkit.OK(writePGF(&b, &f))
	if text := b.String(); strings.Count(text, "\\addlegendentry") != len(f.Series) ||
		!strings.Contains(text, "xmode=log, ymode=normal") || strings.Contains(text, "(0,") {
		t.Errorf("figure:\n%s", text)
	}
}

// TestGap: Φ is shown above the lowest of the same data, which a seed draws, and so is the best
// constant. The lowest here is 4 − seed/4, by newtoncg with both seeds, and the constant 7.
func TestGap(t *testing.T) {
	f := handmade(t).Rankings[0].figure(PhiGap, Iterations)
	best := f.Series[1]
	if end := len(best.Y) - 1; best.Low[end] != 0 || best.High[end] != 0 {
		t.Errorf("the best method ends from %g to %g above itself", best.Low[end], best.High[end])
	}
	if want := 7 - 4 + (1./4+2./4)/2; f.Levels[0].Y != want {
		t.Errorf("the best constant is %g above the lowest, want %g", f.Levels[0].Y, want)
	}
}

// TestBestMean: tables that show means have the lowest mean first, which the median may not have.
func TestBestMean(t *testing.T) {
	r := handmade(t)
	k := r.Rankings[0]
	for _, e := range k.Entries[:2] {
		e.Best = append(e.Best, e.Best[1])
	}
	k.Entries[1].Best[0].Records[2].Phi = 20 // of newtoncg, whose others have 3.5, where dsoba has 5.75, 5.5, 5.5
	row := k.rows(k.byMean())[0]
	if median := k.sorted()[0].Method.Name; median != "newtoncg" || row.Method != "dsoba" || !row.Best {
		t.Errorf("the best median is of %s, the best mean of %s, marked %t", median, row.Method, row.Best)
	}
}

// TestUnknownComesLast: entries are in the order of their values, those without one at the end.
func TestUnknownComesLast(t *testing.T) {
	values := map[string]float64{"none": math.NaN(), "large": 2, "nor": math.NaN(), "small": -1, "endless": math.Inf(1)}
	var entries []*Entry
	for _, name := range []string{"none", "large", "nor", "endless", "small"} {
		entries = append(entries, newEntry(Method{Name: name}))
	}
	var got []string
	for _, e := range sortedBy(entries, func(e *Entry) float64 { return values[e.Method.Name] }) {
		got = append(got, e.Method.Name)
	}
	if want := []string{"small", "large", "endless", "none", "nor"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}

// TestPointsOfPGF: a figure for documents has the points that its axes can draw, no others.
func TestPointsOfPGF(t *testing.T) {
	xs, ys := []float64{0, 1, 2, 3, 4, 5}, []float64{7, 0, math.NaN(), math.Inf(1), -8, 9}
	plain := report.Figure{}.XScale
	for _, c := range []struct {
		x, y report.Scale
		want string
	}{
		{plain, plain, "{(0,7) (1,0) (4,-8) (5,9) }"}, {report.Log, plain, "{(1,0) (4,-8) (5,9) }"},
		{plain, report.Log, "{(0,7) (5,9) }"}, {report.Log, report.Log, "{(5,9) }"},
	} {
		var text bytes.Buffer
		testkit.OK(writePGF(&text, &report.Figure{XScale: c.x, YScale: c.y, Series: []report.Series{{X: xs, Y: ys}}}))
		if !strings.Contains(text.String(), "coordinates "+c.want) {
			t.Errorf("scales %v and %v: want the points %s in\n%s", c.x, c.y, c.want, &text)
		}
	}
}
