package exact

import (
	"math"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// one is the group of an agent alone.
var one = network.NewGroup(network.GroupConfig{N: 1})

// near reports whether two numbers are one but for rounding, or both infinite.
func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-12*math.Abs(b) }

// TestDistances: Y is near enough where its squared distance is at most half of the tolerance of
// the lower loss, whatever its sign; a residual of round-off has none.
func TestDistances(t *testing.T) {
	for _, c := range []struct{ lower, tol, sharpness, want float64 }{{4, 1e-4, 1, 2e-4}, {-4, 1e-4, 1, 2e-4},
		{4, 1e-4, .25, .5e-4}, {4, 3e-4, 1, 6e-4}} {
		w := &solve{Solver: new(Solver), tol: c.tol, sharpness: c.sharpness, lower: c.lower}
		if got := w.distanceBound(); !near(got, c.want) {
			t.Errorf("%+v: the bound is %g", c, got)
		}
	}
	w := &solve{Solver: &Solver{memory: linalg.NewMemory(2, 4, .02, 1e-3)}}
	for _, c := range []struct{ left, r, norm, want float64 }{{3, 0, 0, 0}, {3, .9e-15, 1, 0},
		{3, 1.1e-15, 1, math.Inf(1)}, {3, 1.9e-15, 2, 0}} {
		if got := w.distanceLeft(c.left, []float64{c.r, 0}, c.norm); got != c.want {
			t.Errorf("%+v: the distance is %g", c, got)
		}
	}
}

// TestAdjointRule: Z is near enough where the error of Φ is half of the tolerance, or the square of
// its distance twice the tolerance, or GradientTol, of what it was, each by a quarter; by its
// residual where residuals have bounds.
func TestAdjointRule(t *testing.T) {
	for name, c := range map[string]struct {
		tol, gradientTol, upper, distance, gain, all float64
		want                                         float64
	}{
		"by Φ":                  {1e-2, 1, 4, 1e-3, 0, 50, .02 * .02 / 1e-3 / 4},
		"by the gradient":       {1e-2, 0, 4, 1e-6, 1, 2, .02 * 3 / 4},
		"by a bound of its own": {1e-2, 1e-3, 4, 1e-6, 1, 2, 1e-3 * 3 / 4},
		// the distance is a millionth of its bound of 5e-3·8 at least
		"next to the solution": {1e-2, 1e9, 4, 0, 0, 1e9, .02 * .02 / (1e-6 * .04) / 4},
		"below 0":              {1e-2, 1, -9, 1e-3, 0, 50, .045 * .045 / 1e-3 / 4},
	} {
		w := &solve{Solver: &Solver{GradientTol: c.gradientTol, Agents: one}, tol: c.tol, sharpness: 1,
			upper: c.upper, lower: 8, distance: c.distance}
		rule := w.adjointRule(7, c.gain)
		if got := rule.gain(c.all); rule.residual != 0 || !near(got, c.want) {
			t.Errorf("%s: %g may be left, want %g; residual %g", name, got, c.want, rule.residual)
		}
	}
	for tol, want := range map[float64]float64{0: 7e-4, 1e-2: 7e-2} {
		w := &solve{Solver: &Solver{Tol: 1e-3, AdjointTol: tol, Agents: one}}
		if got := w.adjointRule(7, 0); !near(got.residual, want) || got.gain != nil {
			t.Errorf("with a bound %g the residual may be %g, want %g", tol, got.residual, want)
		}
	}
}

// TestAdjointEnds: where z is near enough Φ's error is d D + d² f/g, the latter but at y* itself,
// where g may be 0; without products left it is not solved, and so where y was not.
func TestAdjointEnds(t *testing.T) {
	for name, c := range map[string]struct {
		tol, distance, lower, r float64
		solved, want            bool
		phiError                float64
	}{
		"near":              {0, 2, -4, 0, true, true, 1.5},
		"near, y not":       {0, 2, -4, 0, false, false, 1.5},
		"at the solution":   {0, 0, 0, 0, true, true, 0},
		"far":               {0, 2, -4, 1, true, false, math.Inf(1)},
		"within residual":   {1e-2, 2, -4, .9, true, true, 0},
		"beyond residual":   {1e-2, 2, -4, 1.1, true, false, 0},
		"within, and y not": {1e-2, 2, -4, .9, false, false, 0},
	} {
		w := &solve{Solver: &Solver{Tol: c.tol, AdjointTol: 50 * c.tol, Agents: one,
			memory: linalg.NewMemory(1, 4, .02, 1e-3)}, tol: 1e-4, sharpness: 1, upper: 3, lower: c.lower,
			distance: c.distance}
		w.change, w.Converged = make([]float64, 1), c.solved
		testkit.OK(w.refineAdjoint([]float64{2}, []float64{c.r}, 0))
		if w.Converged != c.want || !near(w.PhiError, c.phiError) || w.AdjointResidual != c.r/2 {
			t.Errorf("%s: converged %t, Φ's error %g, residual %g", name, w.Converged, w.PhiError, w.AdjointResidual)
		}
	}
}

// TestFindDamping: products of damped Hessians are damped by 1.1 times the least eigenvalue at Y,
// −6 at the saddle of wells, by products that count; other matrices are not.
func TestFindDamping(t *testing.T) {
	for _, matrix := range []dsbo.CurvatureMatrix{dsbo.Hessian, dsbo.DampedHessian} {
		s := &Solver{Matrix: matrix, Oracles: []dsbo.ValueOracle{algotest.NewWells(6, 1)}}
		w := testkit.Get(s.newSolve(t.Context(), []float64{0}, nil, nil))
		testkit.OK(w.findDamping())
		damped, mu := matrix == dsbo.DampedHessian, 0.
		if damped {
			mu = s.products.Mu[0]
		}
		if damped != (w.Products > 0) || damped != (mu >= 6.6*.95 && mu <= 6.6*(1+1e-9)) {
			t.Errorf("%v: damped by %g, after %d products", matrix, mu, w.Products)
		}
	}
}

// TestLowerEnds: Newton's steps end near the solution, where the gradient is 0 or at the floor of
// round-off, at the most products, and where the gradient is not finite; not solved where the last
// step met no positive curvature.
func TestLowerEnds(t *testing.T) {
	for name, c := range map[string]struct {
		d               descent
		g, tol          float64
		products        int
		ends, converged bool
	}{
		"far":                           {descent{last: 9}, 5, 0, 0, false, false},
		"at the solution":               {descent{last: 9}, 0, 0, 0, true, true},
		"at the floor":                  {descent{last: 5, atFloor: true}, 5, 0, 0, true, true},
		"still shrinks":                 {descent{last: 5.1, atFloor: true}, 5, 0, 0, false, false},
		"grows far off":                 {descent{last: 3}, 5, 0, 0, false, false},
		"by products":                   {descent{last: 9}, 5, 0, 20, true, false},
		"products are left":             {descent{last: 9}, 5, 0, 19, false, false},
		"not finite":                    {descent{last: 9}, math.NaN(), 0, 0, true, false},
		"infinite":                      {descent{last: 9}, math.Inf(1), 0, 0, true, false},
		"flat":                          {descent{last: 9, flat: true}, 0, 0, 0, false, false},
		"flat, at the floor":            {descent{last: 5, atFloor: true, flat: true}, 5, 0, 0, true, false},
		"within its residual":           {descent{last: 9}, .019, 1e-2, 0, true, true},
		"beyond its residual":           {descent{last: 9}, .021, 1e-2, 0, false, false},
		"at the floor, beyond residual": {descent{last: 5, atFloor: true}, 5, 1e-2, 0, true, false},
		"0, with a residual":            {descent{last: 9}, 0, 1e-300, 0, true, true},
	} {
		w := &solve{Solver: &Solver{Tol: c.tol, g: []float64{c.g, 0}, scale: []float64{2},
			memory: linalg.NewMemory(2, 4, .02, 1e-3)}, tol: 1e-4, sharpness: 1, lower: 1, productLimit: 20}
		w.Products, w.Converged = c.products, true
		if c.d.left = 0; c.g != 0 {
			c.d.left = math.Inf(1)
		}
		d := c.d
		got := w.lowerEnds(&d)
		if got != c.ends || w.Converged != c.converged || d.last != math.Abs(c.g) && c.g == c.g {
			t.Errorf("%s: ends %t, converged %t, the last gradient %g", name, got, w.Converged, d.last)
		}
		if want := c.g / 2; w.Residual != want && want == want {
			t.Errorf("%s: the residual is %g, want %g", name, w.Residual, want)
		}
	}
}

// TestDelay: the last products whose gain counts are four, a quarter, or half but for 16.
func TestDelay(t *testing.T) {
	for asked, want := range map[int]int{1: 4, 16: 4, 20: 5, 64: 16, 80: 24, 200: 84} {
		for _, w := range []*solve{{longest: 1}, {longest: asked}} {
			if got := w.delay(asked); got != want {
				t.Errorf("after %d products %d count, want %d", asked, got, want)
			}
		}
	}
	if got := (&solve{longest: 64}).delay(4); got != 16 {
		t.Errorf("after 4 products, 64 before, %d count", got)
	}
	for wire, want := range map[network.Wire]float64{network.Float64: 0, network.Int8: 1e-3} {
		if got := (&solve{Solver: &Solver{Agents: one}, wire: wire}).leastShare(); got != want {
			t.Errorf("on %v the least share is %g", wire, got)
		}
	}
}

// TestLineSearch: a step that lowers the loss is taken, whole or shortened; none is where the loss
// rises, and the gradient stays the one at Y. After a step that was not whole the next gradient
// waits for the losses.
func TestLineSearch(t *testing.T) {
	for step, want := range map[float64]struct {
		y         float64
		shortened bool
	}{.5: {1.5, false}, -.5: {2, true}, 4: {0, true}, 8: {0, true}} {
		for _, shortened := range []bool{false, true} {
			s := &Solver{Oracles: []dsbo.ValueOracle{algotest.NewWells(1, 1)}, Start: []float64{2}}
			w := testkit.Get(s.newSolve(t.Context(), []float64{0}, nil, nil))
			testkit.OK(w.runParts(func() error { return w.chooseStart([2][]float64{s.y}) }))
			before := w.lower
			w.shortened = shortened
			fall := testkit.Get(w.lineSearch([]float64{step}))
			if y := w.Y[0]; !near(y, want.y) || !near(w.g[0], y*y*y-y) || w.shortened != want.shortened ||
				!near(w.lower, y*y*y*y/4-y*y/2) || fall != max(0, 6*step/before) {
				t.Errorf("step %g, shortened %t: y = %g with gradient %g, shortened %t, the fall is %g", step,
					shortened, y, w.g[0], w.shortened, fall)
			}
		}
	}
}

// TestFlatStep: a step that meets a direction without positive curvature ends a lower problem,
// unless rounded products may have bent it, which are rounded less from there on.
func TestFlatStep(t *testing.T) {
	for _, c := range []struct {
		of, wire, then network.Wire
		flat           bool
	}{
		{network.Float64, network.Float64, network.Float64, true}, {network.Int8, network.Int8, network.BF16, false},
		{network.Int8, network.BF16, network.Float32, false}, {network.Int8, network.Float32, network.Float32, true},
	} {
		s := &Solver{Oracles: []dsbo.ValueOracle{algotest.NewWells(2, 1)}, Start: []float64{.1, .1},
			Agents: network.NewGroup(network.GroupConfig{N: 1, Average: network.AverageOptions{Wire: c.of}})}
		w := testkit.Get(s.newSolve(t.Context(), []float64{0}, nil, nil))
		testkit.OK(w.runParts(func() error { return w.chooseStart([2][]float64{s.y}) }, w.findSystem))
		d := descent{first: 1, last: 1, left: math.Inf(1)}
		w.wire = c.wire
		moved := testkit.Get(w.newtonStep(&d))
		if d.flat != c.flat || w.wire != c.then || !moved {
			t.Errorf("%v: flat %t, then %v, moved %t", c, d.flat, w.wire, moved)
		}
	}
}
