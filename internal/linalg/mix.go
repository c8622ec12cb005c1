package linalg

import "context"

// MixAdd is the MixAdd of [dsbo.MixerCapabilities] by a mixer's Mix. Where mix overwrites v as the
// end of dst, v is first copied to kept, which grows.
func MixAdd(ctx context.Context, mix func(ctx context.Context, dst, src []float64) error, dst, src []float64,
	a float64, v []float64, kept *[]float64) error {
	v = unaliased(v, dst, kept)
	if err := mix(ctx, dst, src); err != nil {
		return err
	}
	Axpy(dst[:len(v)], a, v)
	return nil
}

// unaliased returns v, or its copy in kept, which grows, if v is the last entries of dst, in
// its memory.
func unaliased(v, dst []float64, kept *[]float64) []float64 {
	if len(v) == 0 || len(v) > len(dst) || &v[0] != &dst[len(dst)-len(v)] {
		return v
	}
	*kept = append((*kept)[:0], v...)
	return *kept
}
