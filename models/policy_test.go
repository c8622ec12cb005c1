package models_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

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
