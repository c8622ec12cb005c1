package experiment

import "math/rand/v2"

// gridBits is the number of bits in which the deviation of noise is counted: it is 2^gridBits units
// of the grid.
const gridBits = 20

// discreteGaussian draws from the discrete Gaussian distribution of deviation σ = 2^gridBits: of
// the whole number n with probability proportional to e^{−n²/(2σ²)}, without any rounding (Canonne,
// Kamath, Steinke 2020, algorithm 3): a draw y of the discrete Laplace distribution of scale σ is
// taken with probability e^{−(|y| − σ)²/(2σ²)}.
func discreteGaussian(r *rand.Rand) int64 {
	for {
		size, negative := discreteLaplace(r)
		off := int64(size) - 1<<gridBits // |y| − σ
		// |off| reaches 2^31 with probability e^-2048: its square stays below 2^62 in all draws
		// that anybody will see.
		if bernoulliExp(r, uint64(off*off), 2*gridBits+1) { // 2σ² is 2 to this power
			if negative {
				return -int64(size)
			}
			return int64(size)
		}
	}
}

// discreteLaplace draws a whole number n, as size and sign, with probability proportional to
// e^{−|n|/2^gridBits}. The low gridBits bits of the size are a uniform u accepted with probability
// e^{−u/2^gridBits}; the high bits count the successes, until the first failure, of draws with
// probability 1/e.
func discreteLaplace(r *rand.Rand) (size uint64, negative bool) {
	for {
		size = r.Uint64() >> (64 - gridBits)
		if !bernoulliExp(r, size, gridBits) {
			continue
		}
		for bernoulliExp(r, 1, 0) {
			size += 1 << gridBits
		}
		negative = r.Uint64()>>63 == 1
		if size > 0 || !negative { // else 0 would be drawn twice as often
			return size, negative
		}
	}
}

// bernoulliExp returns true with probability e^{−γ}, where γ = numerator/2^shift, using only exact
// draws of rational probability (Canonne, Kamath, Steinke 2020, algorithm 1).
func bernoulliExp(r *rand.Rand, numerator uint64, shift int) bool {
	one := uint64(1) << shift
	for ; numerator > one; numerator -= one { // e^{−γ} = e^{−1} e^{−(γ−1)}
		if !bernoulliExp(r, one, shift) {
			return false
		}
	}
	// With γ ≤ 1, the first k at which a draw of probability γ/k fails is odd with
	// probability e^{−γ}.
	for k := uint64(1); ; k++ {
		if !bernoulli(r, numerator, k, shift) {
			return k%2 == 1
		}
	}
}

// bernoulli is true with probability numerator/(k·2^shift), for a numerator of at most 2^shift.
func bernoulli(r *rand.Rand, numerator, k uint64, shift int) bool {
	// A draw from k·2^shift numbers is one of k, and one of 2^shift: it is below the numerator only
	// if the first one is 0.
	return r.Uint64N(k) == 0 && (numerator>>shift == 1 || r.Uint64()&(1<<shift-1) < numerator)
}
