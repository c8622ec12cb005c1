package linalg

import (
	"context"

	"dsbo"
)

// MixAdd is that of a [dsbo.AddingMixerIn], for any mixer: in one pass where m can. Where it cannot, and overwrites v as the end of dst, v is first copied to
// kept, which grows.
func MixAdd[T dsbo.Float](ctx context.Context, m dsbo.MixerIn[T], dst, src []T, a float64, v []T, kept *[]T) error {
	if adding, ok := m.(dsbo.AddingMixerIn[T]); ok {
		return adding.MixAdd(ctx, dst, src, a, v)
	}
	v = Apart(v, dst, kept)
	if err := m.Mix(ctx, dst, src); err != nil {
		return err
	}
	Axpy(dst[:len(v)], a, v)
	return nil
}

// Apart returns v, or its copy in kept, which grows, if v is the last entries of dst, in its memory.
func Apart[T dsbo.Float](v, dst []T, kept *[]T) []T {
	if len(v) == 0 || len(v) > len(dst) || &v[0] != &dst[len(dst)-len(v)] {
		return v
	}
	*kept = append((*kept)[:0], v...)
	return *kept
}

// A Widening is memory for exchanges of float32 by a mixer of float64.
type Widening struct{ mixed, added []float64 }

// MixAdd32 is that of a [dsbo.Float32Mixer], for any mixer.
func (w *Widening) MixAdd32(ctx context.Context, m dsbo.Mixer, dst, src []float32, a float64, v []float32) error {
	if m, ok := m.(dsbo.Float32Mixer); ok {
		return m.MixAdd32(ctx, dst, src, a, v)
	}
	return w.ByFloat64(ctx, m, dst, src, a, v)
}

// ByFloat64 is MixAdd32 by conversions, whatever m can do.
func (w *Widening) ByFloat64(ctx context.Context, m dsbo.Mixer, dst, src []float32, a float64, v []float32) error {
	wide, added := Widened(&w.mixed, src), Widened(&w.added, v)
	mixed := wide
	if len(dst) != len(src) { // which is for m to say, so that its other agents know
		mixed = make([]float64, len(dst))
	}
	if err := MixAdd(ctx, m, mixed, wide, a, added, nil); err != nil {
		return err
	}
	Convert(dst, mixed)
	return nil
}
