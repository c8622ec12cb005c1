package experiment

import (
	"math"
	"testing"
	"time"

	"dsbo/algo"
	"dsbo/internal/testkit"
)

// TestPace: from a third of a run on the time left that is shown is right within a factor of 1.5,
// whatever takes most of it, and though the models are one more than planned; but for the last
// of them.
func TestPace(t *testing.T) {
	for name, tt := range map[string]struct {
		first, iteration, evaluation, solution float64 // seconds
		solutions                              int
	}{
		"iterations":              {4, 1, 0.2, 0.3, 6},
		"evaluations":             {0.5, 0.1, 3, 3, 6},
		"models":                  {0.5, 0.1, 2, 2.2, 7},
		"no evaluation":           {4, 1, 0.001, 0.001, 2},
		"all alike":               {1, 1, 1, 1.3, 5},
		"a first one of ten":      {10, 1, 0.5, 0.5, 6},
		"solutions that are slow": {2, 1, 0.5, 0.6, 7},
	} {
		clock := time.Unix(0, 0)
		type shown struct {
			at       time.Time
			progress Progress
		}
		var all []shown
		p := &pace{now: func() time.Time { return clock }}
		const K, every = 20, 2
		p.plan(iterating, 3*tt.first/tt.iteration+3*(K-1)) // by the method's cost
		p.plan(evaluating, K/every+1)
		p.plan(modelling, 6)
		p.begin()
		do := func(w work, units, seconds float64) {
			clock = clock.Add(time.Duration(seconds * float64(time.Second)))
			p.step(w, units)
			all = append(all, shown{clock, p.progress("iteration", 0, K)})
		}
		do(evaluating, 1, tt.evaluation)
		for k := range K {
			if k == 0 {
				do(iterating, 3*tt.first/tt.iteration, tt.first)
			} else {
				do(iterating, 3, tt.iteration*[]float64{0.8, 1.2}[k%2])
			}
			if (k+1)%every == 0 {
				do(evaluating, 1, tt.evaluation)
			}
		}
		for i := range tt.solutions {
			p.plan(modelling, float64(max(6, min(i+2, tt.solutions)))) // as the walk along the
			// constants continues
			do(modelling, 1, tt.solution)
		}
		start, whole, before := time.Unix(0, 0), clock.Sub(time.Unix(0, 0)), 0.0
		for _, s := range all {
			if s.progress.Share < before || s.progress.Share > 1 {
				t.Errorf("%s: the share falls from %g to %g", name, before, s.progress.Share)
			}
			before = s.progress.Share
			left := (whole - s.at.Sub(start)).Seconds()
			if got := s.progress.Remaining.Seconds(); s.at.Sub(start) > whole/3 && left > 0.15*whole.Seconds() &&
				(got < left/1.5 || got > left*1.5) {
				t.Errorf("%s: after %v of %v the time left is said to be %.1f s", name, s.at.Sub(start), whole, got)
			}
		}
	}
}

// TestRates: a unit of a kind takes as long as it has taken so far, or, where the kind has not
// begun, as a unit of the nearest kind that has: an exact solution is 75 units of an iteration.
func TestRates(t *testing.T) {
	for timed, want := range map[work][workKinds]float64{iterating: {2, 150, 150}, evaluating: {2. / 75, 2, 2},
		modelling: {2. / 75, 2, 2}} {
		clock := time.Unix(0, 0)
		p := &pace{now: func() time.Time { return clock }}
		p.begin()
		clock = clock.Add(6 * time.Second)
		p.step(timed, 3)
		for w := range workKinds {
			if got, known := p.rate(w); !known || !(math.Abs(got-want[w]) <= 1e-15) {
				t.Errorf("3 units of kind %d took 6 s: one of kind %d takes %g, want %g", timed, w, got, want[w])
			}
		}
		if got := p.progress("", 0, 0); got.Share != 1 || got.Remaining != 0 {
			t.Errorf("more units than planned: %+v", got)
		}
	}
}

// TestProgressText: before anything is timed there is no time left to show.
func TestProgressText(t *testing.T) {
	for want, p := range map[string]Progress{
		"iteration 0 of 20":              {"iteration", 0, 20, 0, -1},
		"iteration 12 of 20, 1m10s left": {"iteration", 12, 20, 0.5, 70*time.Second + 300*time.Millisecond},
		"model of λ = 0, 0s left":        {"model of λ = 0", 0, 0, 0.99, 0},
		"iteration 3 of 900, 12h31m0s left": {"iteration", 3, 900, 0.01,
			12*time.Hour + 31*time.Minute + 29*time.Second},
	} {
		if got := p.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	fresh := &pace{now: time.Now}
	fresh.plan(iterating, 5)
	if p := fresh.progress("iteration", 0, 5); p.Remaining >= 0 || p.Share != 0 {
		t.Errorf("%+v, want an unknown time left", p)
	}
	// A resumed run has done a part of the work without having timed it.
	clock := time.Unix(0, 0)
	resumed := &pace{now: func() time.Time { return clock }}
	resumed.plan(iterating, 10)
	resumed.skip(iterating, 8)
	resumed.begin()
	clock = clock.Add(3 * time.Second)
	resumed.step(iterating, 1)
	if p := resumed.progress("iteration", 9, 10); p.Remaining != 3*time.Second || p.Share != 0.9 {
		t.Errorf("%+v, want 3 s left and a share of 0.9", p)
	}
	// A first step shorter than the clock shows leaves the share as it is, and a short one counts.
	for took, want := range map[time.Duration]float64{0: 0, 500 * time.Millisecond: 0.1} {
		quick := &pace{now: func() time.Time { return clock }}
		quick.plan(iterating, 10)
		quick.begin()
		clock = clock.Add(took)
		quick.step(iterating, 1)
		if p := quick.progress("iteration", 1, 10); p.Share != want || p.Remaining != 9*took {
			t.Errorf("after a step of %v %+v, want a share of %g and %v left", took, p, want, 9*took)
		}
	}
}

// TestPlannedIterations: the work of a run's iterations is the sum of what the method says, and
// known at once of however many.
func TestPlannedIterations(t *testing.T) {
	for _, m := range []algo.Method{testkit.Get(algo.New("dsoba")), testkit.Get(algo.New("madsbo"))} {
		testkit.OK(m.Init(1, 1, 1<<40))
		sum := 0.0
		for k := range 300 {
			sum += iterationWork(m, k)
		}
		if got := plannedIterations(m, 300); got != sum {
			t.Errorf("%T: the work of 300 iterations is %g, want %g", m, got, sum)
		}
		each := sum / 300 // the first ones may do more, once
		if got := plannedIterations(m, 1<<40) / (1 << 40); !(math.Abs(got-each) <= 0.1*each) {
			t.Errorf("%T: the work of an iteration is %g, want about %g", m, got, each)
		}
	}
}
