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
