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
	penalties := func(count int, constant Number, gains ...Gain) Contest {
		return Contest{Count: count, Meaning: Penalties, Against: "λ, best constant", Constant: constant, Gains: gains}
	}
	lost := func(c Contest) Contest { c.Lost = true; return c }
	x := func(count int, gains ...Gain) Contest {
		return Contest{Count: count, Meaning: Hyperparameters, Against: "x = 0", Gains: gains}
	}
	byPhi := func(count int, phi, against, spread Number) Contest {
		return Contest{Count: count, Meaning: Hyperparameters, Against: "x = 1, best constant", Constant: 1, Phi: phi,
			PhiAgainst: against, PhiSpread: spread}
	}
	spread := gain(Test, 1, .9, .01)
	spread.LossSpread = .12
	for name, tt := range map[string]struct {
		contest  Contest
		outcome  Outcome
		sentence string
		notes    int
	}{
		"better": {
			Contest{Count: 784, Meaning: Penalties, FoundBy: "newtoncg", Against: "λ, best constant", Constant: 1,
				Gains: []Gain{test, held, val}}, Better,
			"Tuning 784 penalties by newtoncg cut the test loss by 3.1 % (0.2873 → 0.2784; difference −0.0089, 95 % " +
				"interval −0.0107 to −0.0071) against the best single penalty (log-penalty λ = 1), of which some 3.1 " +
				"% " +
				"is to be expected on new rows; held-out −4.0 % (rows that chose the iterate), validation −5.2 % " +
				"(rows that tuned λ).", 0,
		},
		"found by a search": {
			Contest{Count: 200, Meaning: Penalties, FoundBy: "a BFGS search", NotBy: "madsbo",
				Against: "λ, best constant", Constant: 1, Gains: []Gain{gain(Test, .5, .501, .0006)}}, Same,
			"Tuning 200 penalties by a BFGS search, not by madsbo, made no difference beyond chance to the test loss " +
				"(0.5000 → 0.5010; difference +0.0010, 95 % interval −0.0002 to +0.0022) against the best single " +
				"penalty (log-penalty λ = 1).", 0,
		},
		"worse, and kept is the constant": {
			lost(penalties(20, -2, gain(Test, .5, .55, .01), gain(Validation, .5, .45, .01))), Worse,
			"Tuning 20 penalties made it worse: it raised the test loss by 10.0 % (0.5000 → 0.5500; difference " +
				"+0.0500, 95 % interval +0.0302 to +0.0698) against the best single penalty (log-penalty λ = -2), of " +
				"which some 6.7 % is to be expected on new rows; validation −10.0 % (rows that tuned λ); the single " +
				"one is kept.", 1,
		},
		"one number, as the best constant is": {
			lost(penalties(1, -3, gain(Test, .05, .048, .0001))), Same,
			"Tuning 1 penalty changed the test loss by −4.0 % (0.05000 → 0.04800) against the best single penalty " +
				"(log-penalty λ = -3): both are one number; the single one is kept.", 0,
		},
		"one number, by rows that chose": {
			penalties(1, -3, gain(HeldOut, .05, .048, .0001)), Unclear,
			"Tuning 1 penalty changed the held-out loss by −4.0 % (0.05000 → 0.04800) against the best single " +
				"penalty (log-penalty λ = -3). The iterate, and which model is kept, were chosen by these rows; what " +
				"the penalties give on others is not known. Test rows would give a verdict.", 0,
		},
		"certain, and less than another start changes": {
			x(2, spread), Same,
			"Tuning 2 hyperparameters made no difference to the test loss (1.0000 → 0.9000; difference −0.1000, 95 % " +
				"interval −0.1198 to −0.0802) that another start of the solutions would not make too, up to 0.12, " +
				"against the best single hyperparameter (x = 0).", 0,
		},
		"certain, and next to nothing": {
			penalties(5, -5, gain(Test, .36820, .36817, .00001), gain(Validation, .32819, .32818, .00001)), Same,
			"Tuning 5 penalties made no difference that shows to the test loss (0.368200 → 0.368170; difference " +
				"−0.000030, 95 % interval −0.000050 to −0.000010) against the best single penalty (log-penalty λ = " +
				"-5); validation 0.0 % (rows that tuned λ).", 0,
		},
		"validation alone is lower": {
			Contest{Count: 2, Meaning: Penalties, Against: "λ, best constant", Constant: 0,
				Gains: []Gain{gain(Test, .5, .5, 0), val}, Notes: []string{"first"}}, Same,
			"Tuning 2 penalties made no difference beyond chance to the test loss (0.5000 → 0.5000; difference " +
				"+0.0000, 95 % interval +0.0000 to +0.0000) against the best single penalty (log-penalty λ = 0); " +
				"validation −5.2 % (rows that tuned λ).", 2,
		},
		"no test examples": {
			x(3, gain(Validation, 200, 190, 1)), Unclear,
			"Tuning 3 hyperparameters changed the validation loss by −5.0 % (200.00 → 190.00) against the best " +
				"single " +
				"hyperparameter (x = 0). The hyperparameters were chosen by these rows; what they give on others is " +
				"not known. Test rows would give a verdict.", 0,
		},
		"no test examples, and a flag that sets some aside": {
			Contest{Count: 9, Meaning: Penalties, Against: "λ, best constant", Constant: 1, TestFlag: "split",
				Gains: []Gain{val}}, Unclear,
			"Tuning 9 penalties changed the validation loss by −5.2 % (0.2500 → 0.2370) against the best single " +
				"penalty (log-penalty λ = 1). The penalties were chosen by these rows; what they give on others is " +
				"not known. Hold out test rows (-split) or use folds.", 0,
		},
		"few events": {
			Contest{Count: 9, Meaning: Penalties, Against: "λ", Constant: 1, Counted: "event",
				Gains: []Gain{{Set: Test, Examples: 9, Loss: .5, LossAgainst: .75}}}, Unclear,
			"Tuning 9 penalties cannot be judged by 9 test events, too few to tell (loss 0.7500 → 0.5000), against " +
				"the best single penalty (log-penalty λ = 1).", 0,
		},
		"held-out examples": {
			x(3, held, val), Unclear,
			"Tuning 3 hyperparameters changed the held-out loss by −4.0 % (0.3000 → 0.2880) against the best single " +
				"hyperparameter (x = 0); validation −5.2 % (rows that tuned x). The iterate, and which model is " +
				"kept, " +
				"were chosen by these rows; what the hyperparameters give on others is not known. Test rows would " +
				"give a verdict.", 0,
		},
		"folds and no test examples": {
			Contest{Count: 142, Meaning: Penalties, FoundBy: "a structure that folds chose", Against: "λ = 2",
				Constant: 2, Gains: []Gain{gain(CrossFitted, .5, .45, .01)}}, Unclear,
			"On rows of other folds tuning 142 penalties by a structure that folds chose changed the loss by −10.0 % " +
				"(0.5000 → 0.4500) against the best single penalty (log-penalty λ = 2); these rows chose the " +
				"strengths " +
				"of penalties. Of it some −8.8 % is to be expected on new rows; not tested.", 0,
		},
		"folds, no test examples and no gain": {
			penalties(142, 2, gain(CrossFitted, .5, .51, .01)), Unclear,
			"On rows of other folds tuning 142 penalties changed the loss by +2.0 % (0.5000 → 0.5100) against the " +
				"best " +
				"single penalty (log-penalty λ = 2); these rows chose the strengths of penalties. Not tested.", 0,
		},
		"folds chose one penalty": {
			lost(penalties(142, 2, gain(Test, .5, .5, 0), gain(CrossFitted, .5, .5, 0))), Same,
			"None of the structures of 142 penalties that were tried surely did better on rows of other folds than " +
				"the best single penalty (λ = 2), which is kept.", 0,
		},
		"folds chose a structure that is worse": {
			penalties(142, 2, gain(Test, .5, .6, .01), gain(CrossFitted, .5, .45, .05)), Worse,
			"Tuning 142 penalties made it worse: it raised the test loss by 20.0 % (0.5000 → 0.6000; difference " +
				"+0.1000, 95 % interval +0.0802 to +0.1198) against the best single penalty (log-penalty λ = 2), of " +
				"which some 19.4 % is to be expected on new rows; cross-fitted −10.0 % (rows that chose strengths); " +
				"it is kept all the same, as the cross-fitted loss, which decides, is lower.", 0,
		},
		"a lasso that is worse": {
			Contest{Head: "The lasso", Count: 9, Constant: 2, Meaning: Penalties, Against: "λ = 2", Asked: true,
				Gains: []Gain{gain(Test, .5, .6, .01), gain(CrossFitted, .5, .55, .05)}}, Worse,
			"The lasso made it worse: it raised the test loss by 20.0 % (0.5000 → 0.6000; difference +0.1000, 95 % " +
				"interval +0.0802 to +0.1198) against the best single penalty (log-penalty λ = 2); cross-fitted " +
				"+10.0 % (rows that chose strengths); it is kept all the same, as it is asked for.", 0,
		},
		"folds and test examples": {
			penalties(142, 2, gain(Test, .5, .47, .0125), gain(CrossFitted, .5, .45, .01)), Better,
			// (0.06/0.025² + 0.088/0.026²)/(1/0.025² + 1/0.026²) = 0.0734
			"Tuning 142 penalties cut the test loss by 6.0 % (0.5000 → 0.4700; difference −0.0300, 95 % interval " +
				"−0.0548 to −0.0052) against the best single penalty (log-penalty λ = 2); on new rows some 7.3 % is " +
				"to be expected; cross-fitted −10.0 % (rows that chose strengths).", 0,
		},
		"one example": {
			x(3, gain(Test, 2, 1, Unknown())), Unclear,
			"Tuning 3 hyperparameters changed the test loss by −50.0 % (2.0000 → 1.0000) against the best single " +
				"hyperparameter (x = 0), with an uncertainty that is not known.", 0,
		},
		"a loss of zero": {
			x(3, gain(Test, 0, 1, .1)), Worse,
			"Tuning 3 hyperparameters made it worse: it raised the test loss by 1.0000 (0.0000 → 1.0000; difference " +
				"+1.0000, 95 % interval +0.8016 to +1.1984) against the best single hyperparameter (x = 0); the " +
				"tuned " +
				"x is kept all the same, as Φ, which decides, is not higher.", 0,
		},
		"nothing else": {
			Contest{Count: 3, Meaning: Hyperparameters, Constant: Unknown(), Gains: []Gain{test}}, Unclear,
			"Tuning 3 hyperparameters has nothing to be compared with: there is no model without.", 0,
		},
		"no losses of single examples": {
			byPhi(12, .0667, .7812, 0), Unclear,
			"Tuning 12 hyperparameters changed Φ by −91.5 % (0.7812 → 0.0667) against the best single hyperparameter " +
				"(x = 1); the model gives no losses of single examples, by which chance is judged.", 0,
		},
		"no losses of single examples, and kept is the constant": {
			lost(byPhi(2, .5, .4, 0)), Unclear,
			"Tuning 2 hyperparameters changed Φ by +25.0 % (0.4000 → 0.5000) against the best single hyperparameter " +
				"(x = 1); the single one is kept; the model gives no losses of single examples, by which " +
				"chance is judged.", 0,
		},
		"without losses of examples, less than another start changes": {
			byPhi(2, 1.29, .93, .4), Same,
			"Tuning 2 hyperparameters changed Φ by +38.7 % (0.9300 → 1.2900) against the best single hyperparameter " +
				"(x = 1); the model gives no losses of single examples, by which chance is judged.", 1,
		},
		"no losses and no Φ": {
			byPhi(2, Unknown(), .4, 0), Unclear,
			"Tuning 2 hyperparameters has nothing to be compared with: there is no model without.", 0,
		},
		"small losses": {
			penalties(1, -8, gain(Test, .0002841, .0003364, .0000123)), Worse,
			"Tuning 1 penalty made it worse: it raised the test loss by 18.4 % (0.0002841 → 0.0003364; difference " +
				"+0.0000523, 95 % interval +0.0000279 to +0.0000767) against the best single penalty (log-penalty λ " +
				"= " +
				"-8); the tuned λ is kept all the same, as Φ, which decides, is not higher.", 0,
		},
		"nothing left of the losses": {
			lost(penalties(5, -15, separable(Test, 5e-7, 1.8e-6, 8e-8), separable(Validation, 5e-7, 1e-7, 1e-9))), Same,
			"Tuning 5 penalties made no difference that counts to the test loss, of which next to nothing is left " +
				"(0.0000005000 → 0.0000018000; difference +0.0000013000, 95 % interval +0.0000011413 to " +
				"+0.0000014587; 0.6931 at the start), against the best single penalty (log-penalty λ = -15); the " +
				"single one is kept.", 0,
		},
		"nothing left of one loss": {
			penalties(5, 0, separable(Test, .02, 1e-6, 1e-4)), Better,
			"Tuning 5 penalties cut the test loss by 100.0 % (0.02000 → 0.00000; difference −0.02000, 95 % interval " +
				"−0.02020 to −0.01980) against the best single penalty (log-penalty λ = 0).", 0,
		},
		"worse than a baseline of another model": {
			Contest{Count: 6280, Meaning: Meaning{"x", "weight", "weights", "", 0, 0, 0}, Against: "raw features",
				Constant: Unknown(), Foreign: true, Gains: []Gain{gain(Test, -1, -.3, .02)}, Phi: 1.4,
				PhiAgainst: 1.2}, Worse,
			"Tuning 6280 weights made it worse: it raised the test loss by 0.7000 (−1.0000 → −0.3000; difference " +
				"+0.7000, 95 % interval +0.6603 to +0.7397) against raw features; the tuned x is kept all the same, " +
				"as raw features is another model.", 0,
		},
		"a network, beside few other rows": {
			Contest{Head: "A network", Count: 1, Constant: 1, Meaning: Penalties, Against: "linear",
				Gains: []Gain{test, {Set: HeldOut, Examples: 9, Loss: .1, LossAgainst: .2}}}, Better,
			"A network cut the test loss by 3.1 % (0.2873 → 0.2784; difference −0.0089, 95 % interval −0.0107 to " +
				"−0.0071) against the best single penalty (log-penalty λ = 1).", 0,
		},
		"one number against a baseline": {
			Contest{Count: 1, Constant: Unknown(), Meaning: Penalties, Against: "linear", Gains: []Gain{test}}, Better,
			"Tuning 1 penalty cut the test loss by 3.1 % (0.2873 → 0.2784; difference −0.0089, 95 % interval " +
				"−0.0107 to −0.0071) against linear.", 0,
		},
		"another baseline": {
			Contest{Count: 7840, Meaning: Meaning{"X", "pixel", "pixels", "", 10, 28, 28}, Against: "mean pictures",
				Constant: Unknown(), Lost: true, Gains: []Gain{gain(Test, .5, .5, 0)}}, Same,
			"Tuning 7840 pixels made no difference beyond chance to the test loss (0.5000 → 0.5000; difference " +
				"+0.0000, 95 % interval +0.0000 to +0.0000) against mean pictures; mean pictures is kept.", 0,
		},
	} {
		v := tt.contest.Verdict()
		if v.Outcome != tt.outcome || v.Sentence != tt.sentence || len(v.Notes) != tt.notes {
			t.Errorf("%s: %s with %d notes\n%s\nwant %s with %d\n%s", name, v.Outcome, len(v.Notes), v.Sentence,
				tt.outcome, tt.notes, tt.sentence)
		}
	}
}

// TestDisagreement: where test examples deny what validation examples promise, by more than the
// intervals of both, a note says so. The errors here are 1/4 and 1/8: the changes have to differ by
// more than 3/4.
func TestDisagreement(t *testing.T) {
	for _, c := range []struct {
		test Number
		want bool
	}{{-.24, true}, {-.25, false}, {-.26, false}} {
		v := Contest{Count: 2, Meaning: Penalties, Against: "λ = 0", Constant: 0,
			Gains: []Gain{gain(Test, 4, 4+c.test, .25), gain(Validation, 4, 3, .125)}}.Verdict()
		if said := len(v.Notes) == 1 && strings.HasPrefix(v.Notes[0],
			"Validation and test disagree: the validation loss changed by −25.0 %, the test loss by "+
				"−"); said != c.want {
			t.Errorf("a test loss that changes by %g: notes %q", c.test, v.Notes)
		}
	}
}

// TestAccuracyNote: a verdict by the loss has a note where the accuracy went the other way, beyond
// chance: with 100 examples half of the interval is 1.98 errors.
func TestAccuracyNote(t *testing.T) {
	for _, c := range []struct {
		loss, accuracy, deviation Number
		want                      string
	}{
		{.4, .70, .02, "The loss on test examples fell, and so did the accuracy (0.7500 → 0.7000; difference " +
			"−0.0500, 95 % interval −0.0897 to −0.0103)."},
		{.6, .80, .02, "The loss on test examples rose, and so did the accuracy (0.7500 → 0.8000; difference " +
			"+0.0500, 95 % interval +0.0103 to +0.0897)."},
		{loss: .4, accuracy: .70, deviation: .026}, {loss: .6, accuracy: .80, deviation: .026}, // by chance
		{loss: .4, accuracy: .80, deviation: .02}, {loss: .6, accuracy: .70, deviation: .02}, // the same way
		{loss: .5, accuracy: .70, deviation: .02}, // the loss is the same
		{.4, Unknown(), Unknown(), ""},
	} {
		g := gain(Test, .5, c.loss, .01)
		g.Accuracy, g.AccuracyAgainst, g.AccuracyChange, g.AccuracyError = c.accuracy, .75, c.accuracy-.75, c.deviation
		v := Contest{Count: 2, Meaning: Penalties, Against: "λ = 0", Constant: 0, Gains: []Gain{g}}.Verdict()
		if strings.Join(v.Notes, "") != c.want {
			t.Errorf("loss %g, accuracy %g ± %g: notes %q, want %q", c.loss, c.accuracy, c.deviation, v.Notes, c.want)
		}
	}
}

// TestHeldOutDisagrees: held-out examples that promise what test examples deny give no note: it is
// of those that hyperparameters were tuned by.
func TestHeldOutDisagrees(t *testing.T) {
	for _, sets := range [][2]string{{Test, HeldOut}, {HeldOut, Validation}} {
		v := Contest{Count: 2, Meaning: Penalties, Against: "λ = 0", Constant: 0,
			Gains: []Gain{gain(sets[0], .5, .6, .02), gain(sets[1], .5, .4, .01)}}.Verdict()
		if len(v.Notes) != 0 {
			t.Errorf("%s: notes %q", sets, v.Notes)
		}
	}
}

// TestNothingExpected: where cross-fitted losses outweigh what test examples found, the sentence
// expects nothing of it, with either sign.
func TestNothingExpected(t *testing.T) {
	for _, sign := range []Number{1, -1} {
		v := Contest{Count: 2, Meaning: Penalties, Against: "λ = 0", Constant: 0,
			Gains: []Gain{gain(Test, 1, 1-.1*sign, .04), gain(CrossFitted, 1, 1+.2*sign, .01)}}.Verdict()
		if v.Outcome == Same || v.ExpectedGain*sign >= 0 ||
			!strings.Contains(v.Sentence, ", of which nothing is to be expected on new rows") {
			t.Errorf("%s, %g expected: %s", v.Outcome, v.ExpectedGain, v.Sentence)
		}
	}
}

// TestSimplerNote: it is said where a simpler model does as well as the kept one, or better, by
// test examples, and nothing where it does not.
func TestSimplerNote(t *testing.T) {
	for _, tt := range []struct {
		g    Gain
		want string
	}{
		{gain(Test, .5, .4, .01), ""},
		{gain(Test, .5, .4, Unknown()), ""},
		{gain(HeldOut, .4, .5, .01), ""},
		{gain(Test, .4, .5, .01),
			"A simpler model does better: from linear, λ = -3 to λ tuned the test loss changes by +25.0 % (0.4000 → " +
				"0.5000; difference +0.1000, 95 % interval +0.0802 to +0.1198)."},
		{gain(Test, .5, .501, .01),
			"A simpler model does as well: linear, λ = -3 and λ tuned differ in the test loss by chance or next " +
				"to nothing (0.5000 → 0.5010; difference +0.0010, 95 % interval −0.0188 to +0.0208)."},
	} {
		if got := tt.g.SimplerNote("λ tuned", "linear, λ = -3"); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.g, got, tt.want)
		}
	}
}

// TestByTest: test examples have judged where there are some among the gains, and where there are
// no gains nothing else has.
func TestByTest(t *testing.T) {
	for _, c := range []struct {
		gains []Gain
		want  bool
	}{{nil, true}, {[]Gain{gain(Test, 1, .9, .1), gain(Validation, 1, .9, .1)}, true},
		{[]Gain{gain(HeldOut, 1, .9, .1), gain(Validation, 1, .9, .1)}, false}} {
		if got := (Verdict{Gains: c.gains}).ByTest(); got != c.want {
			t.Errorf("%v: %t, want %t", c.gains, got, c.want)
		}
	}
}
