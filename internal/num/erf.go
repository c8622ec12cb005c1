package num

import "math"

// A ratio is a rational function, numerator and denominator by ascending powers.
type ratio struct{ numerator, denominator []float64 }

func (r ratio) value(x float64) float64 {
	return polynomial(x, r.numerator) / polynomial(x, r.denominator)
}

// The error function in fdlibm: from 0 to 0.84375, to 1.25, to 1/0.35 and to 6.
var (
	erfNear = ratio{
		[]float64{1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
			-5.77027029648944159157e-03,
			-2.37630166566501626084e-05},
		[]float64{1, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
			1.32494738004321644526e-04,
			-3.96022827877536812320e-06}}
	erfMiddle = ratio{
		[]float64{-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
			3.18346619901161753674e-01,
			-1.10894694282396677476e-01, 3.54783043256182359371e-02, -2.16637559486879084300e-03},
		[]float64{1, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
			1.26171219808761642112e-01,
			1.36370839120290507362e-02, 1.19844998467991074170e-02}}
	erfcFar = ratio{
		[]float64{-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
			-6.23753324503260060396e+01,
			-1.62396669462573470355e+02, -1.84605092906711035994e+02, -8.12874355063065934246e+01,
			-9.81432934416914548592e+00},
		[]float64{1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
			6.45387271733267880336e+02,
			4.29008140027567833386e+02, 1.08635005541779435134e+02, 6.57024977031928170135e+00,
			-6.04244152148580987438e-02}}
	erfcFarther = ratio{
		[]float64{-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
			-1.60636384855821916062e+02,
			-6.37566443368389627722e+02, -1.02509513161107724954e+03, -4.83519191608651397019e+02},
		[]float64{1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
			3.19985821950859553908e+03,
			2.55305040643316442583e+03, 4.74528541206955367215e+02, -2.24409524465858183362e+01}}
)

// Erf returns the error function 2/√π ∫_0^x e^(−t²) dt: 1 of +Inf, −1 of −Inf, NaN of NaN.
func Erf(x float64) float64 {
	const (
		one   = 8.45062911510467529297e-01 // about erf 1, in few bits
		slope = 1.28379167095512586316e-01 // 2/√π − 1
	)
	size := math.Abs(x)
	var v float64
	switch {
	case x != x:
		return x
	case size < 0x1p-28:
		v = 0.125 * (float64(8*size) + float64(8*slope*size)) // in eighths nothing underflows
	case size < 0.84375:
		v = size + float64(size*erfNear.value(size*size))
	case size < 1.25:
		v = one + erfMiddle.value(size-1)
	case size >= 6:
		v = 1
	default:
		v = 1 - erfcAbove(size)
	}
	return math.Copysign(v, x)
}

// erfcAbove returns 1 − erf x from 1.25 to 28, accurate though it is small.
func erfcAbove(x float64) float64 {
	far := erfcFar
	if x >= 1/0.35 {
		far = erfcFarther
	}
	// e^(−x²) of an x of few bits, whose square is exact, and of what they leave
	short := math.Float64frombits(math.Float64bits(x) &^ 0xffffffff)
	rest := float64((short-x)*(short+x)) + far.value(1/float64(x*x))
	return float64(Exp(-float64(short*short)-0.5625)*Exp(rest)) / x
}

// tailFrom is from where the tail of the normal distribution is a continued fraction, and terms its
// length: there the first term left out changes no digit.
const (
	tailFrom = 2
	terms    = 60
)

// tailFraction returns φ(z)/Φ(−z) − z for z from tailFrom on: 1/(z + 2/(z + 3/(z + ...))).
func tailFraction(z float64) float64 {
	v := 0.0
	for k := float64(terms); k >= 1; k-- {
		v = k / (z + v)
	}
	return v
}

// normalCDF returns the standard normal distribution Φ(x) for an x of at least −tailFrom, accurate
// where it is small too.
func normalCDF(x float64) float64 {
	if size := -x / math.Sqrt2; size >= 1.25 {
		return erfcAbove(size) / 2
	}
	return (1 + Erf(x/math.Sqrt2)) / 2
}

const logTwoPi = 1.8378770664093454836 // log 2π

// LogNormalCDF returns log Φ(x), Φ being the standard normal distribution, accurate in both tails:
// 0 of +Inf, −Inf of −Inf, NaN of NaN.
func LogNormalCDF(x float64) float64 {
	switch {
	case x > 0:
		size := x / math.Sqrt2
		if size >= 1.25 {
			return Log1p(-erfcAbove(min(size, 28)) / 2)
		}
		return Log1p((Erf(size) - 1) / 2)
	case x < -math.MaxFloat64:
		return x
	case x <= -tailFrom:
		return -float64(0.5*x*x) - (0.5*logTwoPi + Log(InverseMills(x)))
	}
	return Log(normalCDF(x))
}

// InverseMills returns φ(x)/Φ(x), the derivative of [LogNormalCDF]: about −x far to the left.
func InverseMills(x float64) float64 {
	if x <= -tailFrom {
		return tailFraction(-x) - x
	}
	return Exp(-float64(0.5*x*x)-0.5*logTwoPi) / normalCDF(x)
}

// MillsExcess returns x + φ(x)/Φ(x), accurate far to the left too, where it is about −1/x.
func MillsExcess(x float64) float64 {
	if x <= -tailFrom {
		return tailFraction(-x)
	}
	return x + InverseMills(x)
}
