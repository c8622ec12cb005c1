package num_test

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"dsbo/internal/num"
)

// functions are the functions of one argument, with what package math has.
var functions = []struct {
	name      string
	own, std  func(float64) float64
	tolerance float64 // relative: two units in the last place, one of each
	digest    uint64  // of the bits of its values at numbers, on every machine
}{
	{"Exp", num.Exp, math.Exp, 0x1p-51, 0x247c0862e50300d6},
	{"Expm1", num.Expm1, math.Expm1, 0x1p-51, 0x239e579088984d01},
	{"Log", num.Log, math.Log, 0x1p-51, 0x6aa05be171639a41},
	{"Log1p", num.Log1p, math.Log1p, 0x1p-51, 0x3b8a6ea7149c7fd8},
	{"Erf", num.Erf, math.Erf, 0x1p-51, 0x3f43463904a9d5c6},
	{"Sin", num.Sin, math.Sin, 0x1p-51, 0xed047275dfe1e8d2},
	{"Cos", num.Cos, math.Cos, 0x1p-51, 0xcabbf112a76c65dd},
	{"Atan", num.Atan, math.Atan, 0x1p-51, 0xd9e9060d51841372},
}

// numbers are arguments of all sizes, in the middle mostly.
func numbers() []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	var v []float64
	for range 20000 {
		x := float64(2*r.Float64()) - 1
		v = append(v, x, 4*x, 40*x, 700*x, math.Ldexp(x, r.IntN(80)-60))
	}
	return v
}

// TestFunctions: each is as right as package math, and has the same bits on every machine and at
// every level of its architecture.
func TestFunctions(t *testing.T) {
	for _, f := range functions {
		h := fnv.New64a()
		for _, x := range numbers() {
			own, std := f.own(x), f.std(x)
			if off := math.Abs(own - std); off > f.tolerance*math.Abs(std) && off > 0x1p-1074 && math.Abs(x) < 1<<53 {
				t.Fatalf("%s(%v) is %v; it must be %v within %.2g, and is off by %.2g", f.name, x, own, std,
					f.tolerance, off/math.Abs(std))
			}
			digest(h, own)
		}
		if h.Sum64() != f.digest {
			t.Errorf("%s: the digest of its values is %#x; it must be %#x", f.name, h.Sum64(), f.digest)
		}
	}
}

// TestSpecial: infinities, zeros, NaN and the ends of domains are as in package math.
func TestSpecial(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 1e-310,
		0x1p-1022, 0x1p-54,
		math.MaxFloat64, -math.MaxFloat64, -2, -745.2, 709.78, 0.5, -0.5, 2, 3, 1 << 62, 1 << 63}
	for _, x := range special {
		for _, f := range functions {
			large := !(math.Abs(x) <= 0x1p53) && !math.IsInf(x, 0) && (f.name == "Sin" || f.name == "Cos")
			if large || x > 0 && x < 0x1p-1022 && f.name == "Log" { // of which math.Log of amd64 is wrong
				continue
			}
			own, std := f.own(x), f.std(x)
			if !same(own, std) && !(math.Abs(own-std) <= 0x1p-51*math.Abs(std)) && !(f.name == "Exp" && own == 5e-324) {
				t.Errorf("%s(%v) is %v; it must be %v", f.name, x, own, std)
			}
		}
		for _, y := range special {
			if x > 0 && x < 0x1p-1022 && math.Abs(y) < 1 {
				continue
			}
			if own, std := num.Pow(x, y), math.Pow(x, y); !same(own, std) &&
				!(math.Abs(own-std) <= 0x1p-50*math.Abs(std)) {
				t.Errorf("Pow(%v, %v) is %v; it must be %v", x, y, own, std)
			}
		}
	}
}

// TestLogOfLeast: 2^−1074 is the least number above 0.
func TestLogOfLeast(t *testing.T) {
	if got, want := num.Log(0x1p-1074), -1074*math.Ln2; !(math.Abs(got-want) <= 0x1p-51*-want) {
		t.Errorf("the logarithm of 2^-1074 is %v; it must be %v", got, want)
	}
}

// TestPow: powers of whole, half and other exponents. The tolerance of exponents that are not whole
// is the exponential's times the error of its argument, of at most 1 in size.
func TestPow(t *testing.T) {
	const digestOf = uint64(0xb3709b8510b14e2d)
	r := rand.New(rand.NewPCG(3, 4))
	h := fnv.New64a()
	for range 20000 {
		x, y := num.Exp(float64(6*r.Float64())-3), float64(40*r.Float64())-20
		for _, y := range []float64{y, math.Round(y), math.Round(y) + 0.5} {
			own, std := num.Pow(x, y), math.Pow(x, y)
			if !(math.Abs(own-std) <= 0x1p-49*std) {
				t.Fatalf("Pow(%v, %v) is %v; it must be %v", x, y, own, std)
			}
			digest(h, own)
		}
	}
	if h.Sum64() != digestOf {
		t.Errorf("the digest of powers is %#x; it must be %#x", h.Sum64(), digestOf)
	}
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

func digest(h interface{ Write([]byte) (int, error) }, v float64) {
	bits := math.Float64bits(v)
	if v != v {
		bits = math.Float64bits(math.NaN())
	}
	var b [8]byte
	for i := range b {
		b[i] = byte(bits >> (8 * i))
	}
	_, _ = h.Write(b[:])
}

// TestAtan2: angles of points of all kinds are as in package math.
func TestAtan2(t *testing.T) {
	list := []float64{0, math.Copysign(0, -1), 1, -1, .3, -7, 1e300, -1e-300, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, y := range list {
		for _, x := range list {
			own, std := num.Atan2(y, x), math.Atan2(y, x)
			same := math.Signbit(own) == math.Signbit(std) && math.Abs(own-std) <= 0x1p-51*math.Abs(std)
			if !same && (own == own || std == std) {
				t.Errorf("Atan2(%v, %v) is %v; it must be %v", y, x, own, std)
			}
		}
	}
}
