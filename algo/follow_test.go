package algo_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// A growing oracle has the penalty's part e^{x_j} for entry j of y, over and over.
type growing struct{ dsbo.Oracle }

func (o growing) Capabilities() *dsbo.OracleCapabilities {
	return &dsbo.OracleCapabilities{Of: o, LowerJointGrad: o.Oracle.Capabilities().LowerJointGrad,
		Penalty: func(dst, x []float64) error {
			return fill(dst, func(j int) float64 { return math.Exp(x[j%len(x)]) })
		}}
}

// TestFollowCurvature: steps that follow the curvature are those divided by (L(x₀) + max_j (P_j(x)
// − P_j(x₀))⁺)/L, and never above those at the start; a change of members has L found anew.
func TestFollowCurvature(t *testing.T) {
	const l = 4.0
	up := math.Log(5) // P_0 grows from 1 to 5: L by 2
	for name, object := range map[string]string{
		"soba": `{"alpha":0.25,"beta":0.125,"gamma":0.0625}`, "alset": `{"alpha":0.25,"beta":0.125,"lg":8}`,
		"madsbo_tuned": `{"alpha":0.25,"beta":0.125,"gamma":0.0625,"T":2,"N":2,"track_y":true,"warm_z":true}`,
	} {
		for label, c := range map[string]struct {
			x      []float64
			found  float64 // 0: not found
			growth float64
		}{
			"at the start": {[]float64{0, 0}, l, 1}, "up": {[]float64{up, 0}, l, 2}, "down": {[]float64{-3, -1}, l, 1},
			"other members": {[]float64{0, 0}, 4 * l, 4}, "flatter members": {[]float64{0, 0}, l / 2, 1},
			"not found": {[]float64{math.Log(17), 0}, 0, 1},
		} {
			o := growing{algotest.NewQuadratics(1, 2, 3, 1)[0]}
			follows, scaled := testkit.Get(algo.New(name)), testkit.Get(algo.New(name))
			testkit.OK(errors.Join(algo.Decode(follows, []byte(object)), algo.Decode(scaled, []byte(object))))
			names := slices.DeleteFunc([]string{"beta", "gamma", "lg"},
				func(step string) bool { return !slices.Contains(algo.Parameters(follows), step) })
			for _, step := range names {
				var at map[string]any
				testkit.OK(json.Unmarshal([]byte(object), &at))
				v := at[step].(float64) / c.growth
				if step == "lg" {
					v = at[step].(float64) * c.growth
				}
				algo.Set(scaled, step, algo.Constant(v))
			}
			for _, m := range []algo.Method{follows, scaled} {
				testkit.OK(m.Init(2, 3, 1))
				copy(m.X(), c.x)
				copy(m.Y(), []float64{1, 2, 3})
			}
			algo.FollowCurvature(follows, names, l)
			algo.Found(follows, c.found, make([]float64, 2))
			for _, m := range []algo.Method{follows, scaled} {
				testkit.OK(m.Step(t.Context(), 0, o, algotest.NewMixers(algotest.Ring(1, 0.5))[0]))
			}
			if !slices.Equal(follows.Y(), scaled.Y()) || !slices.Equal(follows.X(), scaled.X()) {
				t.Errorf("%s, %s: y = %v and x = %v; by steps that are divided by %g, %v and %v", name, label,
					follows.Y(), follows.X(), c.growth, scaled.Y(), scaled.X())
			}
		}
	}
}

// TestNothingFollows: a method of another module, and one without steps that follow, are left as
// they are.
func TestNothingFollows(t *testing.T) {
	algo.FollowCurvature(struct{ dsbo.Algorithm }{}, []string{"beta"}, 1)
	algo.Found(struct{ dsbo.Algorithm }{}, 1, nil)
	m := ready(t, &algo.MADSBO{}, 1, 1)
	before := len(m.State())
	algo.FollowCurvature(m, nil, 1)
	if algo.Found(m, 1, []float64{0}); len(m.State()) != before {
		t.Errorf("%d parts of the state, and %d before", len(m.State()), before)
	}
}

// TestCurvatureNumber: a step of the curvature that has no number is refused before L is known, and
// one that falls over K iterations where there are none.
func TestCurvatureNumber(t *testing.T) {
	const falls = algo.Schedule("0.8*(1-k/K)")
	_, err := falls.For(0)
	testkit.WantError(t, "no iterations", err, dsbo.ErrConfig, "which must be at least 1; it is 0")
	if v := testkit.Get(falls.For(1))(0); v != 0.8 {
		t.Errorf("the first of one step is %g, want 0.8", v)
	}
	testkit.WantError(t, "beta", (&algo.MADSBO{Beta: "x/L"}).Init(1, 1, 1), dsbo.ErrConfig, "beta")
}
