package report

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// grouped loads fixtures and puts them together.
func grouped(t *testing.T, fs ...fixture) []group {
	t.Helper()
	return testkit.Get(groups(loaded(t, fs...)))
}

func TestGroups(t *testing.T) {
	type set = map[string]any
	tests := []struct {
		name string
		fs   []fixture
		want []string
	}{
		{"seeds are one", []fixture{{method: "madsbo", seed: 1}, {method: "madsbo", seed: 2}}, []string{"madsbo"}},
		{"machines are one", []fixture{{method: "madsbo", seed: 1},
			{method: "madsbo", seed: 2, settings: set{"build": set{"go": "go1.27"}}}}, []string{"madsbo"}},
		{"steps from the curvature",
			[]fixture{{method: "madsbo", seed: 1, settings: set{"params.gamma": 0.8 / 4}},
				{method: "madsbo", seed: 2, settings: set{"params.gamma": 0.8 / 5}}}, []string{"madsbo"}},
		{"nearly steps from the curvature",
			[]fixture{{name: "a", method: "madsbo", seed: 1, settings: set{"params.gamma": 0.2}},
				{name: "b", method: "madsbo", seed: 2, settings: set{"params.gamma": 0.1601}}},
			[]string{"madsbo (γ 0.2)", "madsbo (γ 0.1601)"}},
		{"steps without a curvature",
			[]fixture{{name: "a", method: "madsbo", settings: set{"curvature": 0, "params.gamma": 0.2}},
				{name: "b", method: "madsbo", settings: set{"curvature": 0, "params.gamma": 0.1}}},
			[]string{"madsbo (γ 0.2)", "madsbo (γ 0.1)"}},
		{"a bound of the curvature",
			[]fixture{{method: "gbdsbo", seed: 1, settings: set{"params.lg": 1.05 * 4}},
				{method: "gbdsbo", seed: 2, settings: set{"params.lg": 1.05 * 5}}}, []string{"gbdsbo"}},
		{"methods", []fixture{{method: "madsbo"}, {method: "jhip", settings: set{"params.alpha": 0.1}}},
			[]string{"madsbo", "jhip"}},
		{"settings", []fixture{{name: "a", method: "madsbo"},
			{name: "b", method: "madsbo", settings: set{"params.alpha": 0.1}}, {method: "jhip"}},
			[]string{"madsbo (α 0.5)", "madsbo (α 0.1)", "jhip"}},
		{"a setting of one", []fixture{{name: "a", method: "madsbo"},
			{name: "b", method: "madsbo", settings: set{"params.clip": 3}}},
			[]string{"madsbo (clip unset)", "madsbo (clip 3)"}},
		{"settings in one order",
			[]fixture{{name: "a", method: "madsbo"}, {name: "b", method: "madsbo", settings: set{"params.alpha": 0.1}},
				{name: "c", method: "madsbo", settings: set{"params.beta": 0.1}}},
			[]string{"madsbo (α 0.5, β 0.5)", "madsbo (α 0.1, β 0.5)", "madsbo (α 0.5, β 0.1)"}},
		{"many settings", []fixture{{name: "a", method: "madsbo"},
			{name: "b", method: "madsbo",
				settings: set{"params.alpha": 1, "params.beta": 2, "params.gamma": 3, "params.T": 4}}},
			[]string{"madsbo (a)", "madsbo (b)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var labels []string
			for _, g := range grouped(t, tt.fs...) {
				labels = append(labels, g.label)
			}
			if diff := cmp.Diff(tt.want, labels); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRunTable: runs have a column for each setting in which groups differ, a dash where they have
// none.
func TestRunTable(t *testing.T) {
	rows := runTable(grouped(t, fixture{name: "a", method: "madsbo"},
		fixture{name: "b", method: "madsbo", settings: map[string]any{"params.alpha": 0.1, "params.clip": 3}}))
	var got [][]string
	for _, row := range rows.Rows {
		got = append(got, []string{row[len(row)-2].Text, row[len(row)-1].Text})
	}
	if diff := cmp.Diff([][]string{{"0.5", none}, {"0.1", "3"}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestComparison: in tables of models a group of which any run's models are unsolved has a mark;
// the number of runs is there once a group has two; and rows ascend, those without the measure
// last.
func TestComparison(t *testing.T) {
	with := func(summary map[string]any, phi any) map[string]any {
		summary["phi_end"] = phi
		return summary
	}
	a := fixture{method: "a", seed: 1, done: 100, summary: with(ended(), 2)}
	b := fixture{method: "b", seed: 1, done: 100, summary: with(ended(), nil)}
	c := fixture{method: "c", seed: 1, done: 100, summary: with(ended(), 1)}
	again := fixture{method: "a", seed: 2, done: 100, summary: with(lost(), 2)}
	phi := measure{Title: "Φ", Value: "summary phi_end", Show: "number"}
	for _, test := range []struct {
		fs     []fixture
		models bool
		want   string // names in their order, with marks, and titles of columns
	}{
		{[]fixture{a, b, c}, true, "c a b Method Φ"},
		{[]fixture{a, b, c, again}, true, "c a* b Method Runs Φ"},
		{[]fixture{a, again, b, c}, false, "c a b Method Runs Φ"},
	} {
		made := comparison("", "Method", grouped(t, test.fs...), topic{Models: test.models, Measures: []measure{phi}})
		var got []string
		for _, row := range made.Rows {
			got = append(got, row[0].Text+map[string]string{notConverged: "*"}[row[0].Mark])
		}
		for _, column := range made.Columns {
			got = append(got, column.Title)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("models %t: %q, want %q", test.models, got, test.want)
		}
	}
}

func TestMixedTasksAreRefused(t *testing.T) {
	_, err := Write(t.TempDir(),
		loaded(t, fixture{name: "a", method: "madsbo"}, fixture{name: "b", task: "synthetic", method: "madsbo"}),
		"")
	if !errors.Is(err, dsbo.ErrConfig) {
		t.Fatal(err)
	}
	for _, word := range []string{"a", "mnist with softmax", "b", "synthetic"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v: lacks %q", err, word)
		}
	}
}

// Three seeds, one of which stopped early: median and range as far as half of them go.
func TestCourse(t *testing.T) {
	gs := grouped(t,
		fixture{method: "m", seed: 1, rate: 1, done: 30}, fixture{method: "m", seed: 2, rate: 2, done: 30},
		fixture{method: "m", seed: 3, rate: 3, done: 10}, fixture{method: "m", seed: 4, rate: 1.5, done: 40})
	if len(gs) != 1 {
		t.Fatalf("%d groups, want 1", len(gs))
	}
	c := gs[0].course(part{Of: "phi"}, "")
	if diff := cmp.Diff([]float64{0, 10, 20, 30}, c.X[0]); diff != "" {
		t.Error(diff)
	}
	for i := range c.Y {
		var at []float64
		for _, r := range gs[0].runs {
			if i < len(r.Records) {
				at = append(at, float64(r.Records[i].Phi))
			}
		}
		_, low, high := spread(at, same)
		if c.Y[i] != num.Median(at) || c.Low[i] != low || c.High[i] != high {
			t.Errorf("row %d: %v in [%v, %v], want %v in [%v, %v]", i, c.Y[i], c.Low[i], c.High[i],
				num.Median(at), low, high)
		}
	}
	if one := (group{runs: gs[0].runs[:1]}).course(part{Of: "phi"}, ""); one.Low != nil {
		t.Error("one run has a band")
	}
}

// Evaluations that do not know a number leave no gap in its line.
func TestCourseOfRareNumbers(t *testing.T) {
	r := &Run{Records: make([]runs.Record, 5)}
	for k := range r.Records {
		r.Records[k].Iteration, r.Records[k].Phi = k, runs.Unknown()
	}
	r.Records[0].Phi, r.Records[4].Phi = 2, 1
	if c := (group{runs: []*Run{r}}).course(part{Of: "phi"}, ""); !slices.Equal(c.X[0], []float64{0, 4}) ||
		!slices.Equal(c.Y, []float64{2, 1}) {
		t.Errorf("%v at %v, want 2 and 1 at 0 and 4", c.Y, c.X[0])
	}
}

// A line of many evaluations shows some of them, and always the last.
func TestCourseOfALongRun(t *testing.T) {
	r := &Run{Records: make([]runs.Record, 25*mostPoints)}
	for k := range r.Records {
		r.Records[k].Iteration = k
	}
	x := group{runs: []*Run{r}}.course(part{Of: "phi"}, "").X[0]
	if len(x) > 2*mostPoints || x[len(x)-1] != float64(len(r.Records)-1) {
		t.Errorf("%d points, the last at iteration %g", len(x), x[len(x)-1])
	}
}

func same(v float64) float64 { return v }

func TestSpan(t *testing.T) {
	if _, low, high := spread([]float64{4, math.NaN(), 1, 2}, same); low != 1 || high != 4 {
		t.Errorf("from %v to %v, want 1 to 4", low, high)
	}
	if _, low, high := spread([]float64{math.NaN()}, same); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("from %v to %v, want NaN", low, high)
	}
}

func TestFormat(t *testing.T) {
	seconds, bytes := unitFormat(timeUnits), unitFormat(byteUnits)
	for _, pair := range [][2]string{
		{number(0.30041), "0.3004"}, {number(0), "0"}, {number(-2.5), "−2.500"}, {number(12.3456), "12.35"},
		{number(33750), "33\u202f750"},
		{number(1.234e-5), "1.23×10⁻⁵"}, {number(2e12), "2.00×10¹²"}, {number(math.NaN()), "–"},
		{number(math.Inf(-1)), "−Inf"},
		{wholeNumber(1234), "1234"}, {wholeNumber(1234567), "1\u202f234\u202f567"}, {share(0.9213, 2), "92.13\u202f%"},
		{share(math.NaN(), 2), "–"},
		{seconds(0.0421), "42.1\u202fms"}, {seconds(41.27), "41.3\u202fs"}, {seconds(720), "12\u202fmin"},
		{seconds(7 * 3600), "7\u202fh"},
		{withError(-0.0192, 0.0006), "−0.01920 ± 0.00060"}, {withError(12, 3.4), "12.0 ± 3.4"},
		{withError(0.5, math.NaN()), "0.5000"}, {withError(2, 0), "2"},
		{bytes(0), "0\u202fB"}, {bytes(2.5e9), "2.50\u202fGB"}, {bytes(999), "999\u202fB"}, {bytes(math.NaN()), "–"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%q, want %q", pair[0], pair[1])
		}
	}
}

func TestAxisOfUnequalRuns(t *testing.T) {
	for rate, want := range map[float64]bool{2: false, 40: true} { // how many times faster the second run is
		gs := grouped(t, fixture{method: "jhip", done: 100}, fixture{method: "madsbo", done: 100, rate: rate})
		for _, a := range scaledAxes(gs) {
			if want := want && a.Name == "seconds"; a.Log != want {
				t.Errorf("%g times faster, %s: logarithmic %v, want %v", rate, a.Name, a.Log, want)
			}
		}
	}
}

// A whole matrix is one call on the axis, which says so where there are any.
func TestMatricesAreNamed(t *testing.T) {
	label := func(agents ...any) string {
		gs := grouped(t, fixture{method: "jhip", done: 20, summary: map[string]any{"per_agent": agents}})
		for _, a := range scaledAxes(gs) {
			if a.Name == "calls" {
				return a.Label
			}
		}
		return "no axis"
	}
	if got := label(); got != "oracle calls of all agents" {
		t.Errorf("without matrices: %q", got)
	}
	if got := label(map[string]any{"hessian": 7}); !strings.HasSuffix(got, "a whole matrix as one") {
		t.Errorf("with matrices: %q", got)
	}
}

// TestLateParts: losses beside Φ begin after the start, whose model knows nothing.
func TestLateParts(t *testing.T) {
	r := &Run{Records: []runs.Record{{Phi: 1, ValLoss: 2}, {Iteration: 1, Phi: runs.Unknown(), ValLoss: 1},
		{Iteration: 2, Phi: runs.Unknown(), ValLoss: 1}}}
	r.Config.Problem = []byte(`{"reduce":"mean"}`)
	parts := quantities([]*Run{r})[0].Parts
	if len(parts) != 3 {
		t.Fatalf("%d parts, want Φ and two losses", len(parts))
	}
	for i, p := range parts {
		if known := !math.IsNaN(p.in(&r.Records[0])); known != (i == 0) {
			t.Errorf("part %d, %s, known at the start: %v", i, p.Name, known)
		}
	}
}

// TestNoVerdictOfChosenRows: whatever an earlier version has written of examples that have chosen
// something, a page shows no verdict of theirs, and neither colours nor intervals.
func TestNoVerdictOfChosenRows(t *testing.T) {
	for _, set := range []string{runs.Test, runs.HeldOut, runs.CrossFitted, runs.Validation} {
		g := runs.Gain{Set: set, Examples: 100, Loss: .8, LossAgainst: 1, LossChange: -.2, LossError: .01, Accuracy: .9,
			AccuracyAgainst: .8, AccuracyChange: .1, AccuracyError: .01}
		r := &Run{Summary: runs.Summary{State: runs.Finished,
			Verdict: runs.Verdict{Outcome: runs.Better, Sentence: "Better.", Gains: []runs.Gain{g}}}}
		judged := set == runs.Test
		if got := r.Outcome() == runs.Better; got != judged {
			t.Errorf("%s: the page has the outcome %s", set, r.Outcome())
		}
		for _, cells := range [][]cell{lossChange(g), accuracyChange(g)} {
			if (cells[0].Kind == string(runs.Better)) != judged || (cells[1].Text != none) != judged {
				t.Errorf("%s: the change is %+v with the interval %+v", set, cells[0], cells[1])
			}
		}
	}
}

// TestChangeCells: a change has a colour where its interval leaves 0 out, of the loss unless the
// rule of verdicts calls it none.
func TestChangeCells(t *testing.T) {
	for _, c := range []struct {
		low, change, high, worse runs.Number
		share                    runs.Number // of the loss
		want                     string
	}{
		{-.03, -.02, -.01, 1, -.2, "better"}, {.01, .02, .03, 1, .2, "worse"}, {-.01, .02, .05, 1, .2, ""},
		{-.03, -.02, -.01, 1, -.004, ""}, {-.05, -.02, .01, 1, -.2, ""},
		{.01, .02, .03, -1, 0, "better"}, {-.03, -.02, -.01, -1, 0, "worse"}, {-.01, .02, .05, -1, 0, ""},
	} {
		g := runs.Gain{Set: runs.Test, Examples: 100, Loss: 1 + c.share, LossAgainst: 1, LossChange: c.share,
			LossError: .001}
		cell := changeCells(g, [3]runs.Number{c.change, c.low, c.high}, c.worse, 1, "")[0]
		if cell.Kind != c.want {
			t.Errorf("%g from %g to %g is %q, want %q", c.change, c.low, c.high, cell.Kind, c.want)
		}
	}
}
