package runs

import (
	"cmp"
	"fmt"
	"slices"

	"dsbo"
)

// An Outcome is what tuning gave, in one word.
type Outcome string

// The outcomes.
const (
	Better  Outcome = "better"  // tuning beat the best single penalty
	Same    Outcome = "same"    // the difference is within its uncertainty
	Worse   Outcome = "worse"   // tuning lost
	Unclear Outcome = "unclear" // there is nothing to compare with, or no examples that have chosen nothing
)

// A Verdict is the effect of tuning against the best untuned choice: one number for all
// hyperparameters, such as a single penalty, or a baseline of the model's own.
type Verdict struct {
	Outcome  Outcome `json:"outcome"`
	Sentence string  `json:"sentence"` // one sentence for people
	// FoundBy names the method, or search, that found the tuned hyperparameters.
	FoundBy string   `json:"found_by,omitempty"`
	Against string   `json:"against"` // name of the model that it is compared with
	Gains   []Gain   `json:"gains"`   // on all sets of examples that there are, test examples first
	Notes   []string `json:"notes"`   // what a reader has to know: over-fitting, models that have not converged
	// ExpectedGain is by what share of the other model's loss the tuned model's is to be expected
	// to be lower on new examples; 0: not known.
	ExpectedGain Number `json:"expected_gain,omitzero"`
	// ExpectedKept is the same of the model that is kept, where that is solved for with more rows
	// than the judged one.
	ExpectedKept Number `json:"expected_gain_kept,omitzero"`
}

// ByTest reports whether test examples, which have chosen nothing, have judged.
func (v Verdict) ByTest() bool {
	return len(v.Gains) == 0 || slices.ContainsFunc(v.Gains, func(g Gain) bool { return g.Set == Test })
}

// A Contest is what a [Verdict] judges: a tuned model against the model of one constant for all
// hyperparameters, or another baseline.
type Contest struct {
	Head     string  // what is judged; "": the tuning of the hyperparameters
	Count    int     // number of hyperparameters
	Meaning  Meaning // what they are
	FoundBy  string  // what found them, such as "newtoncg" or "a BFGS search"; "": not said
	NotBy    string  // the method whose own hyperparameters were no better than the best constant; "": none
	Against  string  // name of the other model; "": there is none
	Constant Number  // the entry of its x, where all are one number; else unknown
	// Lost is true if the other model is kept, because the tuned x was not better by the run's
	// rule. With cross-fitted gains both are one model: folds chose the constant.
	Lost bool
	// Asked is true if a flag asks for the tuned model whatever its gain.
	Asked bool
	// Foreign is true if the other model is a different one, which cannot be kept in place of the
	// tuned one.
	Foreign  bool
	Counted  string // what losses are a mean of, such as "event"; "": example
	TestFlag string // the flag that sets test examples aside, such as "split"; "": none
	Gains    []Gain // the strongest evidence first; none if the model has no losses of single
	// examples
	// Phi and PhiAgainst are Φ of the two, by which they are compared where there are no Gains, and
	// PhiSpread is by how much one of them differs between solutions from two starts.
	Phi, PhiAgainst, PhiSpread Number
	Notes                      []string // a sentence each
}

// A verdictText is what the sentences of a verdict are made of.
type verdictText struct {
	Contest
	Gain     Gain    // the strongest one; of Φ where there are none
	Outcome  Outcome // of it
	Expected Number  // gain on new rows
	Subject  string  // of the sentence
	Alike    bool    // whether one number beats another one
	Others   []Gain  // on examples that are told beside
}

// Verdict judges a contest by its first gain, if that is of test examples. Examples that have
// chosen something give no verdict.
func (c Contest) Verdict() Verdict {
	v := Verdict{Outcome: Unclear, FoundBy: c.FoundBy, Against: c.Against, Gains: append([]Gain{}, c.Gains...),
		Notes: append([]string{}, c.Notes...)}
	c.Counted = cmp.Or(c.Counted, "example")
	t := verdictText{Contest: c}
	t.Subject = prose("subject", t)
	if c.Against == "" || len(c.Gains) == 0 {
		t.Gain = Gain{Loss: c.Phi, LossAgainst: c.PhiAgainst, LossChange: c.Phi - c.PhiAgainst,
			LossError: Unknown(), LossSpread: c.PhiSpread}
		if c.Against == "" || !t.Gain.LossChange.Known() {
			v.Sentence = t.Subject + " has nothing to be compared with: there is no model without."
			return v
		}
		if v.Sentence = prose("phi", t); t.Gain.withinSpread() {
			v.Outcome = Same
			v.Notes = append(v.Notes, fmt.Sprintf("Another start of the solutions changes Φ by up to %.2g: "+
				"there is no difference beyond this.", float64(c.PhiSpread)))
		}
		return v
	}
	g := c.Gains[0]
	v.Outcome = g.Outcome()
	if e := expectedGain(c.Gains); c.Head == "" && e.Known() { // gains of networks are of another kind
		v.ExpectedGain = e
	}
	if g.Set == Test {
		v.Gains[0].LossLow, v.Gains[0].LossHigh = g.Interval()
	}
	if c.Lost && c.crossFitted() {
		v.Outcome, v.Sentence = Same, prose("none", t)
		return v
	}
	if v.Outcome == Better && c.Head == "" && c.Count == 1 && c.Constant.Known() {
		v.Outcome, t.Alike = Same, true // one number beats no other but by its digits
	}
	t.Gain, t.Outcome, t.Expected = g, v.Outcome, v.ExpectedGain
	t.Others = slices.DeleteFunc(slices.Clone(c.Gains[1:]), func(o Gain) bool { return o.spent() || o.few() })
	v.Sentence = prose("sentence", t)
	for _, o := range c.Gains {
		if o.Set == Validation && o.lower() && g.Set == Test && v.Outcome != Better && g.disagrees(o) {
			v.Notes = append(v.Notes,
				fmt.Sprintf("Validation and %s disagree: the validation loss changed by %s, the %s loss by %s. "+
					"%s fits the validation examples rather than what they stand for.", g.Set, o.percentText(), g.Set,
					g.percentText(), c.Meaning.Symbol))
		}
	}
	return v
}

// crossFitted reports whether the models are compared by cross-fitted losses.
func (c Contest) crossFitted() bool {
	return slices.ContainsFunc(c.Gains, func(g Gain) bool { return g.Set == CrossFitted })
}

// PhaseTraffic is what all agents have sent in a whole run, payloads of the exchanges, by what it
// was for.
type PhaseTraffic struct {
	Setup      dsbo.Traffic `json:"setup,omitzero"` // what agents find together as they load their data
	Method     dsbo.Traffic `json:"method"`         // iterations
	Evaluation dsbo.Traffic `json:"evaluation"`     // records, exact solutions, choices of steps
	Models     dsbo.Traffic `json:"models"`         // models of the table
}

// Total returns the sum of what all was for.
func (t PhaseTraffic) Total() (s dsbo.Traffic) {
	for _, part := range []dsbo.Traffic{t.Setup, t.Method, t.Evaluation, t.Models} {
		s.Add(part)
	}
	return s
}
