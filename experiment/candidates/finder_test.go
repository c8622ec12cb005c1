package candidates_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// tilted is a problem of one agent whose lower loss y⁴/4 − y²/2 + y/10 has a minimum near 0.95, and
// one near −1.05 that is lower; its upper loss (x − 1)² is least at x = 1.
type tilted struct{}

func (tilted) Capabilities() *dsbo.OracleCapabilities { return nil }

func (tilted) Dims() (p, q int) { return 1, 1 }

func (tilted) UpperGrad(dx, dy, x, _ []float64, _ dsbo.Sample) error {
	if dx != nil {
		dx[0] = 2 * (x[0] - 1)
	}
	if dy != nil {
		dy[0] = 0
	}
	return nil
}

func (tilted) LowerGrad(dst, _, y []float64, _ dsbo.Sample) error {
	dst[0] = y[0]*y[0]*y[0] - y[0] + 0.1
	return failing[y[0]]
}

var failing = map[float64]error{7: dsbo.ErrDiverged, 8: errors.ErrUnsupported} // by y

func (tilted) HVP(dst, _, y, v []float64, _ dsbo.Sample) error {
	dst[0] = (3*y[0]*y[0] - 1) * v[0]
	return nil
}

func (tilted) JVP(dst, _, _, _ []float64, _ dsbo.Sample) error {
	dst[0] = 0
	return nil
}

func (tilted) Values(x, y []float64, _ dsbo.Sample) (upper, lower float64, err error) {
	s := y[0] * y[0]
	return (x[0] - 1) * (x[0] - 1), s*s/4 - s/2 + y[0]/10, nil
}

// newTilted returns a finder that solves the lower problem from two starts.
func newTilted(start, second float64) *candidates.Finder {
	p := train.Problem{Oracles: []dsbo.Oracle{tilted{}}, Evaluate: []dsbo.ValueOracle{tilted{}}, Nonconvex: true,
		Start: []float64{start}}
	f := candidates.New(p, "λ", 1, p.Solver(), nil, nil)
	f.Second = []float64{second}
	return f
}

// TestSolutionOfTwo: of the solutions from two starts a model is the one of the lower training
// loss, and keeps the other one; one that is not finite is neither. What it took is of both.
func TestSolutionOfTwo(t *testing.T) {
	for name, c := range map[string]struct{ start, second, want, other float64 }{
		"the second is lower":      {0.9, -0.9, -1.05, 0.95},
		"the first is lower":       {-0.9, 0.9, -1.05, 0.95},
		"the second is not finite": {0.9, math.NaN(), 0.95, math.NaN()},
		"the second diverges":      {0.9, 7, 0.95, math.NaN()},
		"the first diverges":       {7, 0.9, 0.95, math.NaN()},
	} {
		m := candidates.NewModel("λ = 0", 0, []float64{0})
		m.Y, m.Phi, m.Converged = []float64{3}, 7, true
		testkit.OK(newTilted(math.NaN(), math.NaN()).Solve(t.Context(), m, nil, nil))
		if m.Y != nil || m.Phi.Known() || m.Converged {
			t.Errorf("%s: without a solution y is %v, Φ %g, converged %t", name, m.Y, m.Phi, m.Converged)
		}
		testkit.OK(newTilted(c.start, c.second).Solve(t.Context(), m, nil, nil))
		if len(m.Y) != 1 || !(math.Abs(m.Y[0]-c.want) <= 0.05) {
			t.Errorf("%s: y is %v, want about %g", name, m.Y, c.want)
		}
		if o, ok := m.Other(); ok == math.IsNaN(c.other) || ok && math.Abs(o.Y[0]-c.other) > 0.05 {
			t.Errorf("%s: the other y is %v, want about %g", name, o.Y, c.other)
		}
		steps := 0 // from each start alone
		for _, start := range []float64{c.start, c.second} {
			one := candidates.NewModel("λ = 0", 0, []float64{0})
			if err := newTilted(start, math.NaN()).Solve(t.Context(), one, nil, nil); err == nil && one.Y != nil {
				steps += one.Steps
			}
		}
		if m.Steps != steps || steps == 0 {
			t.Errorf("%s: %d products, want %d", name, m.Steps, steps)
		}
	}
	for _, starts := range [][2]float64{{8, 0.9}, {0.9, 8}, {7, 8}, {8, 7}} {
		m := candidates.NewModel("λ = 0", 0, []float64{0})
		err := newTilted(starts[0], starts[1]).Solve(t.Context(), m, nil, nil)
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a start of %v fails, and Solve with %v", starts, err)
		}
	}
}

// leaning is tilted with an upper loss that y is a part of.
type leaning struct{ tilted }

func (leaning) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	upper, lower, err = tilted{}.Values(x, y, s)
	return upper + y[0], lower, err
}

// TestSpread: how far Φ of the two solutions is apart is not below 0, whichever is the model; from
// one start alone there is no other.
func TestSpread(t *testing.T) {
	for _, starts := range [][]float64{{.9, -.9}, {-.9, .9}, {.9}} {
		f := newTilted(starts[0], 0)
		f.Problem.Evaluate, f.Second = []dsbo.ValueOracle{leaning{}}, nil
		want := 0.
		if len(starts) == 2 {
			f.Second, want = starts[1:], 1.0466+.9456
		}
		m := candidates.NewModel("λ = 0", 0, []float64{0})
		testkit.OK(f.Solve(t.Context(), m, nil, nil))
		if _, ok := m.Other(); ok != (len(starts) == 2) || !(math.Abs(float64(m.Spread)-want) <= 1e-3) {
			t.Errorf("from %v: spread %g, want %g; another solution: %t", starts, m.Spread, want, ok)
		}
	}
}

// TestBacktrack: a tuned x whose Φ is not below its rival's is moved half of the way to the rival's
// x = 0, where Φ is 1, at most three times, until Φ is below it, as between x = 0 and 2.
func TestBacktrack(t *testing.T) {
	f := newTilted(0.9, -0.9)
	solve := func(x float64) *candidates.Model {
		m := candidates.NewModel("tuned λ", runs.Unknown(), []float64{x})
		testkit.OK(f.Solve(t.Context(), m, nil, nil))
		return m
	}
	rivals := []*candidates.Model{solve(0), solve(2)} // Φ is 1 there
	for x, want := range map[float64]float64{1.5: 1.5, 2: 1, 3: 1.5, 4: 1, 12: 1.5, 16: 16, 17: 17} {
		mirrored, _, err := f.Backtrack(t.Context(), solve(2-x), rivals[1])
		if testkit.OK(err); mirrored.X[0] != 2-want {
			t.Errorf("from %g: x is %g, want %g", 2-x, mirrored.X[0], 2-want)
		}
		got, notes, err := f.Backtrack(t.Context(), solve(x), rivals[0])
		testkit.OK(err)
		moved := want != x
		if got.X[0] != want || moved != (got.FoundBy == candidates.FoundByHalving) || moved != (len(notes) == 1) {
			t.Errorf("from %g: x is %g, want %g; found by %q, notes %q", x, got.X[0], want, got.FoundBy, notes)
		}
		if x == 4 && !strings.Contains(strings.Join(notes, ""), "is 0.25 of the way") {
			t.Errorf("notes %q", notes)
		}
	}
	rivals[1].Finder = newTilted(0, 0)
	unsolved := candidates.NewModel("λ = 0", 0, []float64{0})
	unsolved.Finder = f
	for _, rival := range append(rivals[1:], unsolved) {
		for _, tuned := range []*candidates.Model{solve(3), unsolved} {
			if got, _, err := f.Backtrack(t.Context(), tuned, rival); err != nil || got != tuned {
				t.Errorf("x is moved to %v, error %v", got.X, err)
			}
		}
	}
	tuned := solve(3)
	f.Problem.Nonconvex = false
	if got, _, err := f.Backtrack(t.Context(), tuned, rivals[0]); err != nil || got != tuned {
		t.Errorf("x is moved where the lower problem is convex, error %v", err)
	}
}

// TestDescentCost: where the iterations end far above the best constant, the search from there says
// so before, finds a lower x, and takes about as many products as they and the models before it.
func TestDescentCost(t *testing.T) {
	const features, spent = 40, 20
	task := testkit.Get(data.Synthetic{Agents: 3, Features: features, Train: 60, Val: 60, Test: 20, Rate: 1,
		Seed: 1}.Task())
	p := testkit.Get(train.NewProblem(task, models.Logistic{Features: features}, models.Config{Seed: 1}))
	c := new(counter)
	solver := p.Solver()
	find := candidates.New(p, "λ", features, solver, nil, c)
	find.Spent, c.solver = spent, solver
	tuned := candidates.NewModel("λ tuned", runs.Unknown(), slices.Repeat([]float64{5}, features))
	testkit.OK(find.Solve(t.Context(), tuned, nil, nil))
	if solver.PhiTol != 1e-4 || solver.GradientTol != 1e-2 { // the gradient only gives a direction
		t.Errorf("a model that is shown is solved to %g, its gradient to %g", solver.PhiTol, solver.GradientTol)
	}
	solutions := len(c.tols)
	zero, rival, err := find.Constants(t.Context(), 5)
	testkit.OK(err)
	for _, tols := range c.tols[solutions+1:] { // on the way gradients are as rough as solutions
		if want := max(1e-2, 2*tols[0]); tols[0] > 2e-2 || tols[1] != want {
			t.Errorf("a constant is solved to %g, its gradient to %g", tols[0], tols[1])
		}
	}
	for _, tried := range find.Tried {
		if tried.Lambda > 0 { // the slope at 0 points away
			t.Errorf("%g is tried", tried.Lambda)
		}
	}
	if !(zero.ValLoss > 0 && zero.ValLoss < zero.Phi && zero.TestLoss > 0) || // Φ has a prior beside it
		!(zero.TestAccuracy > .5) || zero.HoldoutLoss.Known() {
		t.Errorf("the model of λ = 0 has %+v", zero.Model)
	}
	bound := spent
	for _, n := range c.products {
		bound += n
	}
	before := len(c.products)
	found, notes, err := find.Descent(t.Context(), tuned, rival)
	testkit.OK(err)
	if !found.Below(rival) || len(notes) != 1 || !c.said || found.FoundBy != candidates.FoundBySearch {
		t.Errorf("Φ is %g, of the best constant %g; it said so before: %t; notes: %q", found.Phi, rival.Phi,
			c.said, notes)
	}
	search := c.products[before:]
	same := *rival
	if other, _, err := find.Descent(t.Context(), &same, rival); err != nil || !other.Below(rival) {
		t.Errorf("where the tuned x is as good as the constant, Φ is %g after a search, error %v", other.Phi, err)
	}
	for k, change := range []func(m *candidates.Model){
		func(m *candidates.Model) { m.Finder = candidates.New(p, "λ", features, p.Solver(), nil, nil) },
		func(m *candidates.Model) { m.Lambda = runs.Unknown() },
	} {
		other := *rival
		change(&other)
		if same, notes, err := find.Descent(t.Context(), tuned, &other); same != tuned || notes != nil || err != nil {
			t.Errorf("from a rival of another kind, %d, λ is searched for: %q, error %v", k, notes, err)
		}
	}
	for _, c := range find.Tried {
		if c.Lambda == float64(rival.Lambda) && c.Phi != float64(rival.Phi) {
			t.Errorf("Φ of the best constant is %g, in the list %g", rival.Phi, c.Phi)
		}
	}
	last, sum := search[len(search)-1], 0
	for _, n := range search {
		sum += n
	}
	if sum-last > bound {
		t.Errorf("%v products after %v: only the last solution may go beyond %d", search, c.products[:before], bound)
	}
}
