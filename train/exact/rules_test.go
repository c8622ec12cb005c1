package exact_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train/exact"
)

// TestFallsEnough: a step is taken where the lower loss falls by 1e-4 of what its slope promises
// for that share of it, whatever the sign of the loss, and not where it falls by less or rises.
func TestFallsEnough(t *testing.T) {
	for _, c := range []struct {
		fall, share float64
		want        bool
	}{
		{1.01e-4, 1, true}, {0.99e-4, 1, false}, {-0.5e-4, 1, false}, {0.51e-4, 0.5, true}, {0.49e-4, 0.5, false},
		{2, 1, true}, {-1, 1, false}, {math.NaN(), 1, false},
	} {
		for _, before := range []float64{3, -3} {
			if got := exact.FallsEnough(before-3*c.fall, before, c.share, 3); got != c.want {
				t.Errorf("from %g the loss falls by %g of its slope in %g of a step: taken is %t", before, c.fall,
					c.share, got)
			}
		}
	}
}

// TestRules: what the rules of solves make of numbers.
func TestRules(t *testing.T) {
	one := func(f func(float64) float64) func(a, _ float64) float64 {
		return func(a, _ float64) float64 { return f(a) }
	}
	for name, c := range map[string]struct {
		of  func(a, b float64) float64
		all [][3]float64 // two arguments and the result
	}{
		"what Φ may be off by, of two changes": {exact.SecondOrder, [][3]float64{{1, 0, 2}, {3, 4, 8}, {0, 0.5, 1}}},
		"the residual that a step leaves": {exact.ResidualShare,
			[][3]float64{{1, 0, 0.1}, {4e-4, 0, 0.02}, {4e-4, 0.1, 0.05}, {4, 1, 0.5}}},
		"the gain that a step leaves": {one(exact.GainShare),
			[][3]float64{{1e-4, 0, 1e-3}, {0.1, 0, 0.1}, {0.5, 0, 0.25}}},
		"the multiple of z":           {exact.Multiple, [][3]float64{{2, 4, 0.5}, {-2, 4, 0}, {2, -4, 0}, {-2, -4, 0}}},
		"how much nearer Y has to be": {one(exact.Sharper), [][3]float64{{0.4, 0, 0.1}, {1e-5, 0, 0.25e-4}}},
		"what a tolerance is a share of": {exact.SizeOf,
			[][3]float64{{2, 9, 2}, {.3, 9, .3}, {-2, 1, 2}, {-2, 3, 3}, {0, -3, 3}}},
	} {
		for _, of := range c.all {
			if got := c.of(of[0], of[1]); !(math.Abs(got-of[2]) <= 1e-15) {
				t.Errorf("%s: %g of %v", name, got, of)
			}
		}
	}
}

// TestSettled: a descent has settled where the last ten steps together have lowered the loss by a
// thousandth of its size before them, whatever its sign; ones before these do not count.
func TestSettled(t *testing.T) {
	steps := func(from, by float64, n int) []float64 {
		losses := []float64{from + 5, from}
		for k := range n {
			losses = append(losses, from-by*float64(k+1)/float64(n))
		}
		return losses
	}
	for name, c := range map[string]struct {
		losses []float64
		want   bool
	}{
		"by less":             {steps(100, 0.099, 10), true},
		"by more":             {steps(100, 0.101, 10), false},
		"by less, below 0":    {steps(-100, 0.099, 10), true},
		"by more, below 0":    {steps(-100, 0.101, 10), false},
		"by less, in nine":    {steps(100, 0.01, 9), false},
		"by more, in eleven":  {steps(100, 0.108, 11), true},
		"ten steps from 0":    {make([]float64, 11), true},
		"nine steps":          {make([]float64, 10), false},
		"by less, at the end": {append(steps(100, 0.2, 10), 99.8), false},
	} {
		if got := exact.Settled(c.losses); got != c.want {
			t.Errorf("%s: settled is %t", name, got)
		}
	}
}

// A bowl is g = unit + Σ_j h_j (cosh(y_j − a_j) − 1), or its first term of second degree, and
// f = above + ½ Σ_j c_j (y_j − b_j)². Φ = f(a).
type bowl struct {
	a, b, c, h  []float64
	above, unit float64
	square      bool
}

func (bowl) Capabilities() *dsbo.OracleCapabilities { return nil }

func (o bowl) Dims() (p, q int) { return 1, len(o.a) }

func (o bowl) UpperGrad(dx, dy, _, y []float64, _ dsbo.Sample) error {
	clear(dx)
	for j := range dy {
		dy[j] = o.c[j] * (y[j] - o.b[j])
	}
	return nil
}

func (o bowl) LowerGrad(dst, _, y []float64, _ dsbo.Sample) error {
	for j := range dst {
		if dst[j] = o.h[j] * (y[j] - o.a[j]); !o.square {
			dst[j] = o.h[j] * math.Sinh(y[j]-o.a[j])
		}
	}
	return nil
}

func (o bowl) HVP(dst, _, y, v []float64, _ dsbo.Sample) error {
	for j := range dst {
		if dst[j] = o.h[j] * v[j]; !o.square {
			dst[j] *= math.Cosh(y[j] - o.a[j])
		}
	}
	return nil
}

func (o bowl) JVP(dst, _, _, _ []float64, _ dsbo.Sample) error {
	clear(dst)
	return nil
}

func (o bowl) Values(_, y []float64, _ dsbo.Sample) (upper, lower float64, err error) {
	upper, lower = o.above, o.unit // g is not near 0, as a loss is not
	for j, v := range y {
		upper += .5 * o.c[j] * (v - o.b[j]) * (v - o.b[j])
		if d := v - o.a[j]; o.square {
			lower += .5 * o.h[j] * d * d
		} else {
			lower += o.h[j] * (math.Cosh(d) - 1)
		}
	}
	return upper, lower, nil
}

// A failing bowl fails in one call, counted from 1.
type failing struct {
	bowl
	calls, at *int
}

var errOwn = errors.New("own")

func (o failing) fail(err error) error {
	if *o.calls++; *o.calls == *o.at {
		return errOwn
	}
	return err
}

func (o failing) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return o.fail(o.bowl.LowerGrad(dst, x, y, s))
}

func (o failing) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	return o.fail(o.bowl.UpperGrad(dx, dy, x, y, s))
}

func (o failing) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.fail(o.bowl.HVP(dst, x, y, v, s))
}

func (o failing) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.fail(o.bowl.JVP(dst, x, y, v, s))
}

func (o failing) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	upper, lower, err = o.bowl.Values(x, y, s)
	return upper, lower, o.fail(err)
}

// TestEachErrorEnds: an error of an oracle's ends a solve, in whichever call it comes.
func TestEachErrorEnds(t *testing.T) {
	x := []float64{0}
	for name, of := range map[string]func(s *exact.Solver) (exact.Solution, error){
		"Solve":   func(s *exact.Solver) (exact.Solution, error) { return s.Solve(t.Context(), x) },
		"Lower":   func(s *exact.Solver) (exact.Solution, error) { return s.Lower(t.Context(), x, nil, 1e-4) },
		"Model":   func(s *exact.Solver) (exact.Solution, error) { return s.Model(t.Context(), x, nil) },
		"Descend": func(s *exact.Solver) (exact.Solution, error) { return s.Descend(t.Context(), x, nil) },
	} {
		for _, wire := range []network.Wire{network.Float64, network.Int8} {
			at, last := 0, 1
			for ; at <= last; at++ {
				calls := 0
				o := failing{bowl{unit: 1, a: []float64{1, -2, 3}, b: []float64{4, 1, 1}, c: []float64{9, 100, 1000},
					h: []float64{1, .1, .01}}, &calls, &at}
				group := network.NewGroup(network.GroupConfig{N: 1, Average: network.AverageOptions{Wire: wire}})
				s := exact.Solver{Oracles: []dsbo.ValueOracle{o}, Agents: group, Matrix: dsbo.DampedHessian}
				if name == "Solve" {
					s.Matrix = dsbo.Hessian
				}
				_, err := of(&s)
				if last = max(last, calls); errors.Is(err, errOwn) != (at > 0) {
					t.Errorf("%s on %v: the error in call %d of %d ends it as %v", name, wire, at, last, err)
				}
			}
		}
	}
}

// A bowl in units of its lower loss, whose gradient and loss may be of other signs.
type united struct {
	bowl
	unit, loss float64
}

func (o united) Capabilities() *dsbo.OracleCapabilities {
	return &dsbo.OracleCapabilities{Of: o, Diagonal: func(dst, _, _ []float64, _ dsbo.Sample) error {
		linalg.Fill(dst, o.unit)
		return nil
	}}
}

func (o united) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	err := o.bowl.LowerGrad(dst, x, y, s)
	linalg.Scale(dst, o.unit, dst)
	return err
}

func (o united) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	err := o.bowl.HVP(dst, x, y, v, s)
	linalg.Scale(dst, o.unit, dst)
	return err
}

func (o united) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	upper, lower, err = o.bowl.Values(x, y, s)
	return upper, o.unit * o.loss * lower, err
}

// fourths is a bowl of four numbers.
func fourths() bowl {
	return bowl{unit: 1, a: []float64{1, -2, 3, .5}, b: []float64{4, 1, 1, 2}, c: []float64{9, 100, 1000, 3},
		h: []float64{1, .1, .01, .003}}
}

// bare has no diagonal.
type bare struct{ united }

func (bare) Capabilities() *dsbo.OracleCapabilities { return nil }

// TestUnitsWithoutDiagonal: in each unit of the lower loss Φ is right to the error that is stated,
// where curvature is known by products alone. Φ = ½ Σ c_j (a_j − b_j)².
func TestUnitsWithoutDiagonal(t *testing.T) {
	const truth = (9*9 + 100*9 + 1000*4 + 3*2.25) / 2
	for _, exponent := range []float64{-40, -20, -10, 0, 20} {
		o := bare{united{fourths(), math.Exp2(exponent), 1}}
		s := exact.Solver{Oracles: []dsbo.ValueOracle{o}}
		got := testkit.Get(s.Solve(t.Context(), []float64{0}))
		if off := math.Abs(got.Phi - truth); !got.Converged || !(off <= got.PhiError+1e-12*truth) || off > 1e-4*truth {
			t.Errorf("in units of 2^%g: Φ is off by %g, stated are %g; converged: %t", exponent, off, got.PhiError,
				got.Converged)
		}
	}
}

// TestUnits: the unit of the lower loss, a power of two, changes neither y, Φ nor the products; one
// that rises where its gradient promises a fall is not solved, but by gradients alone.
func TestUnits(t *testing.T) {
	x := []float64{0}
	for name, of := range map[string]func(s *exact.Solver) (exact.Solution, error){
		"Solve":   func(s *exact.Solver) (exact.Solution, error) { return s.Solve(t.Context(), x) },
		"Lower":   func(s *exact.Solver) (exact.Solution, error) { return s.Lower(t.Context(), x, nil, 1e-4) },
		"Model":   func(s *exact.Solver) (exact.Solution, error) { return s.Model(t.Context(), x, nil) },
		"Descend": func(s *exact.Solver) (exact.Solution, error) { return s.Descend(t.Context(), x, nil) },
	} {
		var want exact.Solution
		for _, unit := range []float64{1, 1 << 20, 1. / (1 << 20)} {
			o := united{fourths(), unit, 1}
			got := testkit.Get(of(&exact.Solver{Oracles: []dsbo.ValueOracle{o}}))
			if unit == 1 {
				want = got
			}
			if !got.Converged || !slices.Equal(got.Y, want.Y) || got.Products != want.Products ||
				got.Phi != want.Phi && name != "Lower" && name != "Descend" || got.Residual != want.Residual {
				t.Errorf("%s in units of %g: %+v, want %+v", name, unit, got, want)
			}
			o.loss = -1
			got = testkit.Get(of(&exact.Solver{Oracles: []dsbo.ValueOracle{o}}))
			if got.Converged && name != "Descend" {
				t.Errorf("%s: solved by a loss that rises: %+v", name, got)
			}
		}
	}
}

// TestFlatDirections: Φ of closed forms is right to the tolerance, and to the error that is stated,
// where f is 1 to 1e5 times as curved as the lower loss in its flattest directions, and the
// curvature of that changes or does not. Where f is least at y* its curvature is all that counts.
func TestFlatDirections(t *testing.T) {
	for _, tol := range []float64{1e-2, 1e-4} {
		for _, flat := range []float64{1, 1e-2, 1e-4, 1e-5} {
			for _, square := range []bool{true, false} {
				for seed := range uint64(4) {
					random := rand.New(rand.NewPCG(seed, 3))
					const q = 60
					o := bowl{square: square, above: float64(seed % 2), unit: math.Exp2(-20 * float64(seed%3))}
					truth := o.above
					for j := range q {
						o.a = append(o.a, random.NormFloat64())
						o.c = append(o.c, random.Float64())
						o.h = append(o.h, o.unit*math.Pow(flat, float64(j)/(q-1)))
						o.b = append(o.b, o.a[j])
						if seed > 0 {
							o.b[j] = random.NormFloat64()
						}
						truth += .5 * o.c[j] * (o.a[j] - o.b[j]) * (o.a[j] - o.b[j])
					}
					o.above += max(0, .1-truth)
					truth = max(truth, .1)
					s := exact.Solver{Oracles: []dsbo.ValueOracle{o}, PhiTol: tol}
					sol := testkit.Get(s.Solve(t.Context(), []float64{0}))
					off := math.Abs(sol.Phi - truth)
					if !sol.Converged || off > tol*truth || !(off <= sol.PhiError+1e-14*truth) {
						t.Errorf("tolerance %g, flat %g, square %v, seed %d: Φ is off by %.2g of it; stated are %.2g",
							tol, flat, square, seed, off/truth, sol.PhiError/truth)
					}
				}
			}
		}
	}
}
