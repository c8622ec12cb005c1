package models_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train/exact"
)

// TestSolveQuadratics holds the solution against the agents' oracles: at x* the lower problem's
// minimizer is y*, Φ is Φ*, and the hypergradient vanishes. Rounding is the rounding of systems
// whose condition numbers are below 100.
func TestSolveQuadratics(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	var ms []models.Quadratic
	var solver exact.Solver
	for range 4 {
		m := quadratic(r, 3, 5)
		ms = append(ms, m)
		solver.Oracles = append(solver.Oracles, testkit.Get(models.NewOracle(m, data.Shard{}, models.Config{})))
	}
	solver.Tol, solver.AdjointTol = 1e-14, 1e-14
	s := testkit.Get(models.SolveQuadratics(ms))
	at := testkit.Get(solver.Solve(t.Context(), s.X))
	if !(math.Abs(at.Phi-s.Phi) <= 1e-12*math.Abs(s.Phi)) {
		t.Errorf("Φ* = %g, the average of f is %g", s.Phi, at.Phi)
	}
	if off, gradient := math.Sqrt(linalg.Dist2(at.Y, s.Y)), linalg.Norm(at.Gradient); off > 1e-12 || gradient > 1e-12 {
		t.Errorf("y* is off by %g and the hypergradient's norm is %g at the solution, want 0", off, gradient)
	}
}

func TestSolveQuadraticsErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ok := quadratic(r, 2, 3)
	short := ok
	short.B = short.B[1:]
	flat, flatter := ok, ok
	flat.A = make([]float64, 9)
	flatter.B, flatter.E = make([]float64, 6), make([]float64, 4)
	for _, c := range []struct {
		name string
		ms   []models.Quadratic
		kind error
		says string
	}{
		{"none", nil, dsbo.ErrShape, "there must be at least one quadratic"},
		{"short", []models.Quadratic{ok, short}, dsbo.ErrShape,
			"agent 1: B of a quadratic with p=2, q=3 must have 6 numbers; it has 5"},
		{"mixed", []models.Quadratic{ok, quadratic(r, 3, 3)}, dsbo.ErrShape,
			"agents must have the same p and q; agent 1 has 3 and 3, agent 0 has 2 and 3"},
		{"flat lower", []models.Quadratic{flat}, dsbo.ErrConfig, "the average of A must be positive definite"},
		{"flat upper", []models.Quadratic{flatter}, dsbo.ErrConfig,
			"the Hessian M'DM + E of Φ must be positive definite"},
	} {
		if _, err := models.SolveQuadratics(c.ms); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error is %v, want %q", c.name, err, c.says)
		}
	}
}

// TestNoiseAveragesOut: with rows that sum to 0 the whole data give the problem without noise.
func TestNoiseAveragesOut(t *testing.T) {
	m := quadratic(rand.New(rand.NewPCG(3, 1)), 2, 2)
	noise := data.Examples{X: table(4, 2, []float64{1, 2, -1, -2, 3, .5, -3, -.5}),
		Target: table(4, 1, make([]float64, 4))}
	quiet := testkit.Get(models.NewOracle(m, data.Shard{}, models.Config{}))
	noisy := testkit.Get(models.NewOracle(m, data.Shard{Train: noise, Val: noise}, models.Config{Batch: 1}))
	x, y := []float64{1, 2}, []float64{-1, 1}
	a, b, c := make([]float64, 2), make([]float64, 2), make([]float64, 2)
	testkit.OK(quiet.LowerGrad(a, x, y, dsbo.Sample{Set: dsbo.Whole}))
	testkit.OK(noisy.LowerGrad(b, x, y, dsbo.Sample{Set: dsbo.Whole}))
	testkit.OK(noisy.LowerGrad(c, x, y, dsbo.Sample{Set: dsbo.Lower}))
	if linalg.Dist2(a, b) > 1e-28 || linalg.Dist2(a, c) < 1 {
		t.Errorf("gradient %v without noise, %v with all of it, %v with one row", a, b, c)
	}
}

// policyData draws transitions of one agent.
func policyData() data.Task {
	return testkit.Get(data.Policy{Agents: 1, States: 7, Features: 3, Transitions: 3, Discount: .8, Rate: .2,
		Seed: 5}.Task())
}

// TestPolicyEvaluation: y*(x) is the mean difference in each state, Φ half its mean square, and ∇Φ
// = 0 where least squares on the means over each state's transitions say.
func TestPolicyEvaluation(t *testing.T) {
	const S, d, each = 7, 3, 3
	task, m := policyData(), models.PolicyEvaluation{Features: d, States: S}
	e := task.Shards[0].Train
	a, b := mat.NewDense(S, d, nil), mat.NewVecDense(S, nil) // mean δ(x) = a x − b
	for i := range e.Len() {
		s := int(e.Column(data.StateColumn).At(i, 0))
		for j := range d {
			a.Set(s, j, a.At(s, j)+e.X.At(i, j)/each)
		}
		b.SetVec(s, b.AtVec(s)+e.Target.At(i, 0)/each)
	}
	var best mat.VecDense
	testkit.OK(best.SolveVec(a, b))
	var y mat.VecDense
	y.MulVec(a, &best)
	y.SubVec(&y, b)
	x, ys := best.RawVector().Data, y.RawVector().Data
	o := testkit.Get(models.NewOracle(m, task.Shards[0], models.Config{}))
	whole := dsbo.Sample{Set: dsbo.Whole}
	g, dx, z, j := make([]float64, S), make([]float64, d), make([]float64, S), make([]float64, d)
	testkit.OK(o.LowerGrad(g, x, ys, whole))
	testkit.OK(o.UpperGrad(dx, z, x, ys, whole)) // H = I: z = ∇_y f
	testkit.OK(o.JVP(j, x, ys, z, whole))
	linalg.Sub(dx, dx, j)
	if linalg.Norm(g) > 1e-6 || linalg.Norm(dx) > 1e-6 { // tables are float32 or float64, sums of some 20 terms
		t.Errorf("∇_y g = %v and ∇Φ = %v at the least squares solution", g, dx)
	}
	f, _ := testkit.Get2(o.Values(x, ys, whole))
	if want := linalg.Dot(ys, ys) / (2 * S); !(math.Abs(f-want) <= 1e-6*want) {
		t.Errorf("Φ = %g, want %g", f, want)
	}
}

// unscored is policy evaluation without its Score, which is no part of f: f is no mean of losses of
// single examples.
type unscored struct {
	models.Model
	models.Checker
	models.Curved
	models.StronglyConvex
	models.Meant
	models.Baselined
}

// TestPolicyEvaluationRefuses: the state of each transition must be known, and be one.
func TestPolicyEvaluationRefuses(t *testing.T) {
	shard := policyData().Shards[0]
	if err := (models.PolicyEvaluation{Features: 3, States: 6}).Check(shard); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("a state too many: %v", err)
	}
	shard.Train.Columns = nil
	if err := (models.PolicyEvaluation{Features: 3, States: 7}).Check(shard); !errors.Is(err, dsbo.ErrShape) {
		t.Errorf("no states: %v", err)
	}
	if !models.IsCompositional(models.PolicyEvaluation{}) {
		t.Error("policy evaluation must be compositional")
	}
}
