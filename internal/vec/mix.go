package vec

import (
	"context"

	"dsbo"
)

// MixAdd sets dst to what m mixes of src, and adds a·v to its first entries, as many as v has: in one pass where m can. v must not
// overlap dst.
func MixAdd(ctx context.Context, m dsbo.Mixer, dst, src []float64, a float64, v []float64) error {
	if adding, ok := m.(dsbo.AddingMixer); ok {
		return adding.MixAdd(ctx, dst, src, a, v)
	}
	if err := m.Mix(ctx, dst, src); err != nil {
		return err
	}
	Axpy(dst[:len(v)], a, v)
	return nil
}
