package network

import (
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

// Capabilities implements [dsbo.Mixer]: but for AverageTerms, an Averager has all.
func (a *Averager) Capabilities() *dsbo.MixerCapabilities { return &a.also }

// Place returns the number of the agent and how many there are.
func (a *Averager) Place() (agent, agents int) { return a.id, a.averages.w.N() }

// CombineBy is CombineBy of [dsbo.MixerCapabilities].
func (a *Averager) CombineBy(by func(dst []float64, in [][]float64)) error {
	a.combination.by = by
	return nil
}

// A combination is how an [Averager] combines what it hears.
type combination struct {
	by      func(dst []float64, in [][]float64) // in the next Mix; nil: by weights
	moment                                      // of the next Mix's weights, where they change
	weights []Weight                            // of sum
	drawn   moment                              // of weights
	sum     func(dst []float64, in [][]float64) // by weights, made once; nil before the first
}

// A moment is when weights are those that they are.
type moment struct {
	at   int  // the iteration
	push bool // to push, not to pull
}

// chooseCombination sets the combination of the exchange's next Mix: CombineBy's, or the
// iteration's weights if they change. An unfinished exchange may have left another one.
func (a *Averager) chooseCombination() {
	x := &a.combination
	by := x.by
	x.by = nil
	if mixing, ok := a.averages.w.mixing.(changing); ok && by == nil {
		if x.sum == nil || x.drawn != x.moment {
			x.weights = mixing.weights(x.weights[:0], a.averages.w, a.id, a.averages.options.Seed, x.at, x.push)
			x.drawn = x.moment
		}
		if x.sum == nil {
			x.sum = func(dst []float64, in [][]float64) { Combine(dst, x.weights, in) }
		}
		by = x.sum
	}
	a.mixer.CombineBy(by) // nil is by the matrix
}

// Pull is Pull of [dsbo.MixerCapabilities]: over a graph without directions it is Mix.
func (a *Averager) Pull(ctx context.Context, k int, dst, src []float64) error {
	return a.mixAt(ctx, k, false, dst, src)
}

// Push is Push of [dsbo.MixerCapabilities]: over a graph without directions it is Mix.
func (a *Averager) Push(ctx context.Context, k int, dst, src []float64) error {
	return a.mixAt(ctx, k, true, dst, src)
}

// mixAt is Mix with the weights of iteration k.
func (a *Averager) mixAt(ctx context.Context, k int, push bool, dst, src []float64) error {
	x := &a.combination
	was := x.moment
	x.moment = moment{k, push}
	err := a.Mix(ctx, dst, src)
	x.moment = was
	return err
}

// Mix implements [dsbo.Mixer].
func (a *Averager) Mix(ctx context.Context, dst, src []float64) error {
	return a.MixAdd(ctx, dst, src, 0, nil)
}

// MixAdd is MixAdd of [dsbo.MixerCapabilities]. With error feedback it mixes src with the residual
// of the same place in the stage before, and keeps what the wire rounds off that.
func (a *Averager) MixAdd(ctx context.Context, dst, src []float64, factor float64, v []float64) error {
	o := a.averages.options
	if o.Wire == Float64 || !o.ErrorFeedback {
		a.mixCount++
		return a.mix(ctx, dst, src, factor, v)
	}
	residual := a.residual(len(src))
	for i, x := range src {
		residual[i] += x
	}
	if err := a.mix(ctx, dst, residual, factor, v); err != nil {
		return err
	}
	for i, x := range a.rounded {
		if residual[i] -= x; !isFinite(residual[i]) { // which it would stay for ever
			residual[i] = 0
		}
	}
	a.mixCount++ // not after an error: the next Mix then has the same residual
	return nil
}

// mix is MixAdd of what the wire carries of src, without error feedback. On other wires than
// Float64 a.rounded has that afterwards.
func (a *Averager) mix(ctx context.Context, dst, src []float64, factor float64, v []float64) error {
	a.chooseCombination()
	d := a.nextDraws()
	wire := a.averages.options.Wire
	if wire != Float64 {
		a.rounded = resized(a.rounded, len(src))
		wire.round(a.rounded, src, d)
		src = a.rounded
	}
	a.averages.label(ByMix, Vector{Name: a.averages.options.Mixed, Wire: wire, Dst: src})
	if err := linalg.MixAdd(ctx, a.mixer.Mix, dst, src, factor, v, &a.kept); err != nil {
		return err
	}
	a.averages.label(ByMix)
	a.sent.Add(trafficTo(a.averages.w.Sends(a.id), 1, len(src), wire.Bytes(len(src))))
	return nil
}

// resized returns n numbers of any values, in the memory of v if that is enough.
func resized(v []float64, n int) []float64 { return slices.Grow(v[:0], n)[:n] }

// residual returns the residual of the next Mix: zeros if there is none of its length.
func (a *Averager) residual(length int) []float64 {
	for len(a.residuals) <= a.mixCount {
		a.residuals = append(a.residuals, nil)
	}
	if len(a.residuals[a.mixCount]) != length {
		a.residuals[a.mixCount] = make([]float64, length)
	}
	return a.residuals[a.mixCount]
}

// State returns views of the errors that error feedback adds to later vectors, between two stages.
// It is an Averager's state for a checkpoint, beside the number of the next stage. It grows with
// the exchanges of the first stages.
func (a *Averager) State() []dsbo.Named {
	var state []dsbo.Named
	for k, r := range a.residuals {
		state = append(state, dsbo.Named{Name: fmt.Sprintf("residual of exchange %d", k), Value: r})
	}
	return state
}

// SetState sets what State returned, in this or another process, to copies of its values.
func (a *Averager) SetState(state []dsbo.Named) {
	a.residuals = nil
	for _, s := range state {
		a.residuals = append(a.residuals, slices.Clone(s.Value))
	}
}

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

// Combine sets dst = Σ_k row[k].Weight · in[k], summed in the order of k, each product
// rounded before it is added: the sum of every transport, so that all give the same bits. The
// vectors have the length of dst; none may overlap it.
func Combine(dst []float64, row []Weight, in [][]float64) {
	linalg.EachBlock(len(dst), func(from, to int) {
		part := dst[from:to]
		if len(row) == 1 {
			linalg.Scale(part, row[0].Weight, in[0][from:to])
			return
		}
		linalg.Comb(part, row[0].Weight, in[0][from:to], row[1].Weight, in[1][from:to])
		for k := 2; k < len(row); k++ {
			linalg.Axpy(part, row[k].Weight, in[k][from:to])
		}
	})
}

// A Combiner is what every transport makes of the vectors that an agent has after an exchange, by
// the weights of the matrix. It belongs to one goroutine at a time.
type Combiner struct {
	row []Weight                            // of the agent's neighbours and itself
	by  func(dst []float64, in [][]float64) // how to combine the next vectors; nil: by row
}

// Combiner returns the end of agent i.
func (m *Matrix) Combiner(i int) *Combiner { return &Combiner{row: m.rows[i]} }

// CombineBy implements [Reducer], for the next Combine.
func (c *Combiner) CombineBy(by func(dst []float64, in [][]float64)) { c.by = by }

// Combine sets dst to the agent's part of an exchange; in has the vectors of the agents in the
// order of the matrix's row. The vectors have the length of dst; none may overlap it.
func (c *Combiner) Combine(dst []float64, in [][]float64) {
	if by := c.by; by != nil {
		c.by = nil
		by(dst, in)
		return
	}
	Combine(dst, c.row, in)
}
