package network

import (
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

// A coded exchange is one of codes of an [Averager]: what a compressor leaves of vectors.
type coded struct {
	row         []Weight
	compressor  dsbo.Compressor
	dst         []float64 // the sum
	decoded     []float64 // one term
	words, none []float64 // the agent's code, and what an exchange makes of codes as numbers
	err         error     // of a code that came in
	by          func(dst []float64, in [][]float64)
}

// MixCompressed is MixCompressed of [dsbo.MixerCapabilities], on wire Float64 alone, since a code
// has all its digits. It sums the decoded vectors with the weights of W.
func (a *Averager) MixCompressed(ctx context.Context, dst, src []float64, c dsbo.Compressor) error {
	w := a.averages.w
	if wire := a.averages.options.Wire; wire != Float64 || w.Mixing() != (Plain{}) {
		return dsbo.ConfigErrorf(
			"compressed vectors need wire float64 and plain mixing; they have wire %v and mixing %v", wire, w.Mixing())
	}
	if len(dst) != len(src) {
		return dsbo.ShapeErrorf("dst and src must have one length; they have %d and %d", len(dst), len(src))
	}
	x := &a.coded
	x.words = c.Encode(x.words[:0], src)
	if err := c.Decode(src, x.words); err != nil {
		return err
	}
	x.row, x.compressor, x.dst, x.err = w.Row(a.id), c, dst, nil
	x.decoded = slices.Grow(x.decoded[:0], len(src))[:len(src)]
	x.none = slices.Grow(x.none[:0], len(x.words))[:len(x.words)]
	if x.by == nil {
		x.by = x.sum
	}
	if err := a.CombineBy(x.by); err != nil {
		return err
	}
	a.mixCount++
	if err := a.mix(ctx, x.none, x.words, 0, nil); err != nil {
		return err
	}
	a.sent.Floats += int64(w.Sends(a.id) * (c.Floats(len(src)) - len(x.words)))
	return x.err
}

// sum sets x.dst to the sum of the decoded vectors, term by term as [Combine].
func (x *coded) sum(dst []float64, in [][]float64) {
	clear(dst)
	for k, code := range in {
		if err := x.compressor.Decode(x.decoded, code); err != nil {
			x.err = fmt.Errorf("code of agent %d: %w", x.row[k].Agent, err)
			return
		}
		if k == 0 {
			linalg.Scale(x.dst, x.row[k].Weight, x.decoded)
		} else {
			linalg.Axpy(x.dst, x.row[k].Weight, x.decoded)
		}
	}
}
