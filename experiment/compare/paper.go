package compare

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/runs/report"
)

var (
	//go:embed paper.json
	paper []byte
	//go:embed plates.json
	platesJSON []byte
)

// Paper returns the spec of the paper's figures 1 to 3, for the tasks synthetic and mnist: test
// accuracy, losses and Φ against iterations, time and traffic. The paper gives no step sizes; the
// steps of figure 1(b, c) are the best of grids in the spec. With quick it has small data and few
// iterations, to show that the programs work, not the paper's results.
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

// A plate is a figure of the paper: its panels, in its order, and the tasks of which it is to show
// that methods learn them, tune λ, and are cheaper than rivals.
type plate struct {
	Title                  string
	Learns, Tunes, Cheaper []string
	Panels                 []struct {
		Name, Task, Figure string
		Rivals             bool // all methods of the task are shown but ours, not those to the letter alone
	}
}

// AddPaper adds the paper's figures 1 to 3 (plates) to the result of [Paper], each with its claims
// and whether they hold here, and Table 1, which it measures.
func (r *Result) AddPaper(ctx context.Context, quick bool) error {
	var plates []plate
	if err := json.Unmarshal(platesJSON, &plates); err != nil {
		return err
	}
	for _, p := range plates {
		part := report.Part{Title: p.Title}
		if quick {
			part.Sentence = "Small data and few iterations: they show that all works, not which claims are true."
		}
		for _, one := range p.Panels {
			k := r.ranking(one.Task)
			shown := k.literal()
			if one.Rivals {
				shown = slices.DeleteFunc(slices.Clone(k.Entries),
					func(e *entry) bool { return e.Method.Name == "newtoncg" })
			}
			best, err := k.bestRuns(shown)
			if err != nil {
				return err
			}
			before := "(" + one.Name[1:] + ") " + one.Task + ": " // (b) of the name 1b
			if f, ok := report.FigureOf(best, one.Figure, "Figure_"+one.Name, before); ok {
				part.Figures = append(part.Figures, f)
			}
		}
		for _, claims := range []struct {
			tasks []string
			of    func(*ranking) []report.Answer
		}{{p.Learns, (*ranking).learns}, {p.Tunes, (*ranking).tunes}, {p.Cheaper, (*ranking).cheaper}} {
			for _, task := range claims.tasks {
				part.Answers = append(part.Answers, claims.of(r.ranking(task))...)
			}
		}
		r.Plates = append(r.Plates, part)
	}
	one, err := tableOne(ctx, quick)
	r.Plates = append(r.Plates, one)
	return err
}

// ranking returns the ranking of a task.
func (r *Result) ranking(task string) *ranking {
	return r.Rankings[slices.IndexFunc(r.Rankings, func(k *ranking) bool { return k.Task.Name == task })]
}

// literal lists the entries of methods to the letter.
func (k *ranking) literal() []*entry {
	return slices.DeleteFunc(slices.Clone(k.Entries),
		func(e *entry) bool { return !strings.HasPrefix(e.Method.Name, letter) })
}

// learns claims of each method to the letter that it learns a task.
func (k *ranking) learns() (all []report.Answer) {
	for _, e := range k.literal() {
		accuracy := medianOf(e.Best, func(t *trial) float64 { return t.end(testAccuracy.of) })
		all = append(all, claim(accuracy >= learned, "%s, %s: the model learns (test accuracy %.4f, at least %g)",
			k.Task.Name, e.Method.Name, accuracy, learned))
	}
	return all
}

// tunes claims of each method to the letter that it tunes λ: Φ falls by more than a thousandth.
func (k *ranking) tunes() (all []report.Answer) {
	for _, e := range k.literal() {
		start, end := medianOf(e.Best, func(t *trial) float64 { return t.at(0, phi.of) }), k.median(e)
		all = append(all, claim(end < 0.999*start, "%s, %s: λ is tuned (Φ %s, %s at the end)",
			k.Task.Name, e.Method.Name, fiveDigits(start), fiveDigits(end)))
	}
	return all
}

// cheaper answers, for each variant of MA-DSBO and each of the paper's rivals, the claim that it
// needs less time and less traffic to reach the target Φ. The answer is unknown if the rival does
// not reach it in all runs.
func (k *ranking) cheaper() (all []report.Answer) {
	for _, e := range k.Entries {
		if !strings.HasPrefix(e.Method.Name, "MA-DSBO") {
			continue
		}
		for _, rival := range k.Entries {
			if !slices.Contains([]string{"jhip", "gbdsbo"}, rival.Method.Algorithm) {
				continue
			}
			for _, c := range []cost{seconds, megabytes} {
				own, rivals := k.costReached(e, c), k.costReached(rival, c)
				one := claim(own < rivals, "%s, %s: fewer %s to Φ = %s than %s (%s, %s)", k.Task.Name, e.Method.Name,
					c.name, fiveDigits(k.Target), rival.Method.Name, fiveDigits(own), fiveDigits(rivals))
				if math.IsNaN(rivals) {
					one.Word = unknown
				}
				all = append(all, one)
			}
		}
	}
	return all
}
