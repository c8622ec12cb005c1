package runs

// An Outcome is what tuning gave, in one word.
type Outcome string

// The outcomes.
const (
	Better  Outcome = "better"  // tuning beat the best single penalty
	Same    Outcome = "same"    // the difference is within its uncertainty
	Worse   Outcome = "worse"   // tuning lost
	Unclear Outcome = "unclear" // there is nothing to compare with
)

// A Verdict says what tuning gave against the best single penalty: all hyperparameters one number.
type Verdict struct {
	Outcome  Outcome  `json:"outcome"`
	Sentence string   `json:"sentence"` // one sentence for people
	Against  string   `json:"against"`  // name of the model that it is compared with
	Gains    []Gain   `json:"gains"`    // on validation, held-out and test examples, as far as there are some
	Notes    []string `json:"notes"`    // what a reader has to know: over-fitting, models that have not converged
}

// A Gain compares the tuned model with that of the best single penalty on one set of examples. Differences are tuned minus the
// other, example by example, so that what examples have in common cancels.
type Gain struct {
	Set             string `json:"set"` // "validation", "held-out" or "test"
	Examples        int    `json:"examples"`
	Loss            Number `json:"loss"`         // of the tuned model, mean per example
	LossAgainst     Number `json:"loss_against"` // of the other
	LossChange      Number `json:"loss_change"`
	LossError       Number `json:"loss_error"` // standard error of LossChange
	Accuracy        Number `json:"accuracy"`
	AccuracyAgainst Number `json:"accuracy_against"`
	AccuracyChange  Number `json:"accuracy_change"`
	AccuracyError   Number `json:"accuracy_error"`
}

// Traffic is what all agents have sent in a whole run, payloads of the exchanges, by what it was for.
type Traffic struct {
	Method     Sent `json:"method"`     // iterations
	Evaluation Sent `json:"evaluation"` // records, exact solutions, choices of steps
	Models     Sent `json:"models"`     // models of the table: constants and refits
}

// Total returns the sum.
func (t Traffic) Total() (s Sent) {
	for _, part := range []Sent{t.Method, t.Evaluation, t.Models} {
		s.Messages += part.Messages
		s.Floats += part.Floats
		s.Bytes += part.Bytes
	}
	return s
}
