package algo_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// TestCentralStepsAreAlike: with order 2 y and z go equally far, up to a factor of 2; steps that
// follow the curvature do so by themselves, and order 1 takes any.
func TestCentralStepsAreAlike(t *testing.T) {
	for name, c := range map[string]struct {
		lambda, of string
		equal      float64 // γ for β = 0.01
	}{"dbifo": {"lam", "beta", 0.01}, "fab": {"lam", "beta", 0.01}, "f2sa": {"lam0", "lam*beta", 0.08},
		"c2dfb": {"lam", "lam*beta", 0.08}} {
		for share, ok := range map[float64]bool{0.499: false, 0.501: true, 1.999: true, 2.001: false} {
			for order := 1; order <= 2; order++ {
				gamma := share * c.equal
				m := made(t, name, fmt.Sprintf(`{"%s":8,"beta":0.01,"gamma":%g,"order":%d}`, c.lambda, gamma, order))
				err := m.Init(3, 4, 10)
				if ok || order == 1 {
					testkit.OK(err)
					continue
				}
				want := fmt.Sprintf("%s: gamma must be from 1/2 to 2 times %s = %g with order 2, so that y and z go "+
					"equally far; it is %v", name, c.of, c.equal, gamma)
				if !errors.Is(err, dsbo.ErrConfig) || err.Error() != want {
					t.Errorf("error %v\nwant %s", err, want)
				}
			}
		}
		for steps, ok := range map[string]bool{ // first 3, 1/3, 1 and 1 times as far
			`"beta":%g,"gamma":"%g/(k+1)"`: false, `"beta":"%g/(k+1)","gamma":%g`: false,
			`"beta":"%g/sqrt(k+1)","gamma":"%g/(k+1)"`: true, `"beta":%g,"gamma":"%g,9"`: true,
		} {
			beta, gamma := 0.01, c.equal
			switch {
			case ok:
			case strings.HasPrefix(steps, `"beta":%g,`):
				gamma *= 3
			default:
				beta *= 3
			}
			m := made(t, name, fmt.Sprintf(`{"%s":8,`+steps+`,"order":2}`, c.lambda, beta, gamma))
			if err := m.Init(3, 4, 10); (err == nil) != ok {
				t.Errorf("%s, "+steps+": error %v, want one: %t", name, beta, gamma, err, !ok)
			}
		}
		m := made(t, name, `{"order":2,"beta":"auto","gamma":"auto"}`)
		testkit.OK(algo.Clone(m).Init(3, 4, 10))
		testkit.Get(algo.Bind(m, algo.Curvature{L: 3, Y: 0.5, Z: 0.2}))
		testkit.OK(m.Init(3, 4, 10))
	}
}

// TestPushPullOverEdgesOfBothDirections is fab with A = B = W: dbifo with a = 1, by the bits, where
// the tracker's fresh gradients are asked for at the end of an iteration in place of the start.
func TestPushPullOverEdgesOfBothDirections(t *testing.T) {
	qs := algotest.NewQuadratics(4, 3, 4, 5)
	const steps = `{"order":%d,"lam":5,"alpha":0.03,"beta":0.02,"gamma":0.02%s}`
	for order := 1; order <= 2; order++ {
		x := func(name, rest string) []float64 {
			return endOf(t, name, fmt.Sprintf(steps, order, rest), 9, qs, algotest.NewMixers(algotest.Ring(4, 0.5)))
		}
		if fab, dbifo := x("fab", ""), x("dbifo", `,"a":1`); !slices.Equal(fab, dbifo) {
			t.Errorf("order %d: fab %v, dbifo %v", order, fab, dbifo)
		}
	}
}

// TestUnitSteps: with unit x moves by α in each iteration, and its direction is P_x.
func TestUnitSteps(t *testing.T) {
	o := algotest.NewQuadratics(1, 3, 4, 6)[0]
	for order := 1; order <= 2; order++ {
		m := ready(t, made(t, "f2sa", fmt.Sprintf(`{"order":%d,"unit":true,"alpha":"0.3/(k+1)"}`, order)), 3, 4)
		for k := range 3 {
			before := slices.Clone(m.X())
			testkit.OK(m.Step(t.Context(), k, o, nil))
			moved := distance(before, m.X())
			if u := norm(algo.TraitsOf(m).U); !(math.Abs(moved*float64(k+1)-0.3*u/(u+1e-6)) <= 1e-14) {
				t.Errorf("order %d, iteration %d: x moved by %g along a direction of %g", order, k, moved, u)
			}
		}
	}
}

// TestLanczosIsConjugateGradients: with x and y at rest z after j iterations is what j steps of
// conjugate gradients find, to where the space is whole; and from restart to restart it goes on.
func TestLanczosIsConjugateGradients(t *testing.T) {
	const q = 5
	qs := algotest.NewQuadratics(1, 3, q, 6)
	const rest = `"alpha":1e-13,"beta":1e-13,"T":1`
	z := func(name, object string, K int) []float64 {
		m := ready(t, made(t, name, object), 3, q)
		alone(t, K, m, qs[0])
		return algo.TraitsOf(m).Z
	}
	for j := 1; j <= q+2; j++ {
		steps := z("aidcg", fmt.Sprintf(`{%s,"N":%d}`, rest, j), 1)
		if d := distance(z("lancbio", `{`+rest+`,"dim":9}`, j), steps); d > 1e-11 {
			t.Errorf("after %d iterations z is %g from that of as many steps of conjugate gradients", j, d)
		}
		again := z("lancbio", `{`+rest+`,"dim":1}`, j)
		warm := z("aidcg", `{`+rest+`,"N":1,"warm_z":true}`, j)
		if d := distance(again, warm); d > 1e-11 {
			t.Errorf("with spaces of one vector z is %g from steepest descent's after %d iterations", d, j)
		}
	}
}

// TestSubspaceOfTwo: where q is 2 the plane is all, and z is exact from the second iteration on;
// where q is 1 it has one vector.
func TestSubspaceOfTwo(t *testing.T) {
	for q := 1; q <= 2; q++ {
		qs := algotest.NewQuadratics(1, 3, q, 6)
		a := ready(t, made(t, "subbio", `{"T":3}`), 3, q)
		r := algotest.NewRecorder(qs[0])
		for k := range 5 {
			testkit.OK(a.Step(t.Context(), k, r, nil))
			d := distance(algo.TraitsOf(a).Z, algotest.Solve(qs).InverseProduct(a.Y()))
			if exact := d <= 1e-12; !exact && k+1 >= q {
				t.Errorf("q = %d, iteration %d: z is off by %g", q, k, d)
			}
		}
		if want := map[int]int{1: 5 + 5, 2: 3*5 - 1}[q]; r.Total.HVP != want {
			t.Errorf("q = %d: %d products in 5 iterations, want %d", q, r.Total.HVP, want)
		}
	}
}

// TestSpacesGrow: a space lasts as long as its dimension, which grows as the program has it, and
// the memory of a run is for the longest.
func TestSpacesGrow(t *testing.T) {
	for object, want := range map[string]string{
		`{"dim":3}`: "RggRggRggRgg",
		`{"dim":1,"dim_fre":3,"dim_inc":1.4,"dim_max":4}`:  "RRRgRgRgRggg",
		`{"dim":5,"dim_fre":2,"dim_inc":1.1,"dim_max":3}`:  "RggRggRggRgg",
		`{"dim":3,"dim_fre":4,"dim_inc":1.01,"dim_max":9}`: "RgggRgggggRgRggggggggggg",
	} {
		m := ready(t, made(t, "lancbio", object), 3, 4)
		var got strings.Builder
		longest, n := 0, 0
		for k := range len(want) {
			n++
			if m.Cost(k).HVP == 2 {
				n = 1
			}
			longest = max(longest, n)
			got.WriteString(map[int]string{1: "g", 2: "R"}[m.Cost(k).HVP])
		}
		if got.String() != want {
			t.Errorf("%s: restarts %s, want %s", object, got.String(), want)
		}
		short := made(t, "lancbio", object)
		testkit.OK(short.Init(3, 4, len(want)))
		for _, s := range short.State() {
			if s.Name == "diagonal" && len(s.Value) != longest {
				t.Errorf("%s: memory for %d vectors, want %d", object, len(s.Value), longest)
			}
		}
	}
}
