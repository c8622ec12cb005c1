package kernel

import (
	"math"
	"math/big"
	"sync"
	"testing"

	"dsbo/internal/testkit"
)

// exact is a number with 160 bits, of which the functions here get at least 130 right.
type exact = *big.Float

const precision = 160

func number(x float64) exact { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func fresh() exact { return new(big.Float).SetPrec(precision) }

// bigExp halves x until it is below 2^-8, sums the series, and squares back.
func bigExp(x float64) exact {
	return bigExpOf(number(min(max(x, -0x1p20), 0x1p20))) // beyond every overflow and underflow any number does
}

func bigExpOf(b exact) exact {
	if b.Sign() == 0 {
		return number(1)
	}
	halvings := max(0, b.MantExp(nil)+8)
	r := fresh().SetMantExp(b, -halvings)
	sum, term := number(1), number(1)
	for n := 1; n < 18; n++ { // r¹⁸/18! is below 2^-196
		term.Mul(term, r)
		term.Quo(term, number(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog1p is log(1+e) = 2·atanh(e/(2+e)) for 0 ≤ e ≤ 1; each term gains a factor of 9.
func bigLog1p(e exact) exact {
	s := fresh().Quo(e, fresh().Add(number(2), e))
	s2 := fresh().Mul(s, s)
	sum, power := fresh(), fresh().Set(s)
	for n := 1; n < 110 && power.Sign() != 0 && power.MantExp(nil) > s.MantExp(nil)-precision; n += 2 {
		sum.Add(sum, fresh().Quo(power, number(float64(n))))
		power.Mul(power, s2)
	}
	return sum.Add(sum, sum)
}

// bigPi is 16 arctan(1/5) − 4 arctan(1/239), by Machin.
var bigPi = sync.OnceValue(func() exact {
	arctan := func(k float64) exact {
		sum, power := fresh(), fresh().Quo(number(1), number(k))
		for n := 1; power.MantExp(nil) > -precision-8; n += 2 {
			part := fresh().Quo(power, number(float64(n)))
			if n%4 == 3 {
				part.Neg(part)
			}
			sum.Add(sum, part)
			power.Quo(power, number(k*k))
		}
		return sum
	}
	pi := fresh().Mul(number(16), arctan(5))
	return pi.Sub(pi, fresh().Mul(number(4), arctan(239)))
})

var bigLn2 = sync.OnceValue(func() exact { return bigLog1p(number(1)) })

func bigLog1pExp(x float64) exact {
	l := bigLog1p(bigExp(-math.Abs(x)))
	return l.Add(l, number(max(x, 0)))
}

func bigSigmoid(x float64) exact {
	e := bigExp(-math.Abs(x))
	d := fresh().Add(number(1), e)
	if x < 0 {
		return d.Quo(e, d)
	}
	return d.Quo(number(1), d)
}

func bigTanh(x float64) exact {
	if math.Abs(x) < 0x1p-40 {
		// x − x³/3, next term below 2^-160 relative.
		b := number(x)
		c := fresh().Mul(b, b)
		c.Mul(c, b)
		return b.Sub(b, c.Quo(c, number(3)))
	}
	// The difference below loses at most 40 of the bits.
	e := bigExp(-2 * min(math.Abs(x), 0x1p20))
	d := fresh().Quo(fresh().Sub(number(1), e), fresh().Add(number(1), e))
	if x < 0 {
		d.Neg(d)
	}
	return d
}

// bigErf sums 2/√π e^−x² Σ 2ⁿ x²ⁿ⁺¹/(2n+1)!!, whose terms are all positive, and grow while 2x² is
// above 2n+1; 1 beyond 10, where what lacks is below 2^-144.
func bigErf(x float64) exact {
	if x < 0 {
		v := bigErf(-x)
		return v.Neg(v)
	}
	if x > 10 {
		return number(1)
	}
	square := number(x)
	square.Mul(square, square)
	twice := fresh().Add(square, square)
	sum, term := number(0), number(x)
	for n := 1; term.Sign() != 0 && (sum.Sign() == 0 || term.MantExp(nil) > sum.MantExp(nil)-precision); n++ {
		sum.Add(sum, term)
		term.Quo(term.Mul(term, twice), number(float64(2*n+1)))
	}
	return sum.Mul(sum, fresh().Mul(fresh().Sqrt(fresh().Quo(number(4), bigPi())),
		fresh().Quo(number(1), bigExpOf(square))))
}

// bigMills is φ/Φ and x + φ/Φ: below −5 by the continued fraction 1/(z + 2/(z + ...)), else by
// Φ = ½ + φ·Σ x²ⁿ⁺¹/(2n+1)!!, which is 1 beyond 20 to 2^-290. Both are asked for, one after the
// other, of the same numbers.
func bigMills(x float64) (inverse, excess exact) {
	if known, ok := mills[x]; ok {
		return known[0], known[1]
	}
	inverse, excess = bigMillsOf(x)
	mills[x] = [2]exact{inverse, excess}
	return inverse, excess
}

// bigNormalCDF is φ over φ/Φ.
func bigNormalCDF(x float64) exact {
	switch {
	case x > 30:
		return number(1)
	case x < -60:
		return number(0)
	}
	inverse, _ := bigMills(x)
	_, density := bigDensity(x)
	return density.Quo(density, inverse)
}

// bigDensity is x² and φ.
func bigDensity(x float64) (square, density exact) {
	square = number(x)
	square.Mul(square, square)
	density = bigExpOf(fresh().Quo(square, number(-2)))
	return square, density.Quo(density, fresh().Sqrt(fresh().Mul(number(2), bigPi())))
}

var mills = map[float64][2]exact{}

func bigMillsOf(x float64) (inverse, excess exact) {
	if x < -5 {
		v := fresh()
		for k := 150; k >= 1; k-- {
			v.Quo(number(float64(k)), fresh().Sub(v, number(x)))
		}
		return fresh().Sub(v, number(x)), v
	}
	if x > 60 {
		return number(0), number(x)
	}
	square, density := bigDensity(x)
	cdf := number(1)
	if x < 20 {
		sum, term := fresh(), number(x)
		for n := 1; term.Sign() != 0 && (n == 1 || term.MantExp(nil) > sum.MantExp(nil)-precision); n++ {
			sum.Add(sum, term)
			term.Quo(term.Mul(term, square), number(float64(2*n+1)))
		}
		cdf.Add(number(0.5), sum.Mul(sum, density))
	}
	inverse = density.Quo(density, cdf)
	return inverse, fresh().Add(inverse, number(x))
}

// bigLog is k·log 2 + log(1+f) with x = 2ᵏ(1+f) and 0 ≤ f < 1, or for k = −1, where the two would
// cancel, −log(1/x).
func bigLog(x float64) exact {
	switch {
	case x < 0:
		return nil
	case x == 0:
		return fresh().SetInf(true)
	case x >= 0.5 && x < 1:
		l := bigLog1p(fresh().Sub(fresh().Quo(number(1), number(x)), number(1)))
		return l.Neg(l)
	}
	m := fresh()
	k := number(x).MantExp(m) - 1
	l := bigLog1p(m.Sub(m.Add(m, m), number(1)))
	return l.Add(l, fresh().Mul(number(float64(k)), bigLn2()))
}

// ulpError returns |got − want| in units of the last place of want as a T. An overflow is right
// exactly if want rounds to it.
func ulpError[T Float](got T, want exact) float64 {
	digits, lowest, highest := 53, -1074, 1024
	if size[T]() == 4 {
		digits, lowest, highest = 24, -149, 128
	}
	top := fresh().SetMantExp(fresh().Sub(number(1), fresh().SetMantExp(number(1), -digits-1)), highest)
	if fresh().Abs(want).Cmp(top) >= 0 {
		if math.IsInf(float64(got), want.Sign()) {
			return 0
		}
		return math.Inf(1)
	}
	if math.IsInf(float64(got), 0) || got != got {
		return math.Inf(1)
	}
	unit := lowest
	if want.Sign() != 0 {
		unit = max(lowest, want.MantExp(nil)-digits)
	}
	d := fresh().Sub(number(float64(got)), want)
	e, _ := d.SetMantExp(d.Abs(d), -unit).Float64()
	return e
}

// TestBig checks the reference against values known to 30 digits.
func TestBig(t *testing.T) {
	for _, c := range []struct {
		name string
		got  exact
		want string
	}{
		{"e", bigExp(1), "2.71828182845904523536028747135266249775724709369995"},
		{"1/e", bigExp(-1), "0.36787944117144232159552377016146086744581113103176"},
		{"log 2", bigLog1pExp(0), "0.69314718055994530941723212145817656807550013436025"},
		{"tanh 1/2", bigTanh(0.5), "0.46211715726000975850231848364367254873028928033011"},
		{"erf 1", bigErf(1), "0.84270079294971486934122063508260925929606699796630"},
		{"erf -3", bigErf(-3), "-0.99997790950300141455862722387041767962015229291260"},
		{"log 10", bigLog(10), "2.30258509299404568401799145468436420760110148862877"},
		{"log 5/8", bigLog(0.625), "-0.47000362924573555365093703114834206470089904881224"},
		{"sigmoid 1", bigSigmoid(1), "0.73105857863000487925115924182183627436514464016505"},
	} {
		w, _ := testkit.Get2(big.ParseFloat(c.want, 10, precision, big.ToNearestEven))
		d := fresh().Sub(c.got, w)
		if d.Abs(d).Cmp(number(0x1p-130)) > 0 {
			t.Errorf("%s = %s; it must be %s", c.name, c.got.Text('g', 40), c.want)
		}
	}
}
