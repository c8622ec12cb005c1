package peer

import (
	"time"

	"dsbo/internal/num"
)

// A draw is a random number with a name, of which more can be derived.
type draw uint64

// of returns the draw of a name and numbers below this one.
func (d draw) of(name string, numbers ...int64) draw {
	h := uint64(d)
	for _, c := range []byte(name) {
		h = num.SplitMix(h ^ uint64(c))
	}
	for _, n := range numbers {
		h = num.SplitMix(h ^ uint64(n))
	}
	return draw(num.SplitMix(h))
}

// now returns the draw of a name and an agent at this moment.
func (d draw) now(name string, agent int) draw {
	return d.of(name, int64(agent), int64(time.Since(begin)))
}

// uniform is in [0, 1).
func (d draw) uniform() float64 { return float64(uint64(d)>>11) / (1 << 53) }

// below is one of 0, ..., n−1.
func (d draw) below(n int) int { return int(uint64(d) % uint64(n)) }

// chance reports an event of this probability.
func (d draw) chance(p float64) bool { return d.uniform() < p }

// between is a duration from low to high, each order of magnitude as likely as any other.
func (d draw) between(low, high time.Duration) time.Duration {
	return time.Duration(float64(low) * num.Exp(d.uniform()*num.Log(float64(high)/float64(low))))
}

// among is one of several things.
func among[T any](d draw, list ...T) T { return list[d.below(len(list))] }
