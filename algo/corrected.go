package algo

import "dsbo/internal/linalg"

// A corrected block is one variable under a heterogeneity correction, in the form that sends least.
// All are v⁺ = C(Av − g) − D, D⁺ = D + B² v⁺, where g contains its step, rewritten without D:
//
//	ed     A=I, C=W,  B²=I−W       v⁺ = mix(2v − v₋ − (g − g₋))      first mix(v − g)
//	extra  A=W, C=I,  B²=I−W       v⁺ = mix(2v − v₋) − (g − g₋)      first mix(v) − g
//	gt     A=I, C=W², B²=(I−W)²    t ← mix(t + g − g₋), v⁺ = mix(v − t)
//	none   A=I, C=W,  B²=0         v⁺ = mix(v − g)
//
// last and memory start at zero, from which the general line gives the first one.
type corrected struct {
	kind   string
	v      []float64 // the variable, a view
	last   []float64 // extra, gt: g₋
	memory []float64 // ed: v − (v₋ − g₋); extra: v − v₋; gt: t
	out    []float64 // scratch: the vector to mix
}

// newCorrected makes the block of a variable, whose memory is part of the state.
func newCorrected(s *state, kind, name string, v []float64) corrected {
	n := len(v)
	c := corrected{
		kind: kind, v: v, last: s.carried(name+"_last", n), memory: s.carried(name+"_memory", n), out: s.newVec(n),
	}
	if kind == "gt" {
		s.tracks(c.memory, c.last)
	} else {
		s.restarts(c.last, c.memory) // their sums over the agents must be 0 at the start
	}
	return c
}

// step sets v to v⁺ by the line of its kind in the type's comment, and updates last and memory. g
// is the direction times the step size; it may be overwritten.
func (c *corrected) step(w *Turn, g []float64) {
	switch c.kind {
	case "ed":
		linalg.Sub(g, c.v, g) // ψ = v − g
		linalg.Add(c.out, g, c.memory)
		w.Mix(c.v, c.out)
		linalg.Sub(c.memory, c.v, g)
	case "extra":
		linalg.Add(c.out, c.v, c.memory)
		w.Mix(c.out, c.out)
		copy(c.memory, c.v)
		for i, gi := range g {
			c.v[i] = c.out[i] - (gi - c.last[i])
		}
		linalg.Sub(c.memory, c.v, c.memory)
		copy(c.last, g)
	case "gt":
		for i, gi := range g {
			c.out[i] = c.memory[i] + gi - c.last[i]
		}
		copy(c.last, g)
		w.Mix(c.memory, c.out)
		linalg.Sub(c.out, c.v, c.memory)
		w.Mix(c.v, c.out)
	default:
		linalg.Sub(c.out, c.v, g)
		w.Mix(c.v, c.out)
	}
}

// vectorsSent returns the number of vectors that a step of a corrected block sends.
func vectorsSent(kind string) int {
	if kind == "gt" {
		return 2
	}
	return 1
}
