package benchmarks

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// A tableKind is a kind of made-up table: rows that make the model, and that judge it, features,
// and how many of these count.
type tableKind struct {
	name              string
	made, judged      int
	features, counted int
	task              string // classification, regression or count
	strength          float64
	flags             string
	alike             bool // whether all weights that count are of one size
}

// gainKinds are tables in which some features count, by which the constants of the gain to expect
// were chosen; otherKinds are others, which check them. nullKinds have nothing to gain but by
// chance: no feature counts, or all count alike.
var (
	gainKinds = []tableKind{
		{"classes", 300, 150, 25, 4, "classification", 1, "", false},
		{"classes, few rows", 150, 80, 30, 3, "classification", 1.2, "", false},
		{"numbers", 200, 100, 30, 5, "regression", .5, "", false},
		{"counts", 300, 150, 20, 4, "count", .3, "", false},
		{"classes, a weak signal", 400, 200, 30, 30, "classification", .3, "", false},
		{"numbers, few count", 150, 60, 60, 2, "regression", 1, "", false},
		{"classes, no folds", 500, 200, 25, 4, "classification", 1, "-folds=0 -penalty=feature", false},
		{"numbers, no folds", 400, 150, 25, 4, "regression", .5, "-folds=0 -penalty=feature", false},
		{"counts, all", 240, 120, 15, 15, "count", .15, "", false},
		{"classes, strong", 300, 150, 40, 2, "classification", 2, "", false},
		{"numbers, no folds, strong", 240, 100, 30, 3, "regression", 1, "-folds=0 -penalty=feature", false},
		{"counts, no folds", 400, 150, 20, 4, "count", .3, "-folds=0 -penalty=feature", false},
		{"classes, alike", 300, 120, 10, 10, "classification", .5, "", true},
		{"numbers, weak", 150, 90, 40, 40, "regression", .15, "", false},
	}
	otherKinds = []tableKind{
		{"tiny classes", 80, 80, 10, 3, "classification", 1.5, "", false},
		{"separable classes", 100, 80, 13, 4, "classification", 4, "", false},
		{"wide classes", 120, 80, 200, 5, "classification", 1.2, "", false},
		{"wide numbers", 120, 80, 150, 5, "regression", 1, "", false},
		{"dense classes", 200, 100, 40, 40, "classification", .4, "", false},
		{"tiny numbers", 60, 60, 12, 4, "regression", .6, "", false},
		{"counts, few count", 200, 100, 40, 3, "count", .3, "", false},
		{"classes, many rows", 900, 300, 20, 5, "classification", .5, "", false},
		{"numbers, half count", 240, 120, 24, 12, "regression", .3, "", false},
		{"counts, many rows", 800, 300, 30, 6, "count", .15, "", false},
		{"no folds, many classes", 900, 300, 40, 6, "classification", .7, "-folds=0 -penalty=feature", false},
		{"no folds, wide numbers", 300, 120, 60, 6, "regression", .5, "-folds=0 -penalty=feature", false},
		{"no folds, dense classes", 500, 150, 25, 25, "classification", .4, "-folds=0 -penalty=feature", false},
		{"no folds, few counts", 300, 120, 15, 2, "count", .3, "-folds=0 -penalty=feature", false},
		{"no folds, half of numbers", 300, 120, 20, 10, "regression", .3, "-folds=0 -penalty=feature", false},
		{"no folds, strong classes", 600, 150, 60, 4, "classification", 1.5, "-folds=0 -penalty=feature", false},
		{"no folds, many counts", 900, 200, 40, 8, "count", .15, "-folds=0 -penalty=feature", false},
		{"no folds, numbers alike", 400, 150, 20, 20, "regression", .3, "-folds=0 -penalty=feature", true},
	}
	nullKinds = []tableKind{
		{"noise, classes", 200, 100, 20, 0, "classification", 0, "", false},
		{"noise, numbers", 150, 60, 20, 0, "regression", 0, "", false},
		{"noise, counts", 200, 60, 15, 0, "count", 0, "", false},
		{"all alike", 200, 80, 15, 15, "regression", .3, "", true},
		{"noise, no folds", 300, 100, 20, 0, "classification", 0, "-folds=0 -penalty=feature", false},
		{"all alike, no folds", 300, 100, 15, 15, "regression", .3, "-folds=0 -penalty=feature", true},
		{"held out, classes", 300, 150, 15, 0, "classification", 0, "-folds=0 -penalty=feature -holdout=.3", false},
		{"held out, numbers", 450, 90, 12, 0, "regression", 0, "-folds=0 -penalty=feature -holdout=.2", false},
		{"held out, counts", 300, 60, 10, 0, "count", 0, "-folds=0 -penalty=feature -holdout=.3", false},
		{"held out, alike", 900, 200, 8, 8, "classification", .6, "-folds=0 -penalty=feature -holdout=.3", true},
		{"held out, numbers alike", 450, 150, 10, 10, "regression", .4, "-folds=0 -penalty=feature -holdout=.2", true},
		{"held out, one penalty", 240, 100, 30, 4, "classification", 1, "-folds=0 -penalty=one -holdout=.4", false},
		{"held out, no prior", 600, 100, 10, 0, "classification", 0,
			"-folds=0 -penalty=feature -prior=0 -holdout=.3", false},
		{"held out, a network", 240, 60, 6, 0, "classification", 0,
			"-folds=0 -model=mlp -hidden=4 -penalty=layer -holdout=.3", false},
	}
)

// write draws a table for each of three sites, with a column that says what a row is for, and
// judged rows of the same kind.
func (k tableKind) write(folder string, seed uint64, judged int) string {
	r := rand.New(rand.NewPCG(seed, uint64(len(k.name))))
	weights := make([]float64, k.features)
	for j := range k.counted {
		weights[j] = k.strength * (.5 + r.Float64()) * float64(1-2*(j%2))
		if k.counted == k.features {
			weights[j] = k.strength * r.NormFloat64()
		}
		if k.alike {
			weights[j] = math.Copysign(k.strength, weights[j])
		}
	}
	var text [3]strings.Builder
	for site := range text {
		for j := range k.features {
			fmt.Fprintf(&text[site], "x%d,", j)
		}
		text[site].WriteString("y,split\n")
	}
	for row := range k.made + judged {
		out, eta := &text[row%3], 0.0
		for _, w := range weights {
			x := r.NormFloat64()
			eta += w * x
			fmt.Fprintf(out, "%.4f,", x)
		}
		y, split := "", "test"
		switch k.task {
		case "classification":
			y = "no"
			if r.Float64() < 1/(1+math.Exp(-eta)) {
				y = "yes"
			}
		case "regression":
			y = fmt.Sprintf("%.4f", eta+r.NormFloat64())
		default: // Poisson's numbers, by products of uniform ones
			n, left := 0, r.Float64()
			for left > math.Exp(-math.Exp(.3+min(eta, 2))) {
				n, left = n+1, left*r.Float64()
			}
			y = fmt.Sprint(n)
		}
		if row < k.made {
			split = []string{"train", "train", "validation"}[row/3%3]
		}
		fmt.Fprintf(out, "%s,%s\n", y, split)
	}
	for site := range text {
		file := filepath.Join(folder, fmt.Sprintf("site%d.csv", site))
		testkit.OK(os.WriteFile(file, []byte(text[site].String()), 0o600))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

// run tunes on the table, and returns the verdict.
func (k tableKind) run(b *testing.B, seed uint64, judged int) runs.Verdict {
	folder := b.TempDir()
	out := runs.Folder(filepath.Join(folder, "run"))
	args := append([]string{"-data=" + k.write(folder, seed, judged), "-target=y", "-task=" + k.task, "-model=linear",
		"-split-column=split", "-alone=false", "-report=false", "-quiet", "-out=" + string(out)},
		strings.Fields(k.flags)...)
	testkit.OK(experiment.Run(b.Context(), tune.Task(), args, io.Discard, io.Discard))
	return testkit.Get(out.ReadSummary()).Verdict
}

// BenchmarkGains compares the gains that runs state with the true ones, which 4000 other test rows
// tell of models of the same rows: `go test -run '^$' -bench Gains -benchtime 1x ./benchmarks`. Of
// the kinds that chose the rule's constants, and of others, it reports with folds and without the
// stated gain and the raw one as shares of the truth, of runs whose verdict is "better" and of
// all, and how often the interval holds the true change.
func BenchmarkGains(b *testing.B) {
	for b.Loop() {
		for half, kinds := range map[string][]tableKind{"chosen": gainKinds, "others": otherKinds} {
			sums, seed := map[string]float64{}, map[string]uint64{"chosen": 2000, "others": 4000}[half]
			for _, k := range kinds {
				for draw := range uint64(8) {
					k.addGains(b, sums, seed+draw)
				}
			}
			for _, of := range []string{"better", "all", "better, no folds", "all, no folds"} {
				name := half + "-" + strings.ReplaceAll(strings.ReplaceAll(of, ",", ""), " ", "-")
				b.ReportMetric(sums[of+" stated"]/sums[of+" true"], "stated/true-"+name)
				b.ReportMetric(sums[of+" raw"]/sums[of+" true"], "raw/true-"+name)
				b.ReportMetric(sums[of], "runs-"+name)
			}
			b.ReportMetric(sums["held"]/(sums["all"]+sums["all, no folds"]), "held-"+half)
		}
	}
}

// addGains adds to sums the stated gain of a run on a table, the raw one, and the true one.
func (k tableKind) addGains(b *testing.B, sums map[string]float64, seed uint64) {
	v, exact := k.run(b, seed, k.judged), k.run(b, seed, 4000)
	g, truth := v.Gains[0], exact.Gains[0]
	if !g.Share().Known() {
		return
	}
	if truth.LossChange >= g.LossLow && truth.LossChange <= g.LossHigh {
		sums["held"]++
	}
	fmt.Printf("%s, seed %d: %s, true %.4f, found %.4f, expected %.4f\n", k.name, seed, v.Outcome,
		-float64(truth.Share()), -float64(g.Share()), float64(v.ExpectedGain))
	for _, of := range []string{"all", string(v.Outcome)} {
		if strings.Contains(k.flags, "-folds=0") {
			of += ", no folds"
		}
		sums[of+" true"] -= float64(truth.Share())
		sums[of+" raw"] -= float64(g.Share())
		if v.ExpectedGain.Known() { // it is 0 where the best single penalty is kept
			sums[of+" stated"] += float64(v.ExpectedGain)
		}
		sums[of]++
	}
}

// BenchmarkNoGain counts the verdicts of 308 runs in which there is nothing to gain, the notes on
// over-fitting, and the runs that ended early: -bench NoGain as above.
func BenchmarkNoGain(b *testing.B) {
	for b.Loop() {
		n := map[string]int{}
		for _, k := range nullKinds {
			for seed := range uint64(22) {
				v := k.run(b, 500+seed, k.judged)
				notes := strings.Join(v.Notes, " ")
				n[string(v.Outcome)]++
				for what, words := range map[string]string{"noted": "began to fit", "stopped": "iterations ended"} {
					n[what] += strings.Count(notes, words)
				}
				fmt.Printf("%s, seed %d: %s %q\n", k.name, seed, v.Outcome, notes)
			}
		}
		for _, what := range []string{"better", "same", "worse", "unclear", "noted", "stopped"} {
			b.ReportMetric(float64(n[what]), what)
		}
	}
}
