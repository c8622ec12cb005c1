package candidates

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
)

// TestNetworkRules: a larger network is tried after one that is better by a standard error; folds
// go on until one is worse than the linear model by two; it is kept by one, and half a percent.
func TestNetworkRules(t *testing.T) {
	gain := func(against, change, deviation runs.Number) runs.Gain {
		return runs.Gain{Loss: against + change, LossAgainst: against, LossChange: change, LossError: deviation}
	}
	network := func(loss, deviation runs.Number) *Network {
		return &Network{Structure: runs.Structure{Loss: loss, Error: deviation}}
	}
	for name, c := range map[string]struct{ got, want bool }{
		"an error better":   {network(.5, .5).beats(network(1, .5)), false},
		"an error lower":    {Promises(gain(1, -.5, .5)), false},
		"1.1 errors better": {network(.978, .02).beats(network(1, .5)), true},
		"0.9 errors better": {network(.982, .02).beats(network(1, .5)), false},
		"1.9 errors worse":  {hopes(gain(1, .038, .02)), true},
		"2 errors worse":    {hopes(gain(1, 1, .5)), false},
		"2.1 errors worse":  {hopes(gain(1, .042, .02)), false},
		"lower by 1.1":      {Promises(gain(1, -.022, .02)), true},
		"lower by 0.9":      {Promises(gain(1, -.018, .02)), false},
		"lower by 0.6 %":    {Promises(gain(2, -.012, .001)), true},
		"lower by 0.4 %":    {Promises(gain(2, -.008, .001)), false},
		"below 0, by 0.6 %": {Promises(gain(-2, -.012, .001)), true},
		"below 0, by 0.4 %": {Promises(gain(-2, -.008, .001)), false},
		"higher":            {Promises(gain(1, .5, .02)), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %t", name, c.got)
		}
	}
}

// TestGrow: networks are tried up to one that is not better by an error, and the best is the one of
// the least loss. Each is tried near the strength of a weight that suits the one before, where a
// larger one has more weights.
func TestGrow(t *testing.T) {
	for name, c := range map[string]struct {
		losses      []runs.Number // ± 0.1
		tried, best int
	}{
		"better and better":      {[]runs.Number{3, 2, 1}, 3, 2},
		"hardly better":          {[]runs.Number{3, 2.95, 1}, 2, 1},
		"worse":                  {[]runs.Number{3, 4, 1}, 2, 0},
		"as good":                {[]runs.Number{3, 3, 1}, 2, 0},
		"better and then not so": {[]runs.Number{3, 2, 2.5}, 3, 1},
	} {
		var of []models.MLP
		for k := range c.losses {
			of = append(of, models.MLP{Features: 1, Outputs: 1, Hidden: []int{33 << (7 * k), 1}[:1+k/2]})
		}
		tried, best, err := grow(of, -8, func(one *Network, near float64, larger bool) error {
			k := 0
			for of[k].Hidden[0] != one.Of.Hidden[0] {
				k++
			}
			_, q := one.Of.Dims() // their logarithms are 4.61, 9.45 and 14.30
			want := []float64{-3, 4, 11}[k]
			if one.Strength = near + 2.5; near != want || larger != (k > 0) {
				t.Errorf("%s: network %d, of %d numbers, is tried near %g, larger %t", name, k, q, near, larger)
			}
			one.Loss, one.Error = c.losses[k], .1
			return nil
		})
		testkit.OK(err)
		if len(tried) != c.tried || best != tried[c.best] {
			t.Errorf("%s: %d are tried, the best has loss %g", name, len(tried), best.Loss)
		}
		if got, want := tried[0].Name, "network of 33 hidden units"; got != want {
			t.Errorf("the name is %q, want %q", got, want)
		}
		if got := tried[len(tried)-1].Name; len(tried) == 3 && got != "network of hidden units [540672 1]" {
			t.Errorf("the name is %q", got)
		}
	}
}

// TestConfirm: folds go on as long as there is hope, and the last one decides.
func TestConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		changes []runs.Number // ± 1, after each fold
		judged  int
		better  bool
	}{
		"better":                  {[]runs.Number{-2, 0, 1, -2}, 4, true},
		"hope to the end":         {[]runs.Number{-2, 0, 1, 1.9}, 4, false},
		"none after the second":   {[]runs.Number{-2, 2.1, -9, -9}, 2, false},
		"none, though the better": {[]runs.Number{2.1, -9, -9, -9}, 1, false},
	} {
		judged, best := 1, &Network{Gain: runs.Gain{LossChange: c.changes[0], LossError: 1}}
		better, err := confirm(best, 4, func(k int) error {
			if k != judged {
				t.Errorf("%s: fold %d after %d", name, k, judged)
			}
			judged, best.Gain.LossChange = judged+1, c.changes[k]
			return nil
		})
		if testkit.OK(err); better != c.better || judged != c.judged {
			t.Errorf("%s: better %t after %d folds", name, better, judged)
		}
	}
	few := &Network{Gain: runs.Gain{LossChange: -2, LossError: 1}}
	few.Few = true
	if testkit.Get(confirm(few, 4, func(int) error { return nil })) {
		t.Error("a network is better by a few rows")
	}
}

// TestSearchNetwork: strengths are tried by steps to one side, to the other where nothing is better
// there, up to five and up to one that is better by less than half a percent.
func TestSearchNetwork(t *testing.T) {
	grows := func(by float64) func(a float64) float64 {
		return func(a float64) float64 { return -math.Pow(by, a/2) }
	}
	for name, c := range map[string]struct {
		phi   func(a float64) float64
		steps []float64
		tried string
		best  float64
	}{
		"up":         {func(a float64) float64 { return 5 + math.Abs(a-7) }, []float64{2, -2}, "[3 5 7 9]", 7},
		"down":       {func(a float64) float64 { return 5 + math.Abs(a) }, []float64{2, -2}, "[3 5 1 -1]", 1},
		"up alone":   {func(a float64) float64 { return 5 + math.Abs(a) }, []float64{2}, "[3 5]", 3},
		"to the end": {func(a float64) float64 { return 100 - 2*a }, []float64{2, -2}, "[3 5 7 9 11 13]", 13},
		"by 0.52 %":  {grows(1.0052), []float64{2}, "[3 5 7 9 11 13]", 13},
		"by 0.49 %":  {grows(1.0049), []float64{2, -2}, "[3 5]", 5},
		"of 100, by 0.52 %": {func(a float64) float64 { return 100 * grows(1.0052)(a) }, []float64{2},
			"[3 5 7 9 11 13]", 13},
		"of 100, by 0.49 %": {func(a float64) float64 { return 100 * grows(1.0049)(a) }, []float64{2}, "[3 5]", 5},
		"equal, so far":     {func(float64) float64 { return 1 }, []float64{2, -2}, "[3 5 1]", 3},
	} {
		var tried, starts []float64
		best := testkit.Get(searchNetwork(3, c.steps, func(a float64, start []float64) (*Model, error) {
			tried, starts = append(tried, a), append(starts, start...)
			m := solved(a, c.phi(a), 0, 0, 0)
			m.X, m.Y = []float64{a}, []float64{a}
			return m, nil
		}))
		if fmt.Sprint(tried) != c.tried || best.X[0] != c.best || len(starts) != len(tried)-1 || starts[0] != 3 {
			t.Errorf("%s: tried %v from %v, the best is %g", name, tried, starts, best.X[0])
		}
	}
}

// TestConclude: the loss and the change are means by weights, and their errors are of these means.
func TestConclude(t *testing.T) {
	rows := [][3]float64{{1, 3, -1}, {2, 5, 2}, {.5, 4, -3}} // weights, losses, changes
	one := new(Network)
	for _, r := range rows {
		addRow(one.sums[:], 1, r[0], r[1], r[2])
	}
	one.conclude()
	var want [4]float64
	for k := range 2 {
		squares := 0.0
		for _, r := range rows {
			want[2*k] += r[0] * r[1+k] / 3.5
		}
		for _, r := range rows {
			squares += math.Pow(r[0]*(r[1+k]-want[2*k]), 2)
		}
		want[2*k+1] = math.Sqrt(squares) / 3.5
	}
	squares := 1. + 256 + 1.5*1.5*1.5*1.5 // of u d
	if got := one.sums[9]; !(math.Abs(got-squares) <= 1e-12) {
		t.Errorf("the sum of fourth powers is %g, want %g", got, squares)
	}
	g := one.Gain
	for k, got := range []runs.Number{one.Loss, one.Error, g.LossChange, g.LossError} {
		if !(math.Abs(float64(got)-want[k]) <= 1e-14) {
			t.Errorf("number %d is %g, want %g", k, got, want[k])
		}
	}
	if g.Examples != 3 || g.Loss != one.Loss || g.LossAgainst != g.Loss-g.LossChange || g.Set != runs.CrossFitted {
		t.Errorf("the gain is %+v", g)
	}
}

// TestLeastOf: a network that is kept begins at the model of the fold whose loss is least, of equal
// ones the first; at none where no loss is a number. An error ends the search.
func TestLeastOf(t *testing.T) {
	for _, c := range []struct {
		losses []float64
		want   int // -1: none
	}{
		{[]float64{3, 1, 2}, 1}, {[]float64{1, 2, 3}, 0}, {[]float64{3, 2, 1}, 2}, {[]float64{-1, -1}, 0},
		{[]float64{math.NaN(), 5}, 1}, {[]float64{math.NaN()}, -1}, {nil, -1},
	} {
		var models [][]float64
		for k := range c.losses {
			models = append(models, []float64{float64(k)})
		}
		best := testkit.Get(leastOf(models, func(y []float64) (float64, error) { return c.losses[int(y[0])], nil }))
		if (best == nil) != (c.want < 0) || best != nil && best[0] != float64(c.want) {
			t.Errorf("of losses %v model %v is where it begins, want %d", c.losses, best, c.want)
		}
	}
	wrong := errors.New("wrong")
	if _, err := leastOf(make([][]float64, 2), func([]float64) (float64, error) { return 0, wrong }); err != wrong {
		t.Errorf("error %v", err)
	}
}

// TestOverall: penalties over all rows, or more, sum up to as much as over a part of them.
func TestOverall(t *testing.T) {
	for _, times := range []float64{1, 1.25} {
		part, all := 0.8*math.Exp(-3), times*math.Exp(overall(-3, 0.8, times))
		if !(math.Abs(part-all) <= 1e-15) {
			t.Errorf("%g times as many rows: penalties sum up to %g, over a part to %g", times, all, part)
		}
	}
}

// TestWeightedMean: the error of a mean of rows that weigh unlike is of their weighted distances
// from it.
func TestWeightedMean(t *testing.T) {
	u, losses, agents := []float64{0.5, 0.3, 0.1, 0.1}, []float64{2, 7, -1, 4}, 3.0
	var sums [3]float64
	mean, squares, ofWeights := 0.0, 0.0, 0.0
	for k, l := range losses {
		mean += u[k] * l
		ofWeights += u[k] * u[k]
		for at, v := range []float64{u[k] * l, u[k] * u[k] * l, u[k] * u[k] * l * l} {
			sums[at] += v / agents
		}
	}
	for k, l := range losses {
		squares += math.Pow(u[k]*(l-mean), 2)
	}
	got, deviation := weightedMean(sums[:], agents, 1/ofWeights)
	if want := math.Sqrt(squares); !(math.Abs(got-mean) <= 1e-14) || !(math.Abs(deviation-want) <= 1e-14) {
		t.Errorf("the mean is %g ± %g, want %g ± %g", got, deviation, mean, want)
	}
}

// TestFewDecide: where less than eight rows have the squares of differences, a network is kept if
// its gain is beyond the interval of 95 % of a mean of as many rows.
func TestFewDecide(t *testing.T) {
	for name, c := range map[string]struct {
		few      int     // rows that have all squares
		gain     float64 // in errors
		promises bool
		want     bool
	}{
		"eight rows, 1.1 errors":         {8, 1.1, true, false},
		"seven rows, 1.1 errors":         {7, 1.1, true, true},
		"seven rows, within 2.4469":      {7, 2.44, true, true},
		"seven rows, beyond 2.4469":      {7, 2.46, true, false},
		"three rows, within 4.3027":      {3, 4.29, true, true},
		"three rows, beyond 4.3027":      {3, 4.32, true, false},
		"two rows, within 12.7062":       {2, 12.6, true, true},
		"two rows, beyond 12.7062":       {2, 12.8, true, false},
		"one row alone":                  {1, 1e6, true, true},
		"seven rows, worse beyond that":  {7, -2.46, false, true},
		"eight rows, worse beyond that":  {8, -2.46, false, false},
		"seven rows, better by too few":  {7, 0.5, false, true},
		"no difference, of no row, ever": {0, 0, false, false},
	} {
		one := new(Network)
		one.sums[1], one.sums[4] = 100, 100 // rows of weight 1
		n := float64(c.few)
		squares := (100 + c.gain*c.gain) * math.Min(n, 1) // a change of a tenth of the gain, ± 0.1
		one.sums[3], one.sums[7], one.sums[8] = -10*c.gain, -10*c.gain, squares
		if one.sums[9] = squares * squares / n; n == 0 {
			one.sums[9] = 0
		}
		one.conclude()
		better, err := confirm(one, 1, nil)
		if one.Few != c.want || better != (c.promises && !c.want) || err != nil {
			t.Errorf("%s: few %t, kept %t, %v (%g ± %g)", name, one.Few, better, err, one.Gain.LossChange,
				one.Gain.LossError)
		}
		note := NetworkNote([]*Network{one}, one, better)
		if strings.Contains(note, "a few rows decide") != (c.promises && c.want) ||
			strings.Contains(note, "The network is kept.") != better ||
			strings.Contains(note, "linear model is kept.") == better {
			t.Errorf("%s: %s", name, note)
		}
	}
}
