package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A function is one of the elementwise functions with its reference in big arithmetic.
type function[T Float] struct {
	name string
	f    func(dst, src []T)
	ref  func(x float64) exact // nil where the function is not a number
	// ulps is the bound on |got − want| in units of the last place of want; 1e-15 relative is
	// at least 1e-15/2^-52 = 4.5 of them.
	ulps float64
	// limits are the exact results at the numbers in limitArguments.
	limits [7]float64
}

var (
	inf, nan, minusZero, large = math.Inf(1), math.NaN(), math.Copysign(0, -1), float64(math.MaxFloat32)
	limitArguments             = [7]float64{nan, -inf, -large, minusZero, 0, large, inf}
)

// inUlps stands for a limit that TestFunctions alone holds, in units of the last place.
const inUlps = -12345

func functions[T Float]() []function[T] {
	loose := 4.5
	if size[T]() == 4 {
		loose = 2
	}
	return []function[T]{
		{"Exp", Exp[T], bigExp, 2, [7]float64{nan, 0, 0, 1, 1, inf, inf}},
		{"Log1pExp", Log1pExp[T], bigLog1pExp, loose, [7]float64{nan, 0, 0, math.Ln2, math.Ln2, large, inf}},
		{"Sigmoid", Sigmoid[T], bigSigmoid, loose, [7]float64{nan, 0, 0, 0.5, 0.5, 1, 1}},
		{"Tanh", Tanh[T], bigTanh, loose, [7]float64{nan, -1, -1, minusZero, 0, 1, 1}},
		{"Erf", Erf[T], bigErf, loose, [7]float64{nan, -1, -1, minusZero, 0, 1, 1}},
		{"InverseMills", InverseMills[T], func(x float64) exact { v, _ := bigMills(x); return v }, loose,
			[7]float64{nan, inf, large, inUlps, inUlps, 0, 0}},
		{"MillsExcess", MillsExcess[T], func(x float64) exact { _, v := bigMills(x); return v }, loose,
			[7]float64{nan, 0, 1 / large, inUlps, inUlps, large, inf}},
		{"NormalCDF", NormalCDF[T], bigNormalCDF, loose, [7]float64{nan, 0, 0, inUlps, inUlps, 1, 1}},
		{"Log", Log[T], bigLog, loose, [7]float64{nan, nan, nan, -inf, -inf, math.Log(large), inf}},
	}
}

// arguments covers what the functions do differently: near 0, the middle, both tails to where they
// over- and underflow, halves of log 2 where the reduction of the argument jumps, and the limits.
func arguments[T Float](rng *rand.Rand, count int) []T {
	x := []float64{0, math.Copysign(0, -1), 1, -1, 800, -800, 1000, -1000, 16, 19, 20, -16, -40, -700,
		708.3, 709.7, 709.8, -708.3, -708.5, -740, -745, -745.1, -745.2, -746, 88.7, 88.8, -87.3, -87.4,
		-103, -103.9, -104,
		5e-324, -5e-324, 1e-300, 1e-45, 1e-38, -1e-38, 1e-20, 1e-8, -1e-8, 0.5, 0.881, math.Ln2 / 2, -math.Ln2 / 2,
		math.MaxFloat64, -math.MaxFloat64}
	for i := range count {
		s := 2*float64(rng.IntN(2)) - 1
		switch i % 5 {
		case 0:
			x = append(x, s*math.Exp(40*rng.Float64()-36)) // 2e-16 .. 55, even in the exponent
		case 1:
			x = append(x, s*110*rng.Float64())
		case 2:
			x = append(x, s*760*rng.Float64())
		case 3:
			x = append(x, s*2*rng.Float64())
		case 4:
			x = append(x, (float64(rng.IntN(300)-150)+0.5)*math.Ln2*(1+1e-15*rng.NormFloat64()))
		}
	}
	out := make([]T, len(x))
	for i, v := range x {
		out[i] = T(v)
	}
	return out
}

func TestFunctions(t *testing.T) { eachType(t, testFunctions[float32], testFunctions[float64]) }

func testFunctions[T Float](t *testing.T) {
	count := 1000 // 200 of each kind, of which the functions compute all alike
	if testing.Short() {
		count = 250
	}
	x := arguments[T](rand.New(rand.NewPCG(1, 2)), count)
	for _, fn := range functions[T]() {
		want := make([]exact, len(x))
		for i, v := range x {
			if !math.IsInf(float64(v), 0) {
				want[i] = fn.ref(float64(v))
			}
		}
		eachPath(t, func(t *testing.T) {
			got := make([]T, len(x))
			fn.f(got, x)
			worst, where := 0.0, T(0)
			for i, v := range x {
				if math.IsInf(float64(v), 0) {
					continue // a float64 argument beyond float32: TestFunctionLimits
				}
				if want[i] != nil {
					if e := ulpError(got[i], want[i]); !(e <= worst) {
						worst, where = e, v
					}
				} else if got[i] == got[i] {
					t.Errorf("%s(%v) = %v; it must be NaN", fn.name, v, got[i])
				}
			}
			t.Logf("%s: worst %.3f ulp at %g", fn.name, worst, where)
			if !(worst <= fn.ulps) {
				t.Errorf("%s(%v) is off by %g ulp, bound %g", fn.name, where, worst, fn.ulps)
			}
		})
	}
}

func TestFunctionLimits(t *testing.T) {
	eachType(t, testFunctionLimits[float32], testFunctionLimits[float64])
}

func testFunctionLimits[T Float](t *testing.T) {
	for _, fn := range functions[T]() {
		for i, x := range limitArguments {
			if fn.limits[i] == inUlps {
				continue
			}
			got := []T{T(x)}
			fn.f(got, got)
			if w := T(fn.limits[i]); bits(got[0]) != bits(w) && (got[0] == got[0] || w == w) {
				t.Errorf("%s(%v) = %v; it must be %v", fn.name, x, got[0], w)
			}
		}
	}
}

// TestFunctionLengths: every length, at any offset, in place and not, gives the bits that each
// entry has alone, and touches nothing else.
func TestFunctionLengths(t *testing.T) {
	eachPathAndType(t, testFunctionLengths[float32], testFunctionLengths[float64])
}

func testFunctionLengths[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, fn := range functions[T]() {
		for n := range 70 {
			a := &arena[T]{rng: rng}
			src := a.slice(n, func() T { return T(6*rng.ExpFloat64() - 1) })
			if fn.name == "Log" {
				Exp(src, src)
			}
			dst := a.slice(n, func() T { return 0 })
			want := make([]T, n)
			for i := range want {
				fn.f(want[i:i+1], src[i:i+1])
			}
			fn.f(dst, src)
			sameBits(t, fmt.Sprintf("%s n=%d", fn.name, n), dst, want)
			fn.f(src, src)
			sameBits(t, fmt.Sprintf("%s n=%d in place", fn.name, n), src, want)
			a.check(t, fn.name)
		}
	}
}

// TestFunctionPathsAgree: the assembly paths give the same bits as each other.
func TestFunctionPathsAgree(t *testing.T) {
	eachType(t, testFunctionPathsAgree[float32], testFunctionPathsAgree[float64])
}

func testFunctionPathsAgree[T Float](t *testing.T) {
	x := append(arguments[T](rand.New(rand.NewPCG(5, 6)), 20000), T(math.Inf(1)), T(math.Inf(-1)))
	for _, fn := range functions[T]() {
		pathsAgree(t, fn.name, func() []T {
			got := make([]T, len(x))
			fn.f(got, x)
			for i, v := range got {
				if v != v {
					got[i] = T(math.NaN()) // one NaN is as good as another
				}
			}
			return got
		})
	}
}
