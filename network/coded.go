package network

import (
	"context"
	"fmt"

	"dsbo"
	"dsbo/internal/linalg"
)

// A coded exchange is one of codes of an [Averager]: what a compressor leaves of vectors. An
// exchange moves codes as vectors, whose combination decodes and sums them.
type coded struct {
	row        []Weight
	compressor dsbo.Compressor
	dst        []float64                           // the sum of the decoded vectors
	decoded    []float64                           // one term
	code       []float64                           // of the agent's vector
	unused     []float64                           // where an exchange puts its combination, of the code's length
	err        error                               // of a code that came in
	by         func(dst []float64, in [][]float64) // sum, made once, as each method value takes memory
}

// MixCompressed is MixCompressed of [dsbo.MixerCapabilities], on wire Float64 alone, since a code
// has all its digits. It sums the decoded vectors with the weights of W, and leaves in src what the
// agent's own code is decoded to, as its neighbours have it.
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
	x.code = c.Encode(x.code[:0], src)
	if err := c.Decode(src, x.code); err != nil {
		return err
	}
	x.row, x.compressor, x.dst, x.err = w.Row(a.id), c, dst, nil
	x.decoded, x.unused = resized(x.decoded, len(src)), resized(x.unused, len(x.code))
	if x.by == nil {
		x.by = x.sum
	}
	a.combination.by = x.by
	a.mixCount++
	if err := a.mix(ctx, x.unused, x.code, 0, nil); err != nil {
		return err
	}
	// mix has counted all of the code as numbers; some of it may be their places
	a.sent.Floats += int64(w.Sends(a.id) * (c.Floats(len(src)) - len(x.code)))
	return x.err
}

// sum sets x.dst to the sum of the decoded vectors, term by term as [Combine]. dst, which the
// transport looks at, is 0. A neighbour's code that cannot be decoded is x.err.
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
