package runs

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOutcome: a change is one where 0 is outside of its interval of 95 % by Student's
// distribution, and it is more than half a percent, more than another start changes, and of losses
// of which something is left. Every rule is tried on both sides of its number, also below losses of
// 0.
func TestOutcome(t *testing.T) {
	of := func(examples int, change, deviation Number) Gain {
		g := gain(Test, 1, 1+change, deviation)
		g.Examples = examples
		return g
	}
	below := func(g Gain) Gain { // the same change of a loss that is below 0
		g.Loss, g.LossAgainst = g.Loss-2, g.LossAgainst-2
		return g
	}
	spread := func(v Number) Gain { g := of(100, -.1, .01); g.LossSpread = v; return g }
	left := func(loss, start Number) Gain {
		g := gain(Test, loss, loss/2, loss/100)
		g.LossStart = start
		return g
	}
	exact := func(against, loss, spread, start Number) Gain {
		g := gain(Test, against, loss, 0)
		g.LossSpread, g.LossStart = spread, start
		return g
	}
	for name, c := range map[string]struct {
		g    Gain
		want Outcome
	}{
		// the quantiles are 1.9842 of 99 degrees, 2.2622 of 9, 1.9602 of 9999
		"beyond 1.9842 errors":           {of(100, -.0199, .01), Better},
		"within 1.9842 errors":           {of(100, -.0197, .01), Same},
		"worse beyond 1.9842 errors":     {of(100, .0199, .01), Worse},
		"worse within 1.9842 errors":     {of(100, .0197, .01), Same},
		"ten examples, beyond 2.2622":    {of(10, -.0227, .01), Better},
		"ten examples, within 2.2622":    {of(10, -.0225, .01), Same},
		"10000 examples, beyond 1.9602":  {of(10_000, -.01965, .01), Better},
		"10000 examples, within 1.9602":  {of(10_000, -.01955, .01), Same},
		"nine examples":                  {of(9, -.5, .01), Unclear},
		"more than half a percent":       {of(100, -.0051, .001), Better},
		"less than half a percent":       {of(100, -.0049, .001), Same},
		"half a percent of the other's":  {of(100, .00502, .001), Worse}, // of the tuned one's it would be .0050251
		"below 0, better":                {below(of(100, -.0199, .01)), Better},
		"below 0, within":                {below(of(100, -.0197, .01)), Same},
		"below 0, worse":                 {below(of(100, .0199, .01)), Worse},
		"below 0, under half a percent":  {below(of(100, .0049, .001)), Same},
		"from above 0 to below":          {gain(Test, .2, -.2, .1), Better},
		"half a percent":                 {gain(Test, 200, 199, .1), Same}, // which are whole numbers
		"more than another start":        {spread(.099), Better},
		"as much as another start":       {exact(1.5, 1, .5, 0), Same},
		"less than another start":        {spread(.101), Same},
		"something left of the start":    {left(1.01e-4, 1), Better},
		"the least that counts":          {left(1e-4, 1), Better},
		"nothing left of the start":      {left(.99e-4, 1), Same},
		"nothing left, one is 0":         {exact(.99e-4, 0, 0, 1), Same},
		"one below 0, start above":       {exact(-1, .99e-4, 0, 1), Worse},
		"small, below 0, start above":    {left(-.99e-4, 1), Worse},
		"not known how large":            {gain(Test, 1, Unknown(), .1), Unclear},
		"not known how sure":             {gain(Test, 1, .5, Unknown()), Unclear},
		"held-out examples chose":        {gain(HeldOut, 1, .5, .01), Unclear},
		"cross-fitted examples chose":    {gain(CrossFitted, 1, .5, .01), Unclear},
		"validation examples chose":      {gain(Validation, 1, .5, .01), Unclear},
		"validation examples chose, too": {gain(Validation, 1, 1.5, .01), Unclear},
	} {
		if got := c.g.Outcome(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		v := Contest{Count: 2, Meaning: Penalties, Against: "λ = 0", Constant: 0, Gains: []Gain{c.g}}.Verdict()
		if v.Outcome != c.want {
			t.Errorf("%s: the verdict is %s, want %s", name, v.Outcome, c.want)
		}
	}
}

// TestInterval: the interval is of Student's distribution with one degree less than examples, the
// same in the fields of a verdict, and only of test examples.
func TestInterval(t *testing.T) {
	g := gain(Test, 1, .9, .02)
	g.Examples, g.AccuracyChange, g.AccuracyError = 6, .1, .02
	low, high := g.Interval()
	a, b := g.AccuracyInterval()
	for _, c := range [][2]Number{{low, -.1 - .05141163677}, {high, -.1 + .05141163677}, {a, .1 - .05141163677},
		{b, .1 + .05141163677}} {
		if !(math.Abs(float64(c[0]-c[1])) <= 1e-9) { // the digits of the quantile, 2.57058183661
			t.Errorf("%v, want %v", c[0], c[1])
		}
	}
	g.Examples = 50
	low, high = g.Interval()
	v := Contest{Against: "λ = 0", Constant: Unknown(), Gains: []Gain{g, gain(Validation, 1, .9, .02)}}.Verdict()
	if v.Gains[0].LossLow != low || v.Gains[0].LossHigh != high || v.Gains[1].LossLow != 0 {
		t.Errorf("the verdict has %+v", v.Gains)
	}
}

// TestNoGainIsNotBetter simulates 2000 problems each of five kinds in which tuning changes nothing
// but by chance. "Better" is then said of 2.5 % by the interval, less by the half percent; 4 % is
// more than four standard deviations of a share of 2000 away. Differences of heavy tails or of one
// side make intervals too wide on the other.
func TestNoGainIsNotBetter(t *testing.T) {
	const problems = 2000
	random := rand.New(rand.NewPCG(48, 1))
	normal := random.NormFloat64
	heavy := func() float64 { // Student's distribution of 3 degrees
		return normal() / math.Sqrt((math.Pow(normal(), 2)+math.Pow(normal(), 2)+math.Pow(normal(), 2))/3)
	}
	skewed := func() float64 { return 1 - random.ExpFloat64() } // few examples are much better
	for name, c := range map[string]struct {
		examples int
		draw     func() float64
	}{
		"ten": {10, normal}, "forty": {40, normal}, "many": {400, normal}, "heavy tails": {100, heavy},
		"skewed": {300, skewed},
	} {
		better := 0
		for range problems {
			sum, squares := 0.0, 0.0
			for range c.examples {
				d := .1 * c.draw()
				sum, squares = sum+d, squares+d*d
			}
			n := float64(c.examples)
			mean := sum / n
			deviation := math.Sqrt((squares/n - mean*mean) * n / (n - 1) / n)
			g := Gain{Set: Test, Examples: c.examples, Loss: Number(.5 + mean), LossAgainst: .5,
				LossChange: Number(mean), LossError: Number(deviation)}
			if g.Outcome() == Better {
				better++
			}
		}
		if better > problems*4/100 {
			t.Errorf("%s: better in %d of %d problems without a gain", name, better, problems)
		}
	}
}

// TestExpectedGain: the gain to expect weighs the gain on test examples and what other examples
// promise by their errors.
func TestExpectedGain(t *testing.T) {
	test, crossed, tuned := gain(Test, 2, 1.9, .06), gain(CrossFitted, 2, 1.8, .04), gain(Validation, 2, 1.7, .04)
	few := test
	few.Examples = 9
	// cross-fitted .1 ± .02 counts as .088 ± .026, validation .15 ± .02 as .06 ± √(.014² + .05²)
	folds, rows := 1/(.026*.026), 1/(.014*.014+.05*.05)
	withRows := (.05/.0009 + .06*rows) / (1/.0009 + rows)
	// g is right to the round-off of a few numbers
	for name, c := range map[string]struct {
		gains []Gain
		want  float64
	}{
		"test and folds":       {[]Gain{test, crossed}, (.05/.0009 + .088*folds) / (1/.0009 + folds)},
		"folds":                {[]Gain{crossed}, .088},
		"folds, a loss":        {[]Gain{gain(CrossFitted, 2, 2.2, .04)}, -.112},
		"test and validation":  {[]Gain{test, tuned}, withRows},
		"test and others":      {[]Gain{test, gain(HeldOut, 2, 1, .1), tuned}, withRows},
		"test":                 {[]Gain{test}, math.NaN()},
		"folds without chance": {[]Gain{test, gain(CrossFitted, 2, 1.8, 0), tuned}, withRows},
		"no chance":            {[]Gain{gain(Test, 2, 1.9, 0)}, .05},
		"to a loss of 0":       {[]Gain{gain(Test, 2, 0, 0)}, 1},
		"from one below 0":     {[]Gain{gain(Test, -.2, .2, 0)}, math.NaN()},
		"held-out":             {[]Gain{gain(HeldOut, 2, 1.9, .06), crossed}, math.NaN()},
		"validation":           {[]Gain{tuned}, math.NaN()},
		"validation, a loss":   {[]Gain{gain(Test, 2, 2.4, .06), gain(Validation, 2, 2.3, .04)}, math.NaN()},
		"too few":              {[]Gain{few, crossed}, math.NaN()},
		"losses below 0":       {[]Gain{gain(Test, -2, -2.1, .06), crossed}, math.NaN()},
		"to a loss below 0":    {[]Gain{gain(Test, .2, -.2, .06), tuned}, math.NaN()},
		"validation below 0":   {[]Gain{test, gain(Validation, .2, -.2, .06)}, math.NaN()},
		"none":                 {nil, math.NaN()},
		"not known, how sure":  {[]Gain{gain(Test, 2, 1.9, Unknown()), tuned}, math.NaN()},
		"folds, not known how": {[]Gain{test, gain(CrossFitted, 2, 1.8, Unknown())}, math.NaN()},
	} {
		got := float64(expectedGain(c.gains))
		if math.Abs(got-c.want) > 1e-12*math.Abs(c.want) || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if v := (Contest{Head: "A network", Against: "linear", Constant: Unknown(),
		Gains: []Gain{test, crossed}}).Verdict(); v.ExpectedGain != 0 || strings.Contains(v.Sentence, "expected") {
		t.Errorf("of a network %v is expected: %s", v.ExpectedGain, v.Sentence)
	}
}

// TestTexts: numbers of gains are written with the digits that count.
func TestTexts(t *testing.T) {
	number := func(loss, deviation Number) string { return gain(Test, loss, loss, deviation).number("%.*f", loss) }
	for _, c := range [][2]string{
		{percent(9.9), "+990.0 %"}, {percent(10), "+10 times"}, {percent(-.0004), "0.0 %"},
		{number(100, 0), "100.00"}, {number(99, 0), "99.0000"}, {number(.01, 0), "0.0100"},
		{number(.009, 0), "0.009000"},
		{number(1, .001), "1.0000"}, {number(1, .0001), "1.00000"}, {number(1e-14, 0), "0.000000000000"},
		{number(1, Number(math.Inf(1))), "1.0000"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
		}
	}
	for _, c := range []struct{ against, loss, want Number }{{2, 1, -.5}, {2, 0, -1}, {0, .1, Unknown()},
		{2, -.1, Unknown()}, {-1, 1, Unknown()}} {
		if got := gain(Test, c.against, c.loss, .1).Share(); got != c.want && (got.Known() || c.want.Known()) {
			t.Errorf("from %g to %g the share is %g, want %g", c.against, c.loss, got, c.want)
		}
	}
	if KeptShare(4) != .5 {
		t.Errorf("of a gain %g remains with four times as many rows", KeptShare(4))
	}
}
