package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/internal/num"
	"dsbo/internal/wording"
)

// Names of the sets of examples on which a [Gain] is measured. Test examples have chosen nothing,
// and they alone give a verdict: what is chosen by some examples does better on these than
// on others.
const (
	Test        = "test"
	HeldOut     = "held-out"     // they chose the iterate, when to stop, and what is kept
	CrossFitted = "cross-fitted" // losses of models that have not seen them; they chose strengths of penalties
	Validation  = "validation"   // they tuned λ
)

// A Gain compares the tuned model with another one, the model of the best single penalty or a
// baseline, on one set of examples. Differences are tuned minus the other, example by example, so
// that what examples have in common cancels.
type Gain struct {
	Set         string `json:"set"`          // "test", "held-out", "cross-fitted" or "validation"
	Examples    int    `json:"examples"`     // of all agents
	Loss        Number `json:"loss"`         // of the tuned model, mean per example
	LossAgainst Number `json:"loss_against"` // of the other
	LossChange  Number `json:"loss_change"`  // Loss less LossAgainst, in their unit: below 0 the tuned model is better
	LossError   Number `json:"loss_error"`   // standard error of LossChange
	// LossLow and LossHigh are [Gain.Interval], of test examples.
	LossLow  Number `json:"loss_low,omitzero"`
	LossHigh Number `json:"loss_high,omitzero"` // see LossLow
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

// fewestExamples is the number of examples below which a change is no evidence. Its standard error
// is itself unknown then.
const fewestExamples = 10

// few reports whether there are too few examples to judge by.
func (g Gain) few() bool { return g.Examples < fewestExamples }

// Outcome returns the verdict on the tuned model by the loss on test examples. It is better or
// worse only if the interval of the change excludes 0 and the change exceeds half a percent of the
// loss and the difference between solutions from two starts. It is unclear with fewer than ten
// examples, or if the examples have chosen something.
func (g Gain) Outcome() Outcome {
	switch {
	case g.Set != Test || g.few():
		return Unclear
	case g.withinChance() || g.withinSpread() || g.negligible():
		return Same
	case !g.LossChange.Known() || !g.LossError.Known():
		return Unclear
	case g.LossChange < 0:
		return Better
	}
	return Worse
}

// Interval returns the ends of an interval of 95 % of the change of the loss on new examples like
// these, by Student's distribution; not known with fewer than two examples. It is one of test
// examples alone: a change on examples that have chosen something is off by more than chance.
func (g Gain) Interval() (low, high Number) {
	half := g.halfWidth(g.LossError)
	return g.LossChange - half, g.LossChange + half
}

// AccuracyInterval returns the interval of the change of the accuracy likewise.
func (g Gain) AccuracyInterval() (low, high Number) {
	half := g.halfWidth(g.AccuracyError)
	return g.AccuracyChange - half, g.AccuracyChange + half
}

// halfWidth returns half of the width of an interval of 95 % of a mean with a standard error.
func (g Gain) halfWidth(deviation Number) Number {
	return Number(Number(num.StudentQuantile(0.975, g.Examples-1)) * deviation)
}

// withinChance reports whether the interval of the change has 0 in it.
func (g Gain) withinChance() bool {
	return math.Abs(float64(g.LossChange)) <= float64(g.halfWidth(g.LossError))
}

// withinSpread reports whether another start may change the loss as much.
func (g Gain) withinSpread() bool { return math.Abs(float64(g.LossChange)) <= float64(g.LossSpread) }

// negligibleShare is the share of the other model's loss up to which a change is nothing, however
// certain it is with many examples.
const negligibleShare = 0.005

// negligible reports whether the change is next to nothing.
func (g Gain) negligible() bool {
	return g.spent() || math.Abs(float64(g.LossChange)) <= negligibleShare*math.Abs(float64(g.LossAgainst))
}

// lower reports whether the loss is lower by what would be better on test examples.
func (g Gain) lower() bool {
	g.Set = Test
	return g.Outcome() == Better
}

// disagrees reports whether the changes on two sets of examples differ by more than two standard
// errors of each together, some 2.8 of the difference where these are alike, whatever the numbers
// of examples: no test of a stated size, but a reason to look.
func (g Gain) disagrees(o Gain) bool {
	return math.Abs(float64(g.LossChange-o.LossChange)) > 2*float64(g.LossError+o.LossError)
}

// spentShare is the share of the starting loss below which a loss is negligible, and so is any
// change of it: if classes can be separated, an ever weaker penalty lets the loss fall for ever.
const spentShare = 1e-4

// spent reports whether of both losses next to nothing is left. Losses below 0 have no end to which
// they fall.
func (g Gain) spent() bool {
	return min(g.Loss, g.LossAgainst) >= 0 && max(g.Loss, g.LossAgainst) < spentShare*g.LossStart
}

// Share returns the change of the loss as a share of the other model's, not known where one of the
// two is below 0, such as the negative logarithm of a density: shares of such losses mean nothing.
func (g Gain) Share() Number { return g.shareOf(g.LossChange) }

// shareOf returns a difference of losses as a share of the other model's loss.
func (g Gain) shareOf(difference Number) Number {
	if !(g.LossAgainst > 0 && g.Loss >= 0) {
		return Unknown()
	}
	return difference / g.LossAgainst
}

// accuracyNote returns a note if loss and accuracy on test examples contradict each other, both
// beyond chance: the loss fell and so did the accuracy, or both rose. Otherwise "".
func (g Gain) accuracyNote() string {
	low, high := g.AccuracyInterval()
	text := "The loss on %s examples fell, and so did the accuracy"
	switch outcome := g.Outcome(); {
	case outcome == Better && high < 0:
	case outcome == Worse && low > 0:
		text = "The loss on %s examples rose, and so did the accuracy"
	default:
		return ""
	}
	text = fmt.Sprintf(text+" (%.4f → %.4f; difference %+.4f, 95 %% interval %+.4f to %+.4f).", g.Set,
		g.AccuracyAgainst, g.Accuracy, g.AccuracyChange, low, high)
	return strings.ReplaceAll(text, "-", "−")
}

// SimplerNote returns the sentence that a simpler model does as well as the kept one, or better; ""
// if it does not.
func (g Gain) SimplerNote(kept, simpler string) string {
	switch g.Outcome() {
	case Worse:
		return fmt.Sprintf("A simpler model does better: from %s to %s the %s loss changes by %s (%s).", simpler, kept,
			g.Set, g.percentText(), g.testText())
	case Same:
		return fmt.Sprintf(
			"A simpler model does as well: %s and %s differ in the %s loss by chance or next to nothing (%s).", simpler,
			kept, g.Set, g.testText())
	}
	return ""
}

// percent writes a change of a loss that is given as a share, with its sign.
func percent(share Number) string {
	text := fmt.Sprintf("%+.1f %%", 100*float64(share))
	if math.Abs(float64(share)) >= 10 {
		text = fmt.Sprintf("%+.3g times", float64(share))
	}
	return strings.NewReplacer("+0.0 ", "0.0 ", "-0.0 ", "0.0 ", "-", "−").Replace(text)
}

// percentText returns the change of the loss in percent of the other model's loss, with its sign,
// or in the losses' own unit where they have no shares.
func (g Gain) percentText() string {
	if share := g.Share(); share.Known() {
		return percent(share)
	}
	return g.number("%+.*f", g.LossChange)
}

// digits returns the number of decimals of losses: 4; fewer for large losses, more for small ones;
// and at least enough for two significant digits of the half-width of the interval of their
// difference.
func (g Gain) digits() int {
	// counting returns the number of decimals up to the first significant digit of v.
	counting := func(v float64) int { return -int(math.Floor(num.Log(v) / math.Ln10)) }
	digits := 4
	switch {
	case g.LossAgainst >= 100:
		digits = 2
	case 0 < g.LossAgainst && g.LossAgainst < 0.01:
		digits = counting(float64(g.LossAgainst)) + 3
	}
	if half := float64(g.halfWidth(g.LossError)); half > 0 && !math.IsInf(half, 1) {
		digits = max(digits, counting(half)+1)
	}
	return min(digits, 12)
}

// number writes a loss, or a difference of losses, in a format for it and its decimals.
func (g Gain) number(format string, v Number) string {
	return strings.ReplaceAll(fmt.Sprintf(format, g.digits(), float64(v)), "-", "−")
}

// changeText writes both losses.
func (g Gain) changeText() string {
	return g.number("%.*f", g.LossAgainst) + " → " + g.number("%.*f", g.Loss)
}

// testText writes both losses, and their difference with its interval where that is known.
func (g Gain) testText() string {
	text := g.changeText()
	if low, high := g.Interval(); low.Known() {
		text += fmt.Sprintf("; difference %s, 95 %% interval %s to %s", g.number("%+.*f", g.LossChange),
			g.number("%+.*f", low), g.number("%+.*f", high))
	}
	return text
}

// sentence returns the sentence on the effect of head, such as "Tuning 10 penalties", on the loss
// on test examples (counted names another unit). against says what it is compared with. If there is
// no difference, it gives the first reason of Outcome that applies.
func (g Gain) sentence(head, counted, against string) string {
	share, outcome := strings.TrimLeft(g.percentText(), "+−"), g.Outcome()
	switch {
	case g.few():
		return fmt.Sprintf("%s cannot be judged by %s, too few to tell (loss %s), %s", head,
			wording.Count(g.Examples, g.Set+" "+counted), g.changeText(), against)
	case outcome == Better:
		return fmt.Sprintf("%s cut the %s loss by %s (%s) %s", head, g.Set, share, g.testText(), against)
	case outcome == Worse:
		return fmt.Sprintf("%s made it worse: it raised the %s loss by %s (%s) %s", head, g.Set, share,
			g.testText(), against)
	case g.spent():
		return fmt.Sprintf(
			"%s made no difference that counts to the %s loss, of which next to nothing is left (%s; %.4f at "+
				"the start), %s",
			head, g.Set, g.testText(), float64(g.LossStart), against)
	case g.withinChance():
		return fmt.Sprintf("%s made no difference beyond chance to the %s loss (%s) %s", head, g.Set,
			g.testText(), against)
	case g.negligible():
		return fmt.Sprintf("%s made no difference that shows to the %s loss (%s) %s", head, g.Set,
			g.testText(), against)
	case outcome == Same:
		return fmt.Sprintf(
			"%s made no difference to the %s loss (%s) that another start of the solutions would not make too, "+
				"up to %.2g, %s", head, g.Set, g.testText(), float64(g.LossSpread), against)
	}
	return fmt.Sprintf("%s changed the %s loss by %s (%s) %s, with an uncertainty that is not known", head,
		g.Set, g.percentText(), g.changeText(), against)
}

// untested returns the sentence on head's effect on the loss on examples that have chosen
// something, which is no verdict.
func (g Gain) untested(head, against string) string {
	if g.Set == CrossFitted {
		return fmt.Sprintf("On rows of other folds %s changed the loss by %s (%s) %s; these rows chose the strengths "+
			"of penalties", lowerFirst(head), g.percentText(), g.changeText(), against)
	}
	return fmt.Sprintf("%s changed the %s loss by %s (%s) %s", head, g.Set, g.percentText(), g.changeText(), against)
}

// lowerFirst writes the first letter of a sentence small.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// beside returns the change of the loss on examples that have chosen something: held-out ones the
// given choice.
func (g Gain) beside(symbol, choice string) string {
	did := map[string]string{HeldOut: "chose " + choice, CrossFitted: "chose strengths",
		Validation: "tuned " + symbol}[g.Set]
	return fmt.Sprintf("%s %s (rows that %s)", g.Set, g.percentText(), did)
}

// LostHeldOut reports whether the held-out loss is larger by more than a standard error, in which
// case a tuned model is not kept. It is false without a number.
func LostHeldOut(gains []Gain) bool {
	return slices.ContainsFunc(gains, func(g Gain) bool { return g.Set == HeldOut && g.LossChange > g.LossError })
}
