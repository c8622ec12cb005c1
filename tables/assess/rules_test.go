package assess

import (
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/num"
)

// TestLeaveOneOut: the error of a measure's logarithm follows from what it is without each row, and
// an interval reaches by Student's quantile, times 1 + 1/√n.
func TestLeaveOneOut(t *testing.T) {
	const n = 12
	r := rand.New(rand.NewPCG(5, 5))
	var predicted, truth [n]float64
	for e := range n {
		truth[e] = float64(r.IntN(6))
		predicted[e] = .5 + truth[e]/2 + r.Float64()
	}
	for name, of := range map[string]func(without int) Interval{
		"RMSE": func(without int) Interval { return residualsWithout(predicted[:], truth[:], without).RMSE() },
		"MAE":  func(without int) Interval { return residualsWithout(predicted[:], truth[:], without).MAE() },
		"R²": func(without int) Interval {
			return residualsWithout(predicted[:], truth[:], without).Explained()
		},
		"MAE of counts": func(without int) Interval { return countsWithout(predicted[:], truth[:], without).MAE() },
		"squares of counts": func(without int) Interval { // whose root has an interval with many rows alone
			c := countsWithout(predicted[:], truth[:], without)
			return c.around(c.sums()[3]/c.examples(), ofSquare, c.examples())
		},
		"deviance": func(without int) Interval {
			return countsWithout(predicted[:], truth[:], without).Deviance()
		},
		"deviance explained": func(without int) Interval {
			return countsWithout(predicted[:], truth[:], without).Explained()
		},
	} {
		log := func(i Interval) float64 { // of what is symmetric
			switch name {
			case "R²":
				return math.Log(1 - i.Value)
			case "deviance explained":
				return math.Log(1 - i.Value)
			}
			return math.Log(i.Value)
		}
		var sum, squares float64
		for e := range n {
			l := log(of(e))
			sum, squares = sum+l, squares+l*l
		}
		reach := num.StudentQuantile(.975, n-1) * math.Sqrt((n-1.)/n*(squares-sum*sum/n)) * (1 + 1/math.Sqrt(n))
		whole := of(-1)
		got := log(whole) - log(Interval{Value: whole.Low})
		if name == "R²" || name == "deviance explained" {
			got = -got
		}
		// all rows have one mean count, the rest without a row another one
		tol := 1e-9
		if name == "deviance explained" {
			tol = .1
		}
		if !(math.Abs(got/reach-1) <= tol) {
			t.Errorf("%s: the interval %+v reaches by %g, want %g", name, whole, got, reach)
		}
	}
	if got := [2]float64{without(0, 0), without(3, 3)}; got != [2]float64{0, num.Log(1e-300)} {
		t.Errorf("without a part of nothing, and without all: %v", got)
	}
}

func residualsWithout(predicted, truth []float64, without int) *Residuals {
	r := NewResiduals(2, 1.5)
	for pass := range 2 {
		for e, p := range predicted {
			if e != without {
				[]func(_, _, _ float64){r.Add, r.AddError}[pass](p, truth[e], 1)
			}
		}
	}
	return r
}

func countsWithout(predicted, truth []float64, without int) *Counts {
	c := NewCounts(2)
	for pass := range 2 {
		for e, p := range predicted {
			if e != without {
				[]func(_, _, _ float64){c.Add, c.AddError}[pass](p, truth[e], 1)
			}
		}
	}
	return c
}

// TestRareKinds: with nine examples of a class, or of others, and with one, the measures that stand
// on them have no interval; with ten they have. Without examples nothing is known.
func TestRareKinds(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, n := range [][2]int{{9, 40}, {40, 9}, {10, 40}, {40, 10}, {1, 29}, {29, 1}} {
		c := NewClasses(2)
		for pass := range 2 {
			for class, count := range n {
				for range count {
					p := .2 + .6*r.Float64()
					[]func([]float64, int, float64){c.Add, c.AddError}[pass]([]float64{1 - p, p}, class, 1)
				}
			}
		}
		for name, i := range map[string]Interval{"area": c.AUC(1), "precision": c.AveragePrecision(1),
			"Brier": c.Brier()} {
			if known := i.Low == i.Low && i.High == i.High; known != (min(n[0], n[1]) == 10) || !(i.Value > 0) {
				t.Errorf("%v examples: %s %+v", n, name, i)
			}
		}
	}
	if i := NewClasses(2).Accuracy(); i.Value == i.Value || i.Low == i.Low || i.High == i.High {
		t.Errorf("accuracy of no examples: %+v", i)
	}
}

// TestSquaresOfCounts: 399 counts have no interval of RMSE, 400 have.
func TestSquaresOfCounts(t *testing.T) {
	c := NewCounts(2)
	for e := range 400 {
		if i := c.RMSE(); i.Low == i.Low {
			t.Fatalf("%d counts: %+v", e, i)
		}
		c.Add(2, float64(e%5), 1)
	}
	for e := range 400 {
		c.AddError(2, float64(e%5), 1)
	}
	if i := c.RMSE(); !(i.Low < i.Value && i.Value < i.High) {
		t.Errorf("400 counts: %+v", i)
	}
}

// TestHeavyTailed: of n residuals of which a hundred are ±1 and the others 0 the kurtosis is n/100.
// Those that trained the model count as well.
func TestHeavyTailed(t *testing.T) {
	for n, want := range map[int]bool{399: false, 401: true} {
		r, c := NewResiduals(5, 1), NewCounts(5)
		residual := func(e int) float64 {
			if e < 100 {
				return float64(1 - 2*(e%2))
			}
			return 0
		}
		for e := 50; e < 60; e++ { // some test the model
			r.Add(5, 5+residual(e), 1)
			c.Add(5, 5+residual(e), 1)
		}
		for e := range n {
			if e >= 50 && e < 60 {
				r.AddError(5, 5+residual(e), 1)
				c.AddError(5, 5+residual(e), 1)
			} else {
				r.AddTrained(5, 5+residual(e), 1)
				c.AddTrained(5, 5+residual(e), 1)
			}
		}
		if r.HeavyTailed() != want || c.HeavyTailed() != want {
			t.Errorf("kurtosis %g: heavy tails of numbers %t, of counts %t", float64(n)/100, r.HeavyTailed(),
				c.HeavyTailed())
		}
	}
}

// TestAreaEnds: the area is how often a pair of examples is in the right order. At the ends of its
// interval the measured one is as far as Student's quantile of the rarer kind times the larger of
// two errors: DeLong's, from all pairs, and Newcombe's.
func TestAreaEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, spread := range []float64{.3, 3} { // where Newcombe's is larger, and DeLong's
		var p [2][]float64 // in the middles of bins
		c := NewClasses(2)
		for class, n := range []int{40, 15} {
			for range n {
				z := r.NormFloat64()
				if class == 1 {
					z = 1 + spread*z
				}
				v := probabilityAt(math.Floor(bins/(1+math.Exp(-z))) + .5)
				p[class] = append(p[class], v)
				c.Add([]float64{1 - v, v}, class, 1)
			}
		}
		order := func(own, other float64) float64 {
			switch {
			case own > other:
				return 1
			case own == other:
				return .5
			}
			return 0
		}
		variance, area := 0., 0.
		for class := range 2 {
			var sum, squares float64
			for _, v := range p[class] {
				s := 0.
				for _, w := range p[1-class] {
					if class == 1 {
						s += order(v, w)
					} else {
						s += order(w, v)
					}
				}
				s /= float64(len(p[1-class]))
				sum, squares = sum+s, squares+s*s
			}
			n := float64(len(p[class]))
			variance, area = variance+(squares/n-sum*sum/n/n)/(n-1), sum/n
		}
		i := c.AUC(1)
		if other := c.AUC(0); !(math.Abs(i.Value-area)+math.Abs(other.Value-area) <= 1e-12) {
			t.Errorf("areas %g and %g, of pairs %g", i.Value, other.Value, area)
		}
		for _, end := range []float64{i.Low, i.High} {
			const m, n = 15., 40.
			newcombe := end * (1 - end) / (m * n) *
				(1 + ((m+n)/2-1)*(1-end)/(2-end) + ((m+n)/2-1)*end/(1+end))
			deLong := variance * end * (1 - end) / (i.Value * (1 - i.Value))
			want := num.StudentQuantile(.975, 14) * math.Sqrt(max(newcombe, deLong))
			if !(math.Abs(math.Abs(end-i.Value)/want-1) <= 1e-9) {
				t.Errorf("spread %g: %+v is %g from its end, want %g", spread, i, math.Abs(end-i.Value), want)
			}
		}
	}
}

// TestShare compares with intervals that Newcombe (1998) gives for method 4, to four digits.
func TestShare(t *testing.T) {
	for _, c := range []struct{ k, n, low, high float64 }{
		{81, 263, .2535, .3682}, {15, 148, .0598, .1644}, {0, 20, 0, .2005}, {1, 29, .0018, .1963}, {29, 29, .8544, 1},
	} {
		i := share(c.k, c.n)
		if !(math.Abs(i.Low-c.low) <= 6e-5) || !(math.Abs(i.High-c.high) <= 6e-5) {
			t.Errorf("%g of %g: %+v, want %g to %g", c.k, c.n, i, c.low, c.high)
		}
	}
}

// TestNothingToExplain: of targets that are all alike there is no share to explain; however little
// they differ, there is.
func TestNothingToExplain(t *testing.T) {
	for apart, known := range map[float64]bool{0: false, .01: true} {
		r, c := NewResiduals(3, 1), NewCounts(3)
		for e := range 40 {
			target := 3 + apart*float64(e%2)
			r.Add(3.5, target, 1)
			c.Add(3, 3+10*apart*float64(e%2), 1)
		}
		for name, i := range map[string]Interval{"R²": r.Explained(), "deviance explained": c.Explained()} {
			if (i.Value == i.Value) != known {
				t.Errorf("targets %g apart: %s %+v", apart, name, i)
			}
		}
	}
}

// TestEndThresholds: where no one is worth an alarm the last edge takes none, where every miss is
// worth all alarms the first takes all.
func TestEndThresholds(t *testing.T) {
	c := NewClasses(2)
	c.Add([]float64{0, 1}, 0, 9)
	c.Add([]float64{0, 1}, 1, 1)
	if at := c.Threshold(1, .5); at != 1 {
		t.Errorf("nine alarms for one: threshold %g", at)
	}
	if at := c.Threshold(1, 1e6); !(at <= 1.01/bins) {
		t.Errorf("a miss costs a million: threshold %g", at)
	}
}

// TestWholePrecision: an average precision of 1 by ten examples of a class has the low end of one
// that is half an example below 1, by the binomial error there.
func TestWholePrecision(t *testing.T) {
	c := NewClasses(2)
	for pass := range 2 {
		for e := range 20 {
			p := .01 + .9*float64(e/10)
			[]func([]float64, int, float64){c.Add, c.AddError}[pass]([]float64{1 - p, p}, e/10, 1)
		}
	}
	const below = 1 - 1./20
	reach := num.StudentQuantile(.975, 9) / math.Sqrt(10*below*(1-below))
	want := 1 / (1 + math.Exp(reach-math.Log(below/(1-below))))
	if i := c.AveragePrecision(1); i.Value != 1 || i.High != 1 || !(math.Abs(i.Low-want) <= 1e-9) {
		t.Errorf("%+v, want its low end at %g", i, want)
	}
}

// TestFarthest: residuals and numbers further than a million deviations off, either way, count as a
// million, so that sums of all sites stay finite; nearer ones as they are.
func TestFarthest(t *testing.T) {
	for off, want := range map[float64]float64{.9e6: .9e6, 2e6: 1e6, -.9e6: -.9e6, -2e6: -1e6, 1e300: 1e6,
		math.Inf(-1): -1e6} { // in deviations
		r := NewResiduals(5, 2)
		r.Add(5, 5+2*off, 3)
		if got := r.MAE().Value; got != 2*math.Abs(want) || r.RMSE().Value != got || r.sums()[sumT] != 3*want {
			t.Errorf("%g deviations off: MAE %g, RMSE %g, numbers %g", off, got, r.RMSE().Value, r.sums()[sumT])
		}
		// an error of the prediction has the other sign
		r = NewResiduals(5, 2)
		r.Add(5+2*off, 5, 1)
		if _, mean, _ := r.ByPrediction(); mean[0] != -2*want {
			t.Errorf("a prediction %g deviations off: the residual is %g", off, mean[0])
		}
	}
}
