package runs

import (
	"strings"
	"testing"
)

// gain makes a gain from the two losses and the standard error of their difference.
func gain(set string, against, loss, uncertainty Number) Gain {
	return Gain{Set: set, Examples: 100, Loss: loss, LossAgainst: against, LossChange: loss - against,
		LossError: uncertainty}
}

// separable makes the gain of a model of two classes that can be told apart: at the start its loss
// was log 2.
func separable(set string, against, loss, uncertainty Number) Gain {
	g := gain(set, against, loss, uncertainty)
	g.LossStart = .6931
	return g
}

// TestVerdict: one sentence says what tuning gave, on which examples, how surely, and against what.
func TestVerdict(t *testing.T) {
	test, held, val := gain(Test, .2873, .2784, .0009), gain(HeldOut, .3, .288, .002), gain(Validation, .25, .237, .001)
	for name, tt := range map[string]struct {
		contest  Contest
		outcome  Outcome
		sentence string
		notes    int
	}{
		"better": {
			Contest{Count: 784, Meaning: Penalties, Against: "λ, best constant", Constant: 1,
				Gains: []Gain{test, held, val}}, Better,
			"Tuning 784 penalties cut the test loss by 3.1 % (0.2873 → 0.2784 ± 0.0009) against the best single " +
				"penalty (log-penalty λ = 1); held-out −4.0 %, validation −5.2 %.", 0,
		},
		"worse, and kept is the constant": {
			Contest{Count: 20, Meaning: Penalties, Against: "λ, best constant", Constant: -2, Lost: true,
				Gains: []Gain{gain(Test, .5, .55, .01), gain(Validation, .5, .45, .01)}}, Worse,
			"Tuning 20 penalties made it worse: it raised the test loss by 10.0 % (0.5000 → 0.5500 ± 0.0100) against " +
				"the best single penalty (log-penalty λ = -2); validation −10.0 %; the single one is kept.", 1,
		},
		"within two standard errors": {
			Contest{Count: 1, Meaning: Penalties, Against: "λ, best constant", Constant: 0.5,
				Gains: []Gain{gain(Test, .5, .501, .0006), gain(Validation, .5, .5, .001)}}, Same,
			"Tuning 1 penalty made no difference beyond chance to the test loss (0.5000 → 0.5010 ± 0.0006) against " +
				"the best single penalty (log-penalty λ = 0.5); validation 0.0 %.", 0,
		},
		"certain, and less than another start changes": {
			Contest{Count: 2, Meaning: Hyperparameters, Against: "x = 0", Constant: 0, Gains: []Gain{{Set: Test,
				Examples: 90, Loss: .9, LossAgainst: 1, LossChange: -.1, LossError: .01, LossSpread: .12}}}, Same,
			"Tuning 2 hyperparameters made no difference to the test loss (1.0000 → 0.9000 ± 0.0100) that another " +
				"start of the solutions would not make too, up to 0.12, against the best single hyperparameter " +
				"(x = 0).", 0,
		},
		"without losses of examples, less than another start changes": {
			Contest{Count: 2, Meaning: Hyperparameters, Against: "x = 0", Constant: 0, Phi: 1.29, PhiAgainst: .93,
				PhiSpread: .4}, Same,
			"Tuning 2 hyperparameters changed Φ by +38.7 % (0.9300 → 1.2900) against the best single hyperparameter " +
				"(x = 0); the model tells no losses of single examples, by which chance is judged.", 1,
		},
		"certain, and next to nothing": {
			Contest{Count: 5, Meaning: Penalties, Against: "λ, best constant", Constant: -5,
				Gains: []Gain{gain(Test, .36820, .36817, .00001), gain(Validation, .32819, .32818, .00001)}}, Same,
			"Tuning 5 penalties made no difference that shows to the test loss (0.3682 → 0.3682 ± 0.0000) against " +
				"the best single penalty (log-penalty λ = -5); validation 0.0 %.", 0,
		},
		"validation alone says better": {
			Contest{Count: 2, Meaning: Penalties, Against: "λ, best constant", Constant: 0,
				Gains: []Gain{gain(Test, .5, .5, 0), val}, Notes: []string{"first"}}, Same,
			"Tuning 2 penalties made no difference beyond chance to the test loss (0.5000 → 0.5000 ± 0.0000) against " +
				"the best single penalty (log-penalty λ = 0); validation −5.2 %.", 2,
		},
		"no test examples": {
			Contest{Count: 3, Meaning: Hyperparameters, Against: "x = 0", Constant: 0,
				Gains: []Gain{gain(Validation, 200, 190, 1)}}, Better,
			"Tuning 3 hyperparameters cut the validation loss by 5.0 % (200.00 → 190.00 ± 1.00) against the best " +
				"single hyperparameter (x = 0).", 0,
		},
		"one example": {
			Contest{Count: 3, Meaning: Hyperparameters, Against: "x = 0", Constant: 0,
				Gains: []Gain{gain(Test, 2, 1, Unknown())}}, Unclear,
			"Tuning 3 hyperparameters changed the test loss by −50.0 % (2.0000 → 1.0000) against the best single " +
				"hyperparameter (x = 0), with an uncertainty that is not known.", 0,
		},
		"a loss of zero": {
			Contest{Count: 3, Meaning: Hyperparameters, Against: "x = 0", Constant: 0,
				Gains: []Gain{gain(Test, 0, 1, .1)}}, Worse,
			"Tuning 3 hyperparameters made it worse: it raised the test loss by 1.0000 (0.0000 → 1.0000 ± 0.1000) " +
				"against the best single hyperparameter (x = 0); the tuned x is kept all the same, as Φ, which " +
				"decides, is not higher.", 0,
		},
		"nothing else": {
			Contest{Count: 3, Meaning: Hyperparameters, Constant: Unknown(), Gains: []Gain{test}}, Unclear,
			"Tuning 3 hyperparameters has nothing to be compared with: there is no model without.", 0,
		},
		"no losses of single examples": {
			Contest{Count: 12, Meaning: Hyperparameters, Against: "x = 0, best constant", Constant: 0, Phi: .0667,
				PhiAgainst: .7812}, Unclear,
			"Tuning 12 hyperparameters changed Φ by −91.5 % (0.7812 → 0.0667) against the best single hyperparameter " +
				"(x = 0); the model tells no losses of single examples, by which chance is judged.", 0,
		},
		"no losses of single examples, and kept is the constant": {
			Contest{Count: 2, Meaning: Hyperparameters, Against: "x = 1, best constant", Constant: 1, Lost: true,
				Phi: .5, PhiAgainst: .4}, Unclear,
			"Tuning 2 hyperparameters changed Φ by +25.0 % (0.4000 → 0.5000) against the best single hyperparameter " +
				"(x = 1); the single one is kept; the model tells no losses of single examples, by which " +
				"chance is judged.", 0,
		},
		"no losses and no Φ": {
			Contest{Count: 2, Meaning: Hyperparameters, Against: "x = 1, best constant", Constant: 1, Phi: Unknown(),
				PhiAgainst: .4}, Unclear,
			"Tuning 2 hyperparameters has nothing to be compared with: there is no model without.", 0,
		},
		"small losses": {
			Contest{Count: 23, Meaning: Penalties, Against: "λ = -8", Constant: -8,
				Gains: []Gain{gain(Test, .0002841, .0003364, .0000123)}}, Worse,
			"Tuning 23 penalties made it worse: it raised the test loss by 18.4 % (0.0002841 → 0.0003364 ± " +
				"0.0000123) against the best single penalty (log-penalty λ = -8); the tuned λ is kept all " +
				"the same, as Φ, which decides, is not higher.", 0,
		},
		"nothing left of the losses": {
			Contest{Count: 5, Meaning: Penalties, Against: "λ = -15", Constant: -15, Lost: true, Gains: []Gain{
				separable(Test, 5e-7, 1.8e-6, 8e-8), separable(Validation, 5e-7, 1e-7, 1e-9)}}, Same,
			"Tuning 5 penalties made no difference that counts to the test loss, of which next to nothing is left " +
				"(0.0000005000 → 0.0000018000 ± 0.0000000800; " +
				"0.6931 at the start), against the best single penalty (log-penalty λ = -15); the " +
				"single one is kept.", 0,
		},
		"nothing left of one loss": {
			Contest{Count: 5, Meaning: Penalties, Against: "λ = 0", Constant: 0,
				Gains: []Gain{separable(Test, .02, 1e-6, 1e-4), separable(Validation, .02, 1e-6, 1e-4)}}, Better,
			"Tuning 5 penalties cut the test loss by 100.0 % (0.0200 → 0.0000 ± 0.0001) against the best single " +
				"penalty (log-penalty λ = 0); validation −100.0 %.", 0,
		},
		"worse than a baseline of another model": {
			Contest{Count: 6280, Meaning: Meaning{"x", "weight", "weights", "", 0, 0, 0}, Against: "raw features",
				Constant: Unknown(), Foreign: true,
				Gains: []Gain{gain(Test, 1.1, 1.8, .02)}, Phi: 1.4, PhiAgainst: 1.2}, Worse,
			"Tuning 6280 weights made it worse: it raised the test loss by 63.6 % (1.1000 → 1.8000 ± 0.0200) against " +
				"raw features; the tuned x is kept all the same, as raw features is another model.", 0,
		},
		"another baseline": {
			Contest{Count: 7840, Meaning: Meaning{"X", "pixel", "pixels", "", 10, 28, 28}, Against: "mean pictures",
				Constant: Unknown(), Lost: true, Gains: []Gain{gain(Test, .5, .5, 0)}}, Same,
			"Tuning 7840 pixels made no difference beyond chance to the test loss (0.5000 → 0.5000 ± 0.0000) against " +
				"mean pictures; mean pictures is kept.", 0,
		},
	} {
		v := tt.contest.Verdict()
		if v.Outcome != tt.outcome || v.Sentence != tt.sentence || len(v.Notes) != tt.notes {
			t.Errorf("%s: %s with %d notes\n%s\nwant %s with %d\n%s", name, v.Outcome, len(v.Notes), v.Sentence,
				tt.outcome, tt.notes, tt.sentence)
		}
	}
	v := Contest{Count: 2, Meaning: Penalties, Against: "λ = 0", Constant: 0,
		Gains: []Gain{gain(Test, .5, .6, .01), val}}.Verdict()
	if len(v.Notes) != 1 || !strings.HasPrefix(v.Notes[0],
		"Validation and test disagree: the validation loss changed by −5.2 %, the test loss by +20.0 %.") {
		t.Errorf("notes %q", v.Notes)
	}
}

// TestSimplerNote: it is said where a simpler model does as well as the kept one, or better, and
// nothing where it does not.
func TestSimplerNote(t *testing.T) {
	for _, tt := range []struct {
		g    Gain
		want string
	}{
		{gain(Test, .5, .4, .01), ""},
		{gain(Test, .5, .4, Unknown()), ""},
		{gain(Test, .4, .5, .01),
			"A simpler model does better: from linear, λ = -3 to λ tuned the test loss changes by +25.0 % (0.4000 → " +
				"0.5000 ± 0.0100)."},
		{gain(HeldOut, .5, .501, .01),
			"A simpler model does as well: linear, λ = -3 and λ tuned differ in the held-out loss by chance or next " +
				"to nothing (0.5000 → 0.5010 ± 0.0100)."},
	} {
		if got := tt.g.SimplerNote("λ tuned", "linear, λ = -3"); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.g, got, tt.want)
		}
	}
}
