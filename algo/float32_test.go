package algo_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// TestInFloat32 holds methods by vectors of float32 against themselves in float64. Each of the 40 iterations adds at most some 60 roundings of 2⁻²⁴ of
// numbers of at most about 1, 1.4e-4 in all if none of them faded. Those of descent fade, as its map is a contraction: 1e-5 is a tenth of it. Those of
// adamcg need not, whose steps are measured by averages of their own.
func TestInFloat32(t *testing.T) {
	const agents, p, q, K = 4, 3, 5, 40
	const steps = `{"alpha":0.1,"beta":0.1,"gamma":0.1`
	parameters := map[string]string{
		"madsbo": steps + `,"T":3,"N":3}`, "madsbo_tuned": steps + `,"T":3,"N":3}`, "adamcg": `{"T":3,"N":3}`, "dsoba": steps + `}`, "sparkle": steps + `}`,
	}
	for _, name := range algo.Float32Names() {
		t.Run(name, func(t *testing.T) {
			var ends [2][]algo.Method
			for i := range ends {
				var oracles []dsbo.Oracle
				for _, o := range algotest.NewQuadratics(agents, p, q, 7) {
					m := made(t, name, parameters[name])
					if i == 1 {
						m = testkit.Get(algo.InFloat32(m))
					}
					testkit.OK(m.Init(p, q, K))
					for k, v := range []float64{0.1, -0.2, 0.3} { // which are no float32
						m.X()[k] = v
					}
					ends[i], oracles = append(ends[i], m), append(oracles, o)
				}
				mixers := algotest.NewMixers(algotest.Ring(agents, 0.5))
				for k := range K {
					testkit.OK(algotest.Step(t.Context(), k, ends[i], oracles, mixers))
				}
			}
			for i, wide := range ends[0] {
				narrow := ends[1][i]
				for k, part := range narrow.State() {
					most := 1e-5
					if name == "adamcg" {
						most = 1.4e-4
					}
					if want := wide.State()[k]; part.Name != want.Name || !near(part.Value, want.Value, most) {
						t.Errorf("agent %d: %s is %v in float32; want %s as %v", i, part.Name, part.Value, want.Name, want.Value)
					}
					if slices.ContainsFunc(part.Value, func(v float64) bool { return v != float64(float32(v)) }) {
						t.Errorf("agent %d: %s is not of float32: %v", i, part.Name, part.Value)
					}
				}
			}
		})
	}
}

func near(a, b []float64, most float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= most })
}

// TestInFloat32Refuses: a method without vectors of float32 is refused, with the names of those that have some.
func TestInFloat32Refuses(t *testing.T) {
	type own struct{ algo.MADSBO } // whose steps may be other ones
	if _, err := algo.InFloat32(new(own)); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("a method that embeds one: %v", err)
	}
	_, err := algo.InFloat32(new(algo.NewtonCG))
	if !errors.Is(err, dsbo.ErrCapability) || !strings.Contains(err.Error(), "newtoncg") || !strings.Contains(err.Error(), "madsbo, madsbo_tuned, adamcg, dsoba, sparkle") {
		t.Errorf("%v", err)
	}
}
