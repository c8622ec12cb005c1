package compare

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/runs/report"
)

//go:embed paper.json
var paper []byte

// Paper returns the comparisons that the paper's figures 1 to 3 show, for the tasks synthetic and
// mnist: test accuracy, losses and Φ against iterations, time and traffic. The paper gives no
// step sizes; the steps of figure 1(b, c) are the best of stated grids. A quick one has small data
// and few iterations: it shows that all works, not what holds.
func Paper(quick bool) *Spec {
	s, err := Parse(paper)
	if err != nil {
		panic(err) // the embedded file is tested
	}
	if !quick {
		return s
	}
	s.Flags = append(s.Flags, "-batch=0", "-memory=0.1")
	for i := range s.Tasks {
		t := &s.Tasks[i]
		t.Flags = append(t.Flags, "-agents=3", "-train=20", "-val=20")
		if t.Verb == "synthetic" {
			t.Flags = append(t.Flags, "-p=4", "-test=20")
		}
	}
	for i := range s.Methods {
		m := &s.Methods[i]
		m.Flags, m.Trials = append(m.Flags, "-K=3", "-eval-every=1"), 1
	}
	return s
}

// claim answers whether what the paper states is so, in a text with the numbers that decide.
func claim(holds bool, format string, args ...any) report.Answer {
	return report.Answer{Word: map[bool]string{true: "yes", false: "no"}[holds], Text: fmt.Sprintf(format, args...)}
}

// letter begins the names of methods that are the paper's to the letter.
const letter = "to the letter"

// learned is the share of right answers from which on a model is said to have learned.
const learned = 0.9

// panels are the paper's, in its order: the figure, the task, and what is shown.
var panels = [][3]string{
	{"1a", "synthetic, r = 1", "test_accuracy_iterations"}, {"1b", comparedTask, "test_accuracy_seconds"},
	{"1c", comparedTask, "test_accuracy_bytes"},
	{"2a", "MNIST", "test_accuracy_iterations"}, {"2b", "MNIST", "train_loss_iterations"},
	{"2c", "MNIST", "test_loss_iterations"},
	{"3a", "synthetic, r = 0.5", "test_accuracy_iterations"}, {"3b", "synthetic, r = 1", "test_accuracy_iterations"},
	{"3c", "synthetic, r = 1.5", "test_accuracy_iterations"},
	{"3d", "synthetic, r = 0.5", "test_loss_iterations"}, {"3e", "synthetic, r = 1", "test_loss_iterations"},
	{"3f", "synthetic, r = 1.5", "test_loss_iterations"},
}

// comparedTask is the task of figures 1(b) and 1(c), on which all of its own methods are shown.
const comparedTask = "synthetic, p = 100"

// AddPaper adds the plates of the paper to the result of its spec: figures 1 to 3, each with what
// it is to show, and Table 1, which is measured here.
func (r *Result) AddPaper(ctx context.Context, quick bool) error {
	r.Plates = []report.Part{{Title: "Figure 1"}, {Title: "Figure 2"}, {Title: "Figure 3"}}
	for _, p := range panels {
		task := p[1]
		shown := slices.DeleteFunc(slices.Clone(r.ranking(task).Entries), func(e *Entry) bool {
			return !strings.HasPrefix(e.Method.Name, letter) && (task != comparedTask || e.Method.Name == "newtoncg")
		})
		best, err := r.ranking(task).bestRuns(shown)
		if err != nil {
			return err
		}
		if f, ok := report.FigureOf(best, p[2], "Figure_"+p[0], "("+p[0][1:]+") "+task+": "); ok {
			plate := &r.Plates[p[0][0]-'1']
			plate.Figures = append(plate.Figures, f)
		}
	}
	r.Plates[0].Answers = append(r.ranking("synthetic, r = 1").learns(), r.ranking(comparedTask).cheaper()...)
	r.Plates[1].Answers = append(r.ranking("MNIST").learns(), r.ranking("MNIST").tunes()...)
	for _, rate := range []string{"0.5", "1", "1.5"} {
		r.Plates[2].Answers = append(r.Plates[2].Answers, r.ranking("synthetic, r = "+rate).learns()...)
	}
	one, err := tableOne(ctx, quick)
	r.Plates = append(r.Plates, one)
	return err
}

// ranking returns the ranking of a task.
func (r *Result) ranking(task string) *Ranking {
	return r.Rankings[slices.IndexFunc(r.Rankings, func(k *Ranking) bool { return k.Task.Name == task })]
}

// literal lists the entries of methods to the letter.
func (k *Ranking) literal() []*Entry {
	return slices.DeleteFunc(slices.Clone(k.Entries),
		func(e *Entry) bool { return !strings.HasPrefix(e.Method.Name, letter) })
}

// learns claims of each method to the letter that it learns a task.
func (k *Ranking) learns() (all []report.Answer) {
	for _, e := range k.literal() {
		accuracy := medianOf(e.Best, func(t *Trial) float64 { return t.end(TestAccuracy.of) })
		all = append(all, claim(accuracy >= learned, "%s, %s: the model learns (test accuracy %.4f, at least %g)",
			k.Task.Name, e.Method.Name, accuracy, learned))
	}
	return all
}

// tunes claims of each method to the letter that it tunes λ: Φ falls by more than a thousandth.
func (k *Ranking) tunes() (all []report.Answer) {
	for _, e := range k.literal() {
		start, end := medianOf(e.Best, func(t *Trial) float64 { return t.at(0, Phi.of) }), k.median(e)
		all = append(all, claim(end < 0.999*start, "%s, %s: λ is tuned (Φ %s, %s at the end)",
			k.Task.Name, e.Method.Name, fiveDigits(start), fiveDigits(end)))
	}
	return all
}

// cheaper claims of each MA-DSBO that it takes less time and traffic than each rival to the Φ that
// all of them reach.
func (k *Ranking) cheaper() (all []report.Answer) {
	for _, e := range k.Entries {
		for _, rival := range k.Entries {
			if !strings.HasPrefix(e.Method.Name, "MA-DSBO") || rival.Method.Algorithm != "jhip" &&
				rival.Method.Algorithm != "gbdsbo" {
				continue
			}
			for _, c := range []Cost{Seconds, Bytes} {
				its, others := k.costReached(e, c), k.costReached(rival, c)
				one := claim(its < others, "%s, %s: fewer %s to Φ = %s than %s (%s, %s)", k.Task.Name, e.Method.Name,
					c, fiveDigits(k.Target), rival.Method.Name, fiveDigits(its), fiveDigits(others))
				if math.IsNaN(others) {
					one.Word = unknown
				}
				all = append(all, one)
			}
		}
	}
	return all
}
