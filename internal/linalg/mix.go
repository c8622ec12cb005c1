package linalg

import (
	"context"

	"dsbo"
)

// MixAdd is the MixAdd of a [dsbo.AddingMixer], for any mixer: in one pass where m can. Where it
// cannot, and overwrites v as the end of dst, v is first copied to kept, which grows.
func MixAdd(ctx context.Context, m dsbo.Mixer, dst, src []float64, a float64, v []float64, kept *[]float64) error {
	if adding, ok := m.(dsbo.AddingMixer); ok {
		return adding.MixAdd(ctx, dst, src, a, v)
	}
	v = Unaliased(v, dst, kept)
	if err := m.Mix(ctx, dst, src); err != nil {
		return err
	}
	Axpy(dst[:len(v)], a, v)
	return nil
}

// Unaliased returns v, or its copy in kept, which grows, if v is the last entries of dst, in
// its memory.
func Unaliased(v, dst []float64, kept *[]float64) []float64 {
	if len(v) == 0 || len(v) > len(dst) || &v[0] != &dst[len(dst)-len(v)] {
		return v
	}
	*kept = append((*kept)[:0], v...)
	return *kept
}
