package num

import "math"

// The series of sine and cosine in Cephes up to π/4, by ascending powers of x².
var (
	sineTerms = []float64{-1.66666666666666307295e-1, 8.33333333332211858878e-3, -1.98412698295895385996e-4,
		2.75573136213857245213e-6,
		-2.50507477628578072866e-8, 1.58962301576546568060e-10}
	cosineTerms = []float64{4.16666666666665929218e-2, -1.38888888888730564116e-3, 2.48015872888517045348e-5,
		-2.75573141792967388112e-7,
		2.08757008419747316778e-9, -1.13585365213876817300e-11}
)

// Sin returns the sine of an angle in radians: NaN of infinities and NaN. From 2^53 on, where
// neighbouring numbers are 2 or more apart, it is some number between −1 and 1, the same on
// every machine.
func Sin(x float64) float64 {
	if x == 0 { // keeps the sign of −0
		return x
	}
	quarters, z := reduced(x)
	if x < 0 { // sin x = −sin |x|, half a turn on
		quarters += 2
	}
	return sineAfter(quarters, z)
}

// Cos returns the cosine of an angle in radians; see [Sin].
func Cos(x float64) float64 {
	quarters, z := reduced(x)
	return sineAfter(quarters+1, z)
}

// sineAfter returns the sine of z, within ±π/4, and a number of quarters of a turn, from 0 on.
func sineAfter(quarters int, z float64) float64 {
	v := sineOf(z)
	if quarters&1 == 1 {
		v = cosineOf(z)
	}
	if quarters&2 == 2 {
		return -v
	}
	return v
}

// reduced returns z within ±π/4, and a number from 0 to 3, so that |x| is z and this number of
// quarters of a turn, but for whole turns.
func reduced(x float64) (quarters int, z float64) {
	const ( // π/4 in three parts, the first two so short that their products with an eighth of 2^32 turns are exact
		first  = 7.85398125648498535156e-1
		second = 3.77489470793079817668e-8
		third  = 2.69515142907905952645e-15
	)
	x = math.Abs(x)
	if x >= 1<<29 { // about where there are 2^32 eighths times 1/8: products with first are no longer exact
		x = withinTurn(x)
	}
	if !(x <= math.MaxFloat64) { // infinite, or NaN
		return 0, math.NaN()
	}
	eighths := int64(x * (4 / math.Pi))
	eighths += eighths & 1 // the even one next to x, from which z is at most one eighth away
	n := float64(eighths)
	return int(eighths / 2 & 3), ((x - float64(n*first)) - float64(n*second)) - float64(n*third)
}

// withinTurn takes whole turns off a large angle. What FMA returns is the same on every machine, by
// software if need be.
func withinTurn(x float64) float64 {
	const ( // 2π in three parts
		first  = 0x1.921fb54442d18p+2
		second = 0x1.1a62633145c07p-52
		third  = -0x1.f1976b7ed8fbcp-108
	)
	if x >= 0x1p53 { // n would not be exact; see Sin
		return math.Mod(x, first)
	}
	n := -math.Floor(x / first)
	return math.FMA(n, third, math.FMA(n, second, math.FMA(n, first, x)))
}

func sineOf(z float64) float64 {
	zz := float64(z * z)
	return z + float64(float64(z*zz)*polynomial(zz, sineTerms))
}

func cosineOf(z float64) float64 {
	zz := float64(z * z)
	return 1 - float64(0.5*zz) + float64(float64(zz*zz)*polynomial(zz, cosineTerms))
}

// atanRatio is Cephes's function of the square of an angle's tangent within 0.66.
var atanRatio = ratio{
	[]float64{-6.485021904942025371773e+01, -1.228866684490136173410e+02, -7.500855792314704667340e+01,
		-1.615753718733365076637e+01, -8.750608600031904122785e-01},
	[]float64{1.945506571482613964425e+02, 4.853903996359136964868e+02, 4.328810604912902668951e+02,
		1.650270098316988542046e+02, 2.485846490142306297962e+01, 1}}

// Atan returns the arc tangent in radians: ±π/2 of infinities, NaN of NaN.
func Atan(x float64) float64 {
	const (
		rest  = 6.123233995736765886130e-17 // π/2 less the constant above
		steep = 2.41421356237309504880      // tan 3π/8
	)
	near := func(t float64) float64 {
		z := float64(t * t)
		return float64(t*float64(z*atanRatio.value(z))) + t
	}
	size := math.Abs(x)
	var angle float64
	switch {
	case size <= 0.66:
		angle = near(size)
	case size > steep: // the complement has the tangent 1/size, below 0.42
		angle = math.Pi/2 - near(1/size) + rest
	default: // the angle less π/4 has this tangent, within 0.42
		angle = math.Pi/4 + near((size-1)/(size+1)) + 0.5*rest
	}
	return math.Copysign(angle, x)
}

// Atan2 returns the angle of the point (x, y), from −π to π, with the sign of y.
func Atan2(y, x float64) float64 {
	angle := Atan(math.Abs(y / x)) // of the point with positive coordinates
	switch {
	case math.IsInf(y, 0) && math.IsInf(x, 0):
		angle = math.Pi / 4
	case y == 0 && x == x: // also where x is 0, and y/x is NaN
		angle = 0
	}
	if math.Signbit(x) {
		angle = math.Pi - angle
	}
	return math.Copysign(angle, y)
}
