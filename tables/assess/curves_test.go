package assess

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/num"
)

// scored are rows with probabilities of class 1, in the middles of bins, by which a naive program
// finds what Classes finds by counts.
type scored struct {
	p   []float64
	own []bool
}

// scores draws rows whose probabilities have ties, some of class 1.
func scores(r *rand.Rand, own, others int) (s scored) {
	for k := range own + others {
		is, z := k < own, r.NormFloat64()
		if is {
			z += 1.5
		}
		s.p = append(s.p, probabilityAt(math.Floor(25/(1+math.Exp(-z)))*bins/25+.5))
		s.own = append(s.own, is)
	}
	return s
}

// classes counts the rows.
func (s scored) classes() *Classes {
	c := NewClasses(2)
	for k, p := range s.p {
		class := 0
		if s.own[k] {
			class = 1
		}
		c.Add([]float64{1 - p, p}, class, 1)
	}
	return c
}

// taken returns how many rows of class 1, and of others, have at least a probability.
func (s scored) taken(least float64) (own, others float64) {
	for k, p := range s.p {
		if p >= least && s.own[k] {
			own++
		} else if p >= least {
			others++
		}
	}
	return own, others
}

// thresholds are the probabilities, each once, the largest first.
func (s scored) thresholds() []float64 {
	all := slices.Compact(slices.Sorted(slices.Values(s.p)))
	slices.Reverse(all)
	return all
}

// precision is the average precision, row by row of class 1.
func (s scored) precision() (mean float64) {
	m, _ := s.taken(0)
	for k, p := range s.p {
		if own, others := s.taken(p); s.own[k] {
			mean += own / (own + others) / m
		}
	}
	return mean
}

// without returns the rows without one.
func (s scored) without(k int) scored {
	return scored{slices.Delete(slices.Clone(s.p), k, k+1), slices.Delete(slices.Clone(s.own), k, k+1)}
}

// TestCurves: the ROC curve has a point for each probability that rows have, the calibration groups
// of rows with ascending probabilities, and a threshold takes the rows from it on.
func TestCurves(t *testing.T) {
	s := scores(rand.New(rand.NewPCG(4, 4)), 30, 50)
	c := s.classes()
	wrong, right := c.ROC(1)
	all := s.thresholds()
	if len(wrong) != 1+len(all) || len(right) != len(wrong) || wrong[0] != 0 || right[0] != 0 {
		t.Fatalf("%d and %d points from (%g, %g), want %d", len(wrong), len(right), wrong[0], right[0], 1+len(all))
	}
	for k, p := range all {
		own, others := s.taken(p)
		if !(math.Abs(wrong[k+1]-others/50) <= 1e-15) || !(math.Abs(right[k+1]-own/30) <= 1e-15) {
			t.Errorf("point %d is (%g, %g), want (%g, %g)", k+1, wrong[k+1], right[k+1], others/50, own/30)
		}
		if a, b := c.At(1, probabilityAt(placeOf(p)-.5)); a != own || b != others {
			t.Errorf("from %g on %g and %g are taken, want %g and %g", p, a, b, own, others)
		}
	}
	for _, at := range []float64{1, 1.5} {
		if a, b := c.At(1, at); a != 0 || b != 0 {
			t.Errorf("from %g on %g and %g are taken", at, a, b)
		}
	}
	if a, b := c.At(1, -1); a != 30 || b != 50 {
		t.Errorf("from -1 on %g and %g are taken", a, b)
	}
	predicted, observed := c.Calibration(1, 4)
	slices.Reverse(all)
	var count, sum, hits float64
	group := 0
	for k, p := range all {
		for row, q := range s.p {
			if q == p {
				if count, sum = count+1, sum+p; s.own[row] {
					hits++
				}
			}
		}
		if count < 80/4 && k+1 < len(all) {
			continue
		}
		if group >= len(predicted) || !(math.Abs(predicted[group]-sum/count) <= 1e-12) ||
			!(math.Abs(observed[group]-hits/count) <= 1e-12) {
			t.Errorf("group %d of %v and %v must have %g and %g", group, predicted, observed, sum/count, hits/count)
		}
		count, sum, hits, group = 0, 0, 0, group+1
	}
	if group != len(predicted) || group < 3 || len(observed) != group {
		t.Errorf("%d and %d groups, want %d", len(predicted), len(observed), group)
	}
}

// TestLastGroup: a group of calibration closes where it has as many rows as fall to it, and the
// last one has what is left.
func TestLastGroup(t *testing.T) {
	c := NewClasses(2)
	for k, n := range []float64{3, 2, 4, 1} { // of 10 rows in two groups: 3 + 2, and 4 + 1
		p := probabilityAt(float64(20*k) + .5)
		c.Add([]float64{1 - p, p}, k%2, n)
	}
	predicted, observed := c.Calibration(1, 2)
	at := probabilityAt
	for k, want := range []float64{(3*at(.5) + 2*at(20.5)) / 5, (4*at(40.5) + at(60.5)) / 5} {
		if len(predicted) != 2 || !(math.Abs(predicted[k]-want) <= 1e-15) {
			t.Fatalf("groups with means %v, want %g", predicted, want)
		}
	}
	if !slices.Equal(observed, []float64{.4, .2}) {
		t.Errorf("shares %v", observed)
	}
	if predicted, _ := c.Calibration(1, 3); len(predicted) != 3 { // 3 + 2, 4, and 1 is left, of 3.3 each
		t.Errorf("groups with means %v", predicted)
	}
}

// TestKindsAreMissing: without rows of either kind nothing is measured; areas of 0 and of 1 have
// ends where there are ten of each.
func TestKindsAreMissing(t *testing.T) {
	for class := range 2 {
		c := NewClasses(2)
		c.Add([]float64{.3, .7}, class, 20)
		if wrong, right := c.ROC(1); wrong != nil || right != nil {
			t.Errorf("class %d alone has a curve %v, %v", class, wrong, right)
		}
		for _, i := range []Interval{c.AUC(1), c.AveragePrecision(1)} {
			if !math.IsNaN(i.Value) || !math.IsNaN(i.Low) {
				t.Errorf("class %d alone has %+v", class, i)
			}
		}
		c.Add([]float64{.6, .4}, 1-class, 20)
		i := c.AUC(1) // Newcombe's error alone
		end := i.Low
		if class == 0 {
			end = i.High
		}
		q := (20 - 1) * ((1-end)/(2-end) + end/(1+end))
		want := num.StudentQuantile(.975, 19) * math.Sqrt(end*(1-end)*(1+q)/400)
		if i.Value != float64(class) || !(math.Abs(math.Abs(end-i.Value)-want) <= 1e-9) {
			t.Errorf("an area of %d: %+v, want its end %g away", class, i, want)
		}
	}
}

// TestAveragePrecision: the average precision and its interval are what leaving out each row once
// gives, in log-odds, or the binomial error where that is larger; it has no ends with fewer than
// ten of a kind, and reaches 1 where it is next to 1.
func TestAveragePrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range [][2]int{{30, 50}, {12, 200}, {9, 50}, {50, 9}} {
		s := scores(r, n[0], n[1])
		m, all := float64(n[0]), float64(n[0]+n[1])
		got, area := s.classes().AveragePrecision(1), s.precision()
		logOdds := func(p float64) float64 { p = min(p, 1-1/(2*m)); return math.Log(p / (1 - p)) }
		var sum, squares float64
		for k := range s.p {
			d := logOdds(s.without(k).precision()) - logOdds(area)
			sum, squares = sum+d, squares+d*d
		}
		e := (1 + 1/math.Sqrt(all)) * math.Sqrt((all-1)/all*(squares-sum*sum/all))
		e = num.StudentQuantile(.975, n[0]-1) * max(e, 1/math.Sqrt(m*area*(1-area)))
		low, high := area/(1-area)*math.Exp(-e), area/(1-area)*math.Exp(e)
		want := Interval{area, low / (1 + low), high / (1 + high)}.ifEnough(m, float64(n[1]))
		for k, v := range [][2]float64{{got.Value, want.Value}, {got.Low, want.Low}, {got.High, want.High}} {
			if math.IsNaN(v[0]) != math.IsNaN(v[1]) || math.Abs(v[0]-v[1]) > 1e-9 {
				t.Errorf("%v rows, number %d: %+v, want %+v", n, k, got, want)
			}
		}
	}
	for _, c := range []struct {
		above int // others that are above the 20 of the class
		whole bool
	}{{0, true}, {1, false}} {
		classes := NewClasses(2)
		classes.Add([]float64{.2, .8}, 1, 20)
		classes.Add([]float64{.6, .4}, 0, 40)
		classes.Add([]float64{.1, .9}, 0, float64(c.above))
		i, p := classes.AveragePrecision(1), 20/(20+float64(c.above))
		if i.Value != p || (i.High == 1) != c.whole || !(i.Low > .5) {
			t.Errorf("%d above: %+v", c.above, i)
		}
	}
	one := NewClasses(2) // the only row of a class is not left out
	one.Add([]float64{.2, .8}, 1, 1)
	one.Add([]float64{.6, .4}, 0, 20)
	if i := one.AveragePrecision(1); i.Value != 1 || !math.IsNaN(i.Low) {
		t.Errorf("of one row %+v", i)
	}
}

// TestPrecisionEnds: the ends contain the average precision of the rows themselves, of weights too,
// and are apart where probabilities are nearly alike.
func TestPrecisionEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, spread := range []float64{.05, 1.5} {
		for range 20 {
			c, rows := NewClasses(2), make([][3]float64, 60) // the probability, whether of the class, the weight
			for k := range rows {
				p := 1 / (1 + math.Exp(-spread*r.NormFloat64()))
				rows[k] = [3]float64{p, float64(min(1, k%3)), math.Exp(.5 * r.NormFloat64())}
				c.Add([]float64{1 - p, p}, min(1, k%3), rows[k][2])
			}
			slices.SortFunc(rows, func(a, b [3]float64) int { return cmp.Compare(b[0], a[0]) })
			var area, found, taken float64
			for _, row := range rows {
				found, taken = found+row[1]*row[2], taken+row[2]
				area += row[1] * row[2] * found / taken
			}
			area /= found
			low, high := c.PrecisionEnds(1)
			if !(low <= area+.01 && area-.01 <= high) || (high-low > .03) != (spread < 1) {
				t.Errorf("spread %g: from %g to %g, of rows %g", spread, low, high, area)
			}
		}
	}
}

// TestPrecisionOfEqual: rows of one probability all have the precision of the last, which is above
// each order's mean.
func TestPrecisionOfEqual(t *testing.T) {
	c := NewClasses(2)
	for range 10 {
		c.Add([]float64{.2, .8}, 0, 1)
		c.Add([]float64{.7, .3}, 1, 1)
	}
	if low, high := c.PrecisionEnds(1); !(low < .4) || math.Abs(high-.5) > 1e-12 {
		t.Errorf("from %g to %g: ten behind ten others have 10/20 where they are equal", low, high)
	}
}

// TestOfThree: the likeliest class, of equal ones the first, and what follows from the counts.
func TestOfThree(t *testing.T) {
	c := NewClasses(3)
	for _, e := range []struct {
		p     []float64
		class int
		rows  float64
	}{{[]float64{.4, .4, .2}, 0, 3}, {[]float64{.1, .2, .7}, 1, 2}, {[]float64{.2, .5, .3}, 1, 4},
		{[]float64{.1, .2, .7}, 2, 1}} {
		c.Add(e.p, e.class, e.rows)
	}
	wantNumbers(t, map[string][2]float64{
		"accuracy": {c.Accuracy().Value, .8},
		"recall":   {c.Recall(1).Value, 4. / 6}, "precision": {c.Precision(2).Value, 1. / 3},
		"of the first": {c.Precision(0).Value, 1}, "examples": {c.Examples(), 10},
		"Brier": {c.Brier().Value, (3*(.36+.16+.04) + 2*(.01+.64+.49) + 4*(.04+.25+.09) + .01 + .04 + .09) / 10},
	})
	for p, bin := range map[float64]int{-.1: 0, 0: 0, .5: bins / 2, 1: bins - 1, 1.2: bins - 1, math.NaN(): 0} {
		if got := binOfProbability(p); got != bin {
			t.Errorf("%g is in bin %d", p, got)
		}
	}
}

// TestOneScale: the counts of two classes are one message of at most 1024 numbers, which share one
// scale. Of more, a block of zeros would have its own and show that a site has no row of a class.
func TestOneScale(t *testing.T) {
	if n := len(NewClasses(2).Numbers()); n != 1005 {
		t.Errorf("two classes have %d counts", n)
	}
}

// TestBoundedCounts: predictions of counts are between a millionth of the mean and a million times
// the mean, in all sums; deviances are of these, and of counts of 0 twice the mean.
func TestBoundedCounts(t *testing.T) {
	for predicted, want := range map[float64]float64{3: 3, 1.9e6: 1.9e6, 2.1e6: 2e6, 1e300: 2e6, 2.1e-6: 2.1e-6,
		1.9e-6: 2e-6, 1e-300: 2e-6} {
		for truth, deviance := range map[float64]float64{0: 2 * want, 4: 2 * (4*math.Log(4/want) - 4 + want)} {
			c, e := NewCounts(2), math.Abs(truth-want)
			if c.Add(predicted, truth, 1); !(math.Abs(c.sums()[1]/deviance-1) <= 1e-12) || c.sums()[2] != e ||
				c.sums()[3] != e*e || c.numbers[1]+c.numbers[perCount*(countBins-1)+1] != want && want != 3 {
				t.Errorf("%g is predicted for %g: sums %v, want a deviance of %g", predicted, truth, c.sums(), deviance)
			}
			if c.AddError(predicted, truth, 2); c.tail[0] != 2 || c.tail[1] != 2*e*e || c.tail[2] != 2*e*e*(e*e) {
				t.Errorf("%g is predicted for %g: the tail is %v, want that of %g", predicted, truth, c.tail, e)
			}
			if c.AddTrained(predicted, truth, 1); !(math.Abs(c.tail[1]/(3*e*e)-1) <= 1e-12) {
				t.Errorf("%g was trained for %g: the tail is %v", predicted, truth, c.tail)
			}
		}
	}
	c := NewCounts(2)
	for _, truth := range []float64{0, 2, 0, 6} {
		c.Add(2, truth, 1)
	}
	if got, want := c.ofMean(), 2*(2*math.Log(2)+6*math.Log(6)-8*math.Log(2)); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("the mean count has a deviance of %g, want %g", got, want)
	}
	predicted, truth := c.ByPrediction()
	if !slices.Equal(predicted, []float64{2}) || !slices.Equal(truth, []float64{2}) {
		t.Errorf("predictions %v of counts %v", predicted, truth)
	}
}

// TestReach: an interval reaches by e^100 at most, a measure of 0 has none, and a share is of its
// interval's other end.
func TestReach(t *testing.T) {
	j := jackknife{0, 1e9}
	if i := j.around(2, 0, 30); !(math.Abs(math.Log(i.High/2)-100)+math.Abs(math.Log(2/i.Low)-100) <= 1e-9) {
		t.Errorf("it reaches from %g to %g", i.Low, i.High)
	}
	if i := j.around(0, 0, 30); i.Value != 0 || i.Low == i.Low || i.High == i.High {
		t.Errorf("a measure of 0 has %+v", i)
	}
	j = jackknife{}
	j = append(j, make([]float64, 2)...)
	j.add(0, .1, 2)
	j.add(0, -.1, 1)
	if !(math.Abs(j[0]-.1) <= 1e-15) || !(math.Abs(j[1]-.03) <= 1e-15) {
		t.Errorf("sums of changes %v", j)
	}
	e := (1 + 1/math.Sqrt(30)) * math.Sqrt(29./30*(.03-.01/30)) * num.StudentQuantile(.975, 29)
	i := j.explained(.4, 0, 30)
	for k, d := range []float64{i.Value - .6, i.Low - (1 - .4*math.Exp(e)), i.High - (1 - .4*math.Exp(-e))} {
		if !(math.Abs(d) <= 1e-12) {
			t.Errorf("number %d of %+v is %g off", k, i, d)
		}
	}
	for _, p := range []float64{0, 1} { // no pair, or all, in the right order: their error is not known
		c := new(Concordance)
		c.numbers[0], c.numbers[1] = 400, 400*p
		if i := c.Interval(); i.Value != p || i.Low == i.Low || i.High == i.High {
			t.Errorf("a concordance of %g has %+v", p, i)
		}
	}
}

// TestRareClass: areas and calibrations of a class of one in 500 rows, whose probabilities all are
// small, are what the probabilities themselves give, to a third digit.
func TestRareClass(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var s scored
	mean := 0.
	for range 4000 {
		p := 1 / (1 + math.Exp(6.2-r.NormFloat64()))
		s.p, s.own = append(s.p, p), append(s.own, r.Float64() < p)
		mean += p / 4000
	}
	area, pairs := 0., 0.
	for j, p := range s.p {
		for k, q := range s.p {
			if s.own[j] && !s.own[k] {
				if pairs++; p > q {
					area++
				}
			}
		}
	}
	c := s.classes()
	if got := c.AUC(1).Value; !(math.Abs(got-area/pairs) <= 5e-3) {
		t.Errorf("an area of %g, of pairs %g", got, area/pairs)
	}
	if got := c.AveragePrecision(1).Value; !(math.Abs(got-s.precision()) <= 5e-3) {
		t.Errorf("a mean precision of %g, of rows %g", got, s.precision())
	}
	predicted, _ := c.Calibration(1, 1)
	if len(predicted) != 1 || !(math.Abs(predicted[0]/mean-1) <= 1e-3) {
		t.Errorf("groups with means %v, want %g", predicted, mean)
	}
}
