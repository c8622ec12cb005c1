package num

import "math"

// studentMost is the number of degrees of freedom above which Student's distribution is taken as
// this one's, whose quantiles differ from the normal ones by 1e-5.
const studentMost = 100_000

// StudentTail returns the probability of a number above t in Student's distribution with n ≥ 1
// degrees of freedom, to 1e-14, by its finite sum of n/2 terms (Abramowitz and Stegun, 26.7.3 and
// 26.7.4). NaN with fewer degrees.
func StudentTail(t float64, n int) float64 {
	if n < 1 {
		return math.NaN()
	}
	n = min(n, studentMost)
	ratio := t / math.Sqrt(float64(n))
	square := 1 / (1 + float64(ratio*ratio)) // squared cosine of the angle with tangent ratio
	term := float64(ratio * math.Sqrt(square))
	inside, rest := 0.0, 1.0
	if n%2 == 1 {
		inside, rest, term = float64(2/math.Pi*Atan(ratio)), 2/math.Pi, term*math.Sqrt(square)
	}
	for k := 2 + n%2; k <= n; k += 2 {
		inside += float64(rest * term)
		term *= float64(square) * float64(k-1) / float64(k)
	}
	return (1 - inside) / 2
}

// StudentQuantile returns the number below which a share p of Student's distribution with n degrees
// of freedom lies, p from ½ to below 1: 1.96 of 0.975 where n is large. NaN with fewer than one
// degree.
func StudentQuantile(p float64, n int) float64 {
	if n < 1 {
		return math.NaN()
	}
	low, high := 0.0, 1.0
	for StudentTail(high, n) > 1-p {
		low, high = high, 2*high
	}
	for range 50 { // bisection to about the last bit
		if middle := (low + high) / 2; StudentTail(middle, n) > 1-p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
