package networktest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
)

// What is added to a mixture of float32.
const (
	nothing  = iota
	another  // a vector of its own, as long as that which is mixed
	lastHalf // of the vector to which it is added
)

// A mixture32 is an exchange of float32 by all agents, and what it must give.
type mixture32 struct {
	length, added int
	inPlace       bool
	src, dst, v   [][]float32 // dst: before
	want          [][]float32
}

const factor32 = -0.3 // no float32

// mixtures32 returns exchanges of short vectors and, of few agents, of some that are summed in other ways as they are long.
func (x *exchange) mixtures32() (all []mixture32) {
	lengths := []int{1, 63, 1000}
	if x.w.N() <= 3 {
		lengths = append(lengths, 1<<16+3)
	}
	for _, length := range lengths {
		for added := range lastHalf + 1 {
			for _, inPlace := range []bool{false, true} {
				all = append(all, x.mixture32(mixture32{length: length, added: added, inPlace: inPlace}, len(all)))
			}
		}
	}
	return all
}

// mixture32 draws the vectors of the exchange of a round, and says what it must give: the same in float64, rounded.
func (x *exchange) mixture32(m mixture32, round int) mixture32 {
	wide := vectors(x.w.N(), m.length, round)
	other := vectors(x.w.N(), m.length, round+1000)
	m.src, m.dst, m.v = make([][]float32, len(wide)), make([][]float32, len(wide)), make([][]float32, len(wide))
	for i := range wide {
		m.src[i], m.dst[i] = rounded(wide[i]), rounded(other[i])
		if m.length >= 63 {
			m.src[i][40], m.src[i][41+i%3] = float32(math.NaN()), float32(math.Inf(1-2*(i%2)))
		}
		linalg.Convert(wide[i], m.src[i])
		if m.inPlace {
			m.dst[i] = m.src[i]
		}
		m.v[i] = [][]float32{nil, rounded(other[i]), m.dst[i][m.length-m.length/2:]}[m.added]
	}
	for i, sum := range Product(x.w, wide) {
		for e, v := range m.v[i] {
			sum[e] += float64(m.factor() * float64(v))
		}
		m.want = append(m.want, rounded(sum))
	}
	return m
}

func (m *mixture32) factor() float64 {
	if m.added == nothing {
		return 0
	}
	return factor32
}

func rounded(v []float64) []float32 {
	narrow := make([]float32, len(v))
	linalg.Convert(narrow, v)
	return narrow
}

// run makes the exchange of agent i.
func (m *mixture32) run(ctx context.Context, mixer dsbo.Mixer, i int, w *linalg.Widening) error {
	src, v := slices.Clone(m.src[i]), m.v[i]
	dst := src
	if !m.inPlace {
		dst = slices.Clone(m.dst[i])
	}
	if m.added == lastHalf {
		v = dst[m.length-m.length/2:]
	}
	if err := w.MixAdd32(ctx, mixer, dst, src, m.factor(), v); err != nil {
		return err
	}
	for e, want := range m.want[i] {
		if got := dst[e]; math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) { // of a NaN's bits nothing is said
			return fmt.Errorf("%d numbers, case %d of what is added, in place %v: entry %d is %v; it must be %v", m.length, m.added, m.inPlace, e, got, want)
		}
		if !m.inPlace && math.Float32bits(src[e]) != math.Float32bits(m.src[i][e]) {
			return fmt.Errorf("entry %d of src is %v after the exchange; it was %v", e, src[e], m.src[i][e])
		}
	}
	return nil
}

// testFloat32 exchanges float32, in the mixer's own way if it has one.
func testFloat32(t *testing.T, x *exchange) {
	mixtures := x.mixtures32()
	x.mustSucceed(t, func(ctx context.Context, i int, m dsbo.Mixer) error {
		var w linalg.Widening
		for k := range mixtures {
			if err := mixtures[k].run(ctx, m, i, &w); err != nil {
				return err
			}
		}
		return nil
	})
}

// mixStep32 is mixStep of float32.
func mixStep32(dst, src int) step {
	return func(ctx context.Context, m dsbo.Mixer) error {
		return new(linalg.Widening).MixAdd32(ctx, m, make([]float32, dst), make([]float32, src), 0, nil)
	}
}

func testFloat32LengthOfDst(t *testing.T, x *exchange) {
	x.wantAll(t, x.allStep(Context(t), mixStep32(3, 4)), dsbo.ErrShape)
}
