package runs

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/internal/wording"
)

// An Outcome is what tuning gave, in one word.
type Outcome string

// The outcomes.
const (
	Better  Outcome = "better"  // tuning beat the best single penalty
	Same    Outcome = "same"    // the difference is within its uncertainty
	Worse   Outcome = "worse"   // tuning lost
	Unclear Outcome = "unclear" // there is nothing to compare with
)

// A Verdict says what tuning gave against the best that is to be had without: all hyperparameters
// one number, such as a single penalty, or a baseline of the model's own.
type Verdict struct {
	Outcome  Outcome  `json:"outcome"`
	Sentence string   `json:"sentence"` // one sentence for people
	Against  string   `json:"against"`  // name of the model that it is compared with
	Gains    []Gain   `json:"gains"`    // on test, held-out and validation examples, as far as there are some
	Notes    []string `json:"notes"`    // what a reader has to know: over-fitting, models that have not converged
}

// Names of the sets of examples on which a [Gain] is measured.
const (
	Validation = "validation"
	HeldOut    = "held-out"
	Test       = "test"
)

// A Gain compares the tuned model with another one, the model of the best single penalty or a
// baseline, on one set of examples. Differences are tuned minus the other, example by example, so
// that what examples have in common cancels.
type Gain struct {
	Set         string `json:"set"`          // "validation", "held-out" or "test"
	Examples    int    `json:"examples"`     // of all agents
	Loss        Number `json:"loss"`         // of the tuned model, mean per example
	LossAgainst Number `json:"loss_against"` // of the other
	LossChange  Number `json:"loss_change"`  // as a share of the other's
	LossError   Number `json:"loss_error"`   // standard error of LossChange
	// LossSpread is by how much the loss of one of the two differs between solutions of its lower
	// problem from two starts, the larger of both; 0: its solution is the only one, or not known to
	// have others.
	LossSpread Number `json:"loss_spread,omitzero"`
	// validation loss of the model at the start, beside which losses are small; 0: not known
	LossStart       Number `json:"loss_start,omitzero"`
	Accuracy        Number `json:"accuracy"`         // of the tuned model
	AccuracyAgainst Number `json:"accuracy_against"` // of the other
	AccuracyChange  Number `json:"accuracy_change"`  // their difference
	AccuracyError   Number `json:"accuracy_error"`   // standard error of it
}

// fewestExamples is the number of examples below which a change tells nothing, whatever its
// standard error, which is itself not known then.
const fewestExamples = 10

// few reports whether there are too few examples to judge by.
func (g Gain) few() bool { return 0 < g.Examples && g.Examples < fewestExamples }

// Outcome returns what the loss on these examples says: a change of at most two standard errors, or
// of at most half a percent, is none, and so is a change that another start of the solutions would
// make, and a change of losses of which next to nothing is left. With fewer than ten examples it is
// not clear.
func (g Gain) Outcome() Outcome {
	switch change := float64(g.LossChange); {
	case g.few():
		return Unclear
	case change == 0 || g.withinChance() || g.withinSpread() || g.negligible():
		return Same
	case !g.LossChange.Known() || !g.LossError.Known():
		return Unclear
	case change < 0:
		return Better
	}
	return Worse
}

// withinChance reports whether the change is at most two standard errors.
func (g Gain) withinChance() bool { return math.Abs(float64(g.LossChange)) <= 2*float64(g.LossError) }

// withinSpread reports whether another start may change the loss as much.
func (g Gain) withinSpread() bool { return math.Abs(float64(g.LossChange)) <= float64(g.LossSpread) }

// negligibleShare is the share of the other model's loss up to which a change is nothing, however
// certain it is with many examples.
const negligibleShare = 0.005

// negligible reports whether the change is next to nothing.
func (g Gain) negligible() bool {
	return g.spent() || math.Abs(float64(g.LossChange)) <= negligibleShare*math.Abs(float64(g.LossAgainst))
}

// disagrees reports whether the changes on two sets of examples differ by more than their
// intervals, two standard errors each.
func (g Gain) disagrees(o Gain) bool {
	return math.Abs(float64(g.LossChange-o.LossChange)) > 2*float64(g.LossError+o.LossError)
}

// spentShare is the share of the loss at the start below which a loss has nothing left that
// matters, whatever share of that it changes by: where classes can be told apart, a penalty ever
// weaker lets it fall for ever.
const spentShare = 1e-4

// spent reports whether of both losses next to nothing is left.
func (g Gain) spent() bool {
	return max(math.Abs(float64(g.Loss)), math.Abs(float64(g.LossAgainst))) < spentShare*float64(g.LossStart)
}

// SimplerNote says of a kept model's gain against a simpler one that the simpler one does as well,
// or better; "" where that is not so.
func (g Gain) SimplerNote(kept, simpler string) string {
	switch g.Outcome() {
	case Worse:
		return fmt.Sprintf("A simpler model does better: from %s to %s the %s loss changes by %s (%s).", simpler, kept,
			g.Set, g.percentText(), g.changeText())
	case Same:
		return fmt.Sprintf(
			"A simpler model does as well: %s and %s differ in the %s loss by chance or next to nothing (%s).", simpler,
			kept, g.Set, g.changeText())
	}
	return ""
}

// percentText returns the change of the loss in percent of the other model's loss, with its sign.
func (g Gain) percentText() string {
	share := 100 * float64(g.LossChange/g.LossAgainst)
	text := fmt.Sprintf("%+.1f %%", share)
	if math.Abs(share) >= 1000 {
		text = fmt.Sprintf("%+.3g times", share/100)
	}
	if math.IsNaN(share) || math.IsInf(share, 0) {
		text = fmt.Sprintf("%+.4f", float64(g.LossChange))
	}
	return strings.NewReplacer("+0.0 ", "0.0 ", "-0.0 ", "0.0 ", "-", "−").Replace(text)
}

// changeText writes both losses with the standard error of their difference.
func (g Gain) changeText() string {
	digits := 4
	switch {
	case g.LossAgainst >= 100:
		digits = 2
	case 0 < g.LossAgainst && g.LossAgainst < 0.01: // as many that count as 0.01 has
		digits = min(3-int(math.Floor(num.Log(float64(g.LossAgainst))/math.Ln10)), 12)
	}
	text := fmt.Sprintf("%.*f → %.*f", digits, float64(g.LossAgainst), digits, float64(g.Loss))
	if g.LossError.Known() {
		text += fmt.Sprintf(" ± %.*f", digits, float64(g.LossError))
	}
	return text
}

// A Contest is what a [Verdict] judges: a tuned model against the model of one constant for all
// hyperparameters, or another baseline.
type Contest struct {
	Head     string  // what is judged; "": the tuning of the hyperparameters
	Count    int     // number of hyperparameters
	Meaning  Meaning // what they are
	Against  string  // name of the other model; "": there is none
	Constant Number  // the entry of its x, where all are one number; else unknown
	// Lost says that the other one is kept, because the tuned x was not better by the rule of
	// the run.
	Lost bool
	// Foreign says that the other one is a model of its own, which cannot be kept in place of the
	// tuned one's.
	Foreign bool
	Gains   []Gain // the most telling set first; none where the model tells no losses of single examples
	// Phi and PhiAgainst are Φ of the two, by which they are compared where there are no Gains, and
	// PhiSpread is by how much one of them differs between solutions from two starts.
	Phi, PhiAgainst, PhiSpread Number
	Notes                      []string // a sentence each
}

// Verdict judges a contest by its first gain: test examples where there are some, else held-out
// ones, else validation examples, which have tuned λ.
func (c Contest) Verdict() Verdict {
	v := Verdict{Outcome: Unclear, Against: c.Against, Gains: append([]Gain{}, c.Gains...),
		Notes: append([]string{}, c.Notes...)}
	head, against := fmt.Sprintf("Tuning %d %s", c.Count, c.Meaning.Many), "against "+c.Against
	if c.Count == 1 {
		head = "Tuning 1 " + c.Meaning.One
	}
	head = cmp.Or(c.Head, head)
	if c.Constant.Known() {
		symbol := c.Meaning.Symbol
		if c.Meaning == Penalties {
			symbol = "log-penalty " + symbol
		}
		against = fmt.Sprintf("against the best single %s (%s = %.4g)", c.Meaning.One, symbol, float64(c.Constant))
	}
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
	v.Sentence = g.sentence(head, against)
	var others []string
	for _, o := range c.Gains[1:] {
		if !o.spent() && !o.few() {
			others = append(others, o.Set+" "+o.percentText())
		}
	}
	if others != nil {
		v.Sentence += "; " + strings.Join(others, ", ")
	}
	v.Sentence += c.keptText()
	switch {
	case v.Outcome != Worse || c.Lost:
	case c.Head != "":
		v.Sentence += "; it is kept all the same, as the cross-fitted loss, which decides, is lower"
	case c.Foreign:
		v.Sentence += fmt.Sprintf("; the tuned %s is kept all the same, as %s is another model",
			c.Meaning.Symbol, c.Against)
	default:
		v.Sentence += fmt.Sprintf("; the tuned %s is kept all the same, as Φ, which decides, is not higher",
			c.Meaning.Symbol)
	}
	v.Sentence += "."
	for _, o := range c.Gains[1:] {
		if o.Outcome() == Better && v.Outcome != Better && o.Set == Validation && g.disagrees(o) {
			v.Notes = append(v.Notes,
				fmt.Sprintf("Validation and %s disagree: the validation loss changed by %s, the %s loss by %s. "+
					"%s fits the validation examples rather than what they stand for.", g.Set, o.percentText(), g.Set,
					g.percentText(), c.Meaning.Symbol))
		}
	}
	return v
}

// judgePhi completes a verdict by Φ alone.
func (c Contest) judgePhi(v *Verdict, head, against string) {
	phi := Gain{Loss: c.Phi, LossAgainst: c.PhiAgainst, LossChange: c.Phi - c.PhiAgainst, LossError: Unknown(),
		LossSpread: c.PhiSpread}
	v.Sentence = fmt.Sprintf(
		"%s changed Φ by %s (%s) %s%s; the model tells no losses of single examples, by which chance is judged.",
		head, phi.percentText(), phi.changeText(), against, c.keptText())
	if phi.withinSpread() {
		v.Outcome = Same
		v.Notes = append(v.Notes, fmt.Sprintf("Another start of the solutions changes Φ by up to %.2g: there is no "+
			"difference beyond this.", float64(c.PhiSpread)))
	}
}

// sentence says what its subject head, such as "Tuning 10 penalties", did to the loss on the set,
// compared with another model.
func (g Gain) sentence(head, against string) string {
	share, outcome := strings.TrimLeft(g.percentText(), "+−"), g.Outcome()
	switch {
	case g.few():
		return fmt.Sprintf("%s cannot be judged by %s, too few to tell (loss %s), %s", head,
			wording.Count(g.Examples, g.Set+" example"), g.changeText(), against)
	case outcome == Better:
		return fmt.Sprintf("%s cut the %s loss by %s (%s) %s", head, g.Set, share, g.changeText(), against)
	case outcome == Worse:
		return fmt.Sprintf("%s made it worse: it raised the %s loss by %s (%s) %s", head, g.Set, share,
			g.changeText(), against)
	case outcome == Same && g.spent():
		return fmt.Sprintf(
			"%s made no difference that counts to the %s loss, of which next to nothing is left (%s; %.4f at "+
				"the start), %s",
			head, g.Set, g.changeText(), float64(g.LossStart), against)
	case outcome == Same && g.negligible() && !g.withinChance():
		return fmt.Sprintf("%s made no difference that shows to the %s loss (%s) %s", head, g.Set,
			g.changeText(), against)
	case outcome == Same && g.withinSpread() && !g.withinChance():
		return fmt.Sprintf(
			"%s made no difference to the %s loss (%s) that another start of the solutions would not make too, "+
				"up to %.2g, %s", head, g.Set, g.changeText(), float64(g.LossSpread), against)
	case outcome == Same:
		return fmt.Sprintf("%s made no difference beyond chance to the %s loss (%s) %s", head, g.Set,
			g.changeText(), against)
	}
	return fmt.Sprintf("%s changed the %s loss by %s (%s) %s, with an uncertainty that is not known", head,
		g.Set, g.percentText(), g.changeText(), against)
}

// keptText says that the other model is kept, where it is.
func (c Contest) keptText() string {
	switch {
	case !c.Lost:
		return ""
	case c.Constant.Known():
		return "; the single one is kept"
	}
	return "; " + c.Against + " is kept"
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
