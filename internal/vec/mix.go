package vec

import (
	"context"

	"dsbo"
)

// MixAdd is that of a [dsbo.AddingMixer], for any mixer: in one pass where m can. Where it cannot, and overwrites v as the end of dst, v is first copied to
// kept, which grows.
func MixAdd(ctx context.Context, m dsbo.Mixer, dst, src []float64, a float64, v []float64, kept *[]float64) error {
	if adding, ok := m.(dsbo.AddingMixer); ok {
		return adding.MixAdd(ctx, dst, src, a, v)
	}
	if IsEnd(v, dst) {
		*kept = append((*kept)[:0], v...)
		v = *kept
	}
	if err := m.Mix(ctx, dst, src); err != nil {
		return err
	}
	Axpy(dst[:len(v)], a, v)
	return nil
}

// IsEnd reports whether v is the last entries of another vector, in its memory.
func IsEnd(v, of []float64) bool {
	return len(v) > 0 && len(v) <= len(of) && &v[0] == &of[len(of)-len(v)]
}
