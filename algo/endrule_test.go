package algo

import (
	"fmt"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// TestEndRule: a solve takes the products that it is to take at least, and continues until the rest
// of r'M⁻¹r is 0.9 of what there was, 0.949 of r; where there was nothing it takes none.
func TestEndRule(t *testing.T) {
	a := &NewtonCG{Lr: "0.1", C: 1, Cold: 1, Mem: 2}
	testkit.OK(a.Init(2, 2, 1))
	linalg.Fill(a.rhs, 4)
	a.memory.Begin(a.s, a.rhs, linalg.System{E: []float64{0, 0}, Diagonal: []float64{1, 4}})
	ends := a.endRule(3)
	for _, c := range []struct {
		asked int
		share float64 // of the right-hand side that is left
		want  bool
	}{{0, 1, false}, {1, .1, false}, {2, 0, false}, {3, .949, false}, {3, .948, true}, {4, .949, false},
		{9, .5, true}} {
		if linalg.Fill(a.rhs, 4*c.share); ends(c.asked) != c.want {
			t.Errorf("%d products that leave %g: the solve ends: %t", c.asked, c.share, !c.want)
		}
	}
	if linalg.Fill(a.rhs, 0); !a.endRule(3)(0) {
		t.Error("nothing to solve takes products")
	}
}

// TestStruckParameters: a parameter that is a constant now is refused with its value.
func TestStruckParameters(t *testing.T) {
	for name, value := range map[string]float64{"beta2": beta2, "drop": drop, "floor": floor, "reach": reach} {
		testkit.WantError(t, name, Decode(new(NewtonCG), fmt.Appendf(nil, "{%q:0.3}", name)), dsbo.ErrConfig,
			fmt.Sprintf("parameter %s of newtoncg is gone: it is %g", name, value))
	}
}

// TestFallen: a search for the start continues where the loss falls by a share 1 − drop of its
// size, here 0.15, also below 0 and where the loss falls from above to below it.
func TestFallen(t *testing.T) {
	for _, c := range []struct {
		last, loss float64
		want       bool
	}{
		{2, 1.69, true}, {2, 1.71, false}, {2, 2.1, false}, {-2, -2.31, true}, {-2, -2.29, false}, {-2, -1.9, false},
		{-2, -1.6, false}, {.1, .09, false}, {.1, -.1, true}, {-.1, .1, false}, {0, -1, true}, {0, 1, false},
	} {
		if got := fallen(c.loss, c.last); got != c.want {
			t.Errorf("from %g to %g: fallen is %t", c.last, c.loss, got)
		}
	}
}
