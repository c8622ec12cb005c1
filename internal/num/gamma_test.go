package num_test

import (
	"math"
	"testing"

	"dsbo/internal/num"
)

// TestGammaAndNormal compares with numbers of mpmath (50 digits, rounded to 20). The last places of
// the terms that a function is summed from are a few units in the last place of the largest term,
// which is at most the result's size or 8 where the sum is near 0.
func TestGammaAndNormal(t *testing.T) {
	for _, f := range []struct {
		name string
		of   func(float64) float64
		want map[float64]float64
	}{
		{"Lgamma", num.Lgamma, map[float64]float64{
			1e-09:    20.72326583636919543,
			0.1:      2.252712651734205902,
			0.5:      0.57236494292470008707,
			0.95:     0.030968795237972926467,
			1.3:      -0.10817480950786047846,
			1.46:     -0.12148500100400742945,
			1.9:      -0.038984275923083361674,
			2.5:      0.28468287047291915963,
			7.7:      7.9265413562690047789,
			8.5:      9.5492672573009977117,
			30:       71.25703896716800901,
			100000.0: 1051287.7089736568949,
			-0.5:     1.2655121234846453965,
			-1.3:     1.202475786390111327,
			-7.25:    -7.5418834434757500244,
		}},
		{"Polygamma(0)", num.Polygamma(0), map[float64]float64{
			0.001:     -1000.5755719318102797,
			0.3:       -3.5025242222001331249,
			1:         -0.57721566490153286061,
			2.7:       0.79678316899114109494,
			17:        2.8035133283274603684,
			1000000.0: 13.815510057964190771,
			-0.3:      2.1133097796353988734,
			-5.6:      0.78863801739397139094,
		}},
		{"Polygamma(1)", num.Polygamma(1), map[float64]float64{
			0.001:     1000001.6425331958273,
			0.3:       12.245364546107731301,
			1:         1.6449340668482264365,
			2.7:       0.44721206891832360647,
			17:        0.060587533403239361782,
			1000000.0: 1.0000005000001666667e-6,
			-0.3:      13.945160267805722489,
			-5.6:      10.747995590525457988,
		}},
		{"Polygamma(3)", num.Polygamma(3), map[float64]float64{
			0.3:     743.14176465504977709,
			1:       6.4939394022668291491,
			2.7:     0.17117980334609882915,
			19.5:    0.00029118480883598754485,
			10000.0: 2.0003000199999999e-12,
			-0.3:    766.61989041916858035,
			-2.6:    283.53838059773573763,
		}},
		{"LogNormalCDF", num.LogNormalCDF, map[float64]float64{
			-100000.0: -5000000012.4318639983,
			-40:       -804.60844201375378817,
			-5.5:      -17.779376352625260511,
			-5:        -15.064998393988725736,
			-3.2:      -7.2829755029036313263,
			-1:        -1.8410216450092635058,
			0:         -0.69314718055994530942,
			0.8:       -0.23807370162332804716,
			2.5:       -0.006229025485860002381,
			9:         -1.1285884059538406478e-19,
			30:        -4.9067139271481870595e-198,
		}},
		{"InverseMills", num.InverseMills, map[float64]float64{
			-100000.0: 100000.00001,
			-40:       40.024968847207263723,
			-5.5:      5.6714103138973056227,
			-5:        5.1865039671258421156,
			-3.2:      3.4695918678220531915,
			-1:        1.5251352761609812091,
			0:         0.79788456080286535588,
			0.8:       0.36756142494764791925,
			2.5:       0.017637825486916734788,
			9:         1.0279773571668914796e-18,
		}},
		{"MillsExcess", num.MillsExcess, map[float64]float64{
			-100000.0: 9.999999998000000001e-6,
			-40:       0.024968847207263723245,
			-5.5:      0.17141031389730562275,
			-5:        0.18650396712584211562,
			-3.2:      0.26959186782205301391,
			0:         0.79788456080286535588,
			2.5:       2.5176378254869167348,
		}},
		{"Erfc", num.Erfc, map[float64]float64{
			-3:   1.9999779095030014146,
			0.3:  0.67137324054087257236,
			1:    0.15729920705028513066,
			2.5:  0.00040695201744495893956,
			20:   5.3958656116079009289e-176,
			26.5: 2.2109076642637342759e-307,
		}},
		{"NormalCDF", num.NormalCDF, map[float64]float64{
			-37.5: 4.6053530095819548438e-308,
			-8:    6.2209605742717841236e-16,
			0:     0.5,
			1:     0.84134474606854294859,
		}},
		{"MillsExcessSlope(1)", num.MillsExcessSlope(1), excessSlopes(0)},
		{"MillsExcessSlope(2)", num.MillsExcessSlope(2), excessSlopes(1)},
		{"MillsExcessSlope(3)", num.MillsExcessSlope(3), excessSlopes(2)},
		{"MillsExcessSlope(5)", num.MillsExcessSlope(5), excessSlopes(3)},
	} {
		for x, want := range f.want {
			got, tolerance := f.of(x), 0x1p-50*max(8, math.Abs(want))
			if f.name == "InverseMills" || f.name == "MillsExcess" || f.name == "LogNormalCDF" { // relative
				tolerance = 0x1p-50 * max(32, x*x) * math.Abs(want)
				if x <= -2 {
					tolerance = 0x1p-50 * math.Abs(want)
				}
			}
			if loose := relative[f.name]; loose > 0 {
				tolerance = loose * math.Abs(want)
			}
			if !(math.Abs(got-want) <= tolerance) {
				t.Errorf("%s(%v) is %v; it must be %v within %.2g, and is off by %.2g", f.name, x, got, want, tolerance,
					math.Abs(got-want))
			}
		}
	}
}

// relative are the relative errors that some functions may have: derivatives of a polynomial of
// degree 27 lose a digit or two an order, and e^(−x²/2) loses x²/2 roundings.
var relative = map[string]float64{"Erfc": 1e-15, "NormalCDF": 0x1p-50, "MillsExcessSlope(1)": 1e-14,
	"MillsExcessSlope(2)": 3e-14, "MillsExcessSlope(3)": 3e-13, "MillsExcessSlope(5)": 3e-11}

// excessSlopes returns derivatives of x + φ(x)/Φ(x), of order 1, 2, 3 and 5, found with 200 digits.
func excessSlopes(i int) map[float64]float64 {
	all := map[float64][4]float64{
		-1e4: {9.99999940000005e-9, 1.99999976000003e-12, 5.99999880000021e-16, 1.1999994960001512e-22},
		-700: {2.0407913373679244438e-6, 5.8307609960863190279e-9, 2.4988567725059787643e-11,
			1.0198957485011944492e-15},
		-20: {0.0024632616150521635997, 0.00024272657893584202383, 0.000035703551588456591599,
			1.6919513765186140654e-6},
		-5: {0.032696434617112225345, 0.010825764506356699657, 0.0050878369738874464338,
			0.002109536869659283102},
		-3: {0.070559186785268116862, 0.031470672830842487947, 0.018930547102077378334,
			0.010669718169548384177},
		-2:  {0.11427910041408125664, 0.059355861291565812834, 0.039421993865946813265, 0.020590019459645697822},
		0.5: {0.48617543569636710323, 0.27099012446870783327, 0.088167801929197553827, -0.26173845230367099937},
		3: {0.98666678845825919379, 0.035680136876570470563, -0.081046222015181883904,
			-0.11235402127059256315},
		8: {0.99999999999995958183, 3.1829307826282502476e-13, -2.4655082887660163036e-12,
			-1.4029146344765558916e-10},
	}
	of := map[float64]float64{}
	for x, orders := range all {
		of[x] = orders[i]
	}
	return of
}

// TestGammaSpecial: poles, infinities and NaN.
func TestGammaSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ got, want float64 }{
		{num.Lgamma(0), inf}, {num.Lgamma(-3), inf}, {num.Lgamma(inf), inf}, {num.Lgamma(nan), nan},
		{num.Lgamma(1), 0}, {num.Lgamma(2), 0}, {num.Polygamma(0)(0), -inf}, {num.Polygamma(1)(0), inf},
		{num.Polygamma(0)(math.Copysign(0, -1)), inf}, {num.Polygamma(2)(0), -inf}, {num.Polygamma(1)(-2), inf},
		{num.Polygamma(1)(-inf), nan}, {num.Erfc(inf), 0}, {num.Erfc(-inf), 2}, {num.Erfc(nan), nan},
		{num.NormalCDF(-inf), 0}, {num.NormalCDF(inf), 1}, {num.MillsExcessSlope(3)(-inf), 0},
		{num.Polygamma(2)(-4), nan}, {num.Polygamma(0)(nan), nan},
		{num.Polygamma(0)(inf), inf}, {num.Polygamma(2)(inf), 0},
		{num.Atan(inf), math.Pi / 2}, {num.Atan(-inf), -math.Pi / 2}, {num.Atan(nan), nan},
		{num.LogNormalCDF(inf), 0}, {num.LogNormalCDF(-inf), -inf}, {num.LogNormalCDF(nan), nan},
		{num.InverseMills(inf), 0}, {num.InverseMills(-inf), inf}, {num.MillsExcess(-inf), 0},
	} {
		if !(c.got == c.want || c.got != c.got && c.want != c.want) {
			t.Errorf("%v must be %v", c.got, c.want)
		}
	}
}
