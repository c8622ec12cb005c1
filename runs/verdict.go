package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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

// head returns the subject of the sentence.
func (c Contest) head() string {
	if c.Head != "" {
		return c.Head
	}
	text := "Tuning " + c.Meaning.Text(c.Count)
	if c.FoundBy != "" {
		text += " by " + c.FoundBy
	}
	if c.NotBy != "" {
		text += ", not by " + c.NotBy + ","
	}
	return text
}

// against returns what it is compared with.
func (c Contest) against() string {
	if !c.Constant.Known() {
		return "against " + c.Against
	}
	symbol := c.Meaning.Symbol
	if c.Meaning == Penalties {
		symbol = "log-penalty " + symbol
	}
	return fmt.Sprintf("against the best single %s (%s = %.4g)", c.Meaning.One, symbol, float64(c.Constant))
}

// Verdict judges a contest by its first gain. Only a gain on test examples gives an outcome, as
// other examples have chosen something; without gains Φ is compared. Two cases end with Same: folds
// kept the constant, so that both models are one, and a single tuned number, which can differ from
// the best constant only in its digits.
func (c Contest) Verdict() Verdict {
	v := Verdict{Outcome: Unclear, FoundBy: c.FoundBy, Against: c.Against, Gains: append([]Gain{}, c.Gains...),
		Notes: append([]string{}, c.Notes...)}
	head, against := c.head(), c.against()
	switch {
	case c.Against != "" && len(c.Gains) > 0:
	case c.Against != "" && (c.Phi - c.PhiAgainst).Known():
		c.judgePhi(&v, head, against)
		return v
	default:
		v.Sentence = head + " has nothing to be compared with: there is no model without."
		return v
	}
	g := c.Gains[0]
	v.Outcome = g.Outcome()
	if e := expectedGain(c.Gains); c.Head == "" && e.Known() { // gains of networks are of another kind
		v.ExpectedGain = e
	}
	if g.Set == Test {
		v.Gains[0].LossLow, v.Gains[0].LossHigh = g.Interval()
		v.Sentence = g.sentence(head, cmp.Or(c.Counted, "example"), against) +
			expectedText(v.Outcome, v.ExpectedGain, g.Share())
	} else {
		v.Sentence = g.untested(head, against)
	}
	if c.Lost && c.crossFitted() {
		v.Outcome, v.Sentence = Same, fmt.Sprintf("None of the structures of %s that were tried surely did better "+
			"on rows of other folds than the best single %s (%s = %.4g), which is kept.", c.Meaning.Text(c.Count),
			c.Meaning.One, c.Meaning.Symbol, float64(c.Constant))
		return v
	}
	if v.Outcome == Better && c.Head == "" && c.Count == 1 && c.Constant.Known() {
		v.Outcome, v.Sentence = Same, g.untested(head, against)+": both are one number"
	}
	var others []string
	for _, o := range c.Gains[1:] {
		if !o.spent() && !o.few() {
			others = append(others, o.beside(c.Meaning.Symbol, c.heldOutChoice()))
		}
	}
	if others != nil {
		v.Sentence += "; " + strings.Join(others, ", ")
	}
	v.Sentence += c.keptText() + c.lostText(v.Outcome) + "."
	if g.Set != Test {
		v.Sentence += c.untestedText(v.ExpectedGain)
	}
	v.Notes = append(v.Notes, c.testNotes(v.Outcome)...)
	return v
}

// testNotes returns notes by test examples: if the accuracy contradicts the loss, and if the
// validation loss fell but the test loss does not confirm it, by more than their errors explain.
func (c Contest) testNotes(outcome Outcome) (notes []string) {
	g := c.Gains[0]
	if note := g.accuracyNote(); note != "" {
		notes = append(notes, note)
	}
	for _, o := range c.Gains {
		if o.Set == Validation && o.lower() && g.Set == Test && outcome != Better && g.disagrees(o) {
			notes = append(notes,
				fmt.Sprintf("Validation and %s disagree: the validation loss changed by %s, the %s loss by %s. "+
					"%s fits the validation examples rather than what they stand for.", g.Set, o.percentText(), g.Set,
					g.percentText(), c.Meaning.Symbol))
		}
	}
	return notes
}

// expectedText returns a clause on the gain to expect on new rows, to follow the change found on
// test examples. expected is positive for a lower loss, unlike change, and 0 if unknown. It may
// exceed the change, since the rows that chose the model count too.
func expectedText(found Outcome, expected, change Number) string {
	switch {
	case expected == 0 || found != Better && found != Worse:
		return ""
	case (expected < 0) != (found == Worse):
		return ", of which nothing is to be expected on new rows"
	}
	text := ", of which some %s is to be expected on new rows"
	if math.Abs(float64(expected)) > math.Abs(float64(change)) {
		text = "; on new rows some %s is to be expected"
	}
	return fmt.Sprintf(text, strings.TrimLeft(percent(expected), "+−"))
}

// heldOutChoice returns what held-out examples have chosen: no iterate where a search after the
// iterations has found the tuned hyperparameters.
func (c Contest) heldOutChoice() string {
	if c.NotBy != "" {
		return "which model is kept"
	}
	return "the iterate"
}

// untestedText returns sentences on why there is no verdict and how to get one, by the kind of the
// examples: cross-fitted, held-out or validation.
func (c Contest) untestedText(expected Number) string {
	advice, folds := "Test rows would give a verdict.", ""
	if c.TestFlag != "" {
		advice, folds = "Hold out test rows (-"+c.TestFlag+")", " or use folds."
	}
	switch c.Gains[0].Set {
	case CrossFitted:
		if expected > 0 {
			return fmt.Sprintf(" Of it some %s is to be expected on new rows; not tested.", percent(-expected))
		}
		return " Not tested."
	case HeldOut:
		chosen := "The iterate, and which model is kept, were"
		if c.NotBy != "" {
			chosen = "Which model is kept was"
		}
		return fmt.Sprintf(" %s chosen by these rows; what the %s give on others is not known. %s%s", chosen,
			c.Meaning.Many, advice, folds)
	}
	return fmt.Sprintf(" The %s were chosen by these rows; what they give on others is not known. %s%s",
		c.Meaning.Many, advice, folds)
}

// judgePhi completes a verdict by Φ alone.
func (c Contest) judgePhi(v *Verdict, head, against string) {
	phi := Gain{Loss: c.Phi, LossAgainst: c.PhiAgainst, LossChange: c.Phi - c.PhiAgainst, LossError: Unknown(),
		LossSpread: c.PhiSpread}
	v.Sentence = fmt.Sprintf(
		"%s changed Φ by %s (%s) %s%s; the model gives no losses of single examples, by which chance is judged.",
		head, phi.percentText(), phi.changeText(), against, c.keptText())
	if phi.withinSpread() {
		v.Outcome = Same
		v.Notes = append(v.Notes, fmt.Sprintf("Another start of the solutions changes Φ by up to %.2g: there is no "+
			"difference beyond this.", float64(c.PhiSpread)))
	}
}

// keptText returns the sentence that the other model is kept, if it is.
func (c Contest) keptText() string {
	switch {
	case !c.Lost:
		return ""
	case c.Constant.Known():
		return "; the single one is kept"
	}
	return "; " + c.Against + " is kept"
}

// lostText returns a clause on why a tuned model is kept although it lost on test examples: these
// do not choose, since they would then be no evidence. It is "" if the model did not lose or is not
// kept.
func (c Contest) lostText(outcome Outcome) string {
	switch {
	case outcome != Worse || c.Lost:
		return ""
	case c.Asked:
		return "; it is kept all the same, as it is asked for"
	case c.Head != "", c.crossFitted():
		return "; it is kept all the same, as the cross-fitted loss, which decides, is lower"
	case c.Foreign:
		return fmt.Sprintf("; the tuned %s is kept all the same, as %s is another model", c.Meaning.Symbol, c.Against)
	}
	text := "; the tuned %s is kept all the same, as Φ, which decides, is not higher"
	if slices.ContainsFunc(c.Gains, func(g Gain) bool { return g.Set == HeldOut && g.LossError.Known() }) {
		text = "; the tuned %s is kept all the same, as Φ is not higher, nor the held-out loss by a standard error"
	}
	return fmt.Sprintf(text, c.Meaning.Symbol)
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
