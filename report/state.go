package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// task says what problem a run is about: runs of different tasks have nothing to compare.
func (r *Run) task() string {
	task := r.Config.Get("task")
	if model := r.Config.Get("problem.model"); model != "" {
		task += " with " + model
	}
	return orUnknown(strings.TrimSpace(task))
}

// method names what solved it: as the run wants to be called, if it says so, else by its algorithm.
func (r *Run) method() string {
	if label := r.Config.Get("label"); label != "" {
		return label
	}
	return orUnknown(r.Config.Get("algorithm"))
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// A state is how a run ended.
type state struct {
	Kind string // finished, interrupted, diverged or failed; unfinished if it has not said
	Text string // a sentence
}

// state reads how a run ended. A run that was killed, or goes on, has no summary.
func (r *Run) state() state {
	done := r.Metrics.Last(keyIteration)
	of := ""
	if k := r.Config.Number("iterations"); !math.IsNaN(k) {
		of = " of " + count(k)
	}
	kind := r.Summary.Get("state")
	switch {
	case r.Summary == nil:
		return state{"unfinished", fmt.Sprintf("The run goes on, or was stopped from outside. Its last evaluation is at iteration %s%s.", count(done), of)}
	case kind == "" || kind == "finished":
		if done == 1 {
			return state{"finished", "The one iteration is done."}
		}
		return state{"finished", fmt.Sprintf("All %s iterations are done.", count(done))}
	}
	text := fmt.Sprintf("The last evaluation is at iteration %s%s.", count(done), of)
	if message := r.Summary.Get("error"); message != "" {
		first, n := utf8.DecodeRuneInString(message)
		text = string(unicode.ToUpper(first)) + message[n:] + ". " + text
	}
	return state{kind, text}
}

// warnings returns what the run warned of, and says where Φ is not what its name promises.
func (r *Run) warnings() []string {
	var list []string
	if err := json.Unmarshal([]byte(r.Summary.Get("warnings")), &list); err != nil {
		list = nil
	}
	var bad []string
	tol := r.Config.Number("exact_tolerance")
	for i, residual := range r.Metrics.Column("lower_residual") {
		if residual > 2*tol { // false without a tolerance
			bad = append(bad, count(r.at(keyIteration, i)))
		}
	}
	if len(bad) > 0 {
		list = append(list, fmt.Sprintf("Φ and its gradient are not exact at iteration %s: the lower problem was not solved there to the tolerance of %s.",
			strings.Join(bad, ", "), number(tol)))
	}
	return list
}

// at returns a number of one evaluation, NaN if it was not measured.
func (r *Run) at(key string, row int) float64 {
	if c := r.Metrics.Column(key); c != nil {
		return c[row]
	}
	return math.NaN()
}

// spent returns how far along an axis a run was at an evaluation.
func (r *Run) spent(a axis, row int) float64 {
	sum := math.NaN()
	for _, key := range a.keys {
		if v := r.at(key, row); !math.IsNaN(v) {
			if math.IsNaN(sum) {
				sum = 0
			}
			sum += v
		}
	}
	return sum
}
