package models

import (
	"fmt"
	"io"
	"math"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
)

// Config is the settings of an [Oracle].
type Config struct {
	Agent   int    // number of the agent, part of every draw's name
	Seed    uint64 // seed of the draws
	Batch   int    // examples per draw; 0, or more than there are, means all
	Float32 bool   // compute in float32, but for values of f and g, which methods compare
	// Gorgonia asks Gorgonia's TapeMachine for values, gradients and products, see
	// [ad.Derivs.UseGorgonia].
	Gorgonia bool
	Keep     int // bytes of large values that a compiled loss may keep for the next product, see [ad.Func]
}

// An Oracle answers for one agent's f_i and g_i from its own data. It has all of
// [dsbo.OracleCapabilities], except Penalty if the model is not [Penalized], and GaussNewton if the
// lower loss marks no outputs ([ad.Outputs]).
type Oracle struct {
	p, q      int                 // lengths of x and y
	programs  *Programs           // compiled, shared by all agents
	low, up   side                // the lower and the upper loss
	diagonals map[int]*ad.Program // closed forms, by number of rows; nil for a model without
	double    *Oracle             // computes in float64
	also      *dsbo.OracleCapabilities
}

var _ dsbo.ValueOracle = (*Oracle)(nil)

// A side is the upper or the lower loss of an agent, with the examples that it is taken on.
type side struct {
	loss     part                        // which of the two
	cfg      Config                      // of the oracle
	ex       examples                    // of this loss
	draw     data.Sampler                // names the rows of a draw
	programs *Programs                   // shared with other agents
	losses   map[int]*ad.Derivs          // by number of rows
	whole    *ad.Derivs                  // the loss to which all examples, without masks, are bound; nil: none is
	masked   map[*ad.Program]dsbo.Sample // the draw of the masks in each program

	partition int // number of batches for which checkMeans has passed; 0: none

	memory *ad.Workspace // of all programs of the agent, which uses one at a time
}

// NewOracle returns the oracle of one agent, which shares no programs with other agents; see
// [Programs.Oracle].
func NewOracle(m Model, s data.Shard, c Config) (*Oracle, error) { return NewPrograms(m).Oracle(s, c) }

// Oracle returns the oracle of one agent. Graphs are compiled when the first of the agents uses
// them, one for each loss and batch size, so mistakes in how a model is built show then; package
// modeltest finds them all.
func (programs *Programs) Oracle(s data.Shard, c Config) (*Oracle, error) {
	m := programs.model
	if err := checkMethods(m); err != nil {
		return nil, err
	}
	if ch, ok := m.(Checker); ok {
		if err := ch.Check(s); err != nil {
			return nil, fmt.Errorf("agent %d: %w", c.Agent, err)
		}
	}
	p, q := m.Dims()
	if p < 1 || q < 1 {
		return nil, dsbo.ShapeErrorf("p and q of a model must be at least 1; they are %d and %d", p, q)
	}
	if c.Batch < 0 {
		return nil, dsbo.ConfigErrorf("batch must be at least 0 (all examples); it is %d", c.Batch)
	}
	if joint, ok := m.(Joint); ok && joint.Joint() && c.Batch > 0 {
		return nil, dsbo.ConfigErrorf("-batch must be 0 with survival times, whose risk sets have all rows: a draw "+
			"would have others; it is %d", c.Batch)
	}
	memory := programs.Workspace()
	o := &Oracle{p: p, q: q, programs: programs, diagonals: map[int]*ad.Program{}}
	for _, of := range []struct {
		side *side
		loss part
		ex   data.Examples
	}{{&o.low, lowerLoss, s.Train}, {&o.up, upperLoss, s.Val}} {
		ex, err := newExamples(of.ex, c.Float32)
		if err != nil {
			return nil, fmt.Errorf("agent %d, %s loss: %w", c.Agent, of.loss, err)
		}
		*of.side = side{loss: of.loss, cfg: c, ex: ex, draw: data.Sampler{Seed: c.Seed, Agent: c.Agent, Batch: c.Batch},
			programs: programs, losses: map[int]*ad.Derivs{}, masked: map[*ad.Program]dsbo.Sample{}, memory: memory}
	}
	if masked, ok := m.(Masked); ok {
		o.low.ex.masks = masked.Masks()
		if err := checkMasks(o.low.ex.masks, o.low.ex.tables); err != nil {
			return nil, fmt.Errorf("agent %d: %w", c.Agent, err)
		}
	}
	o.double = o
	if c.Float32 { // values of f and g are always computed in float64, on the same draws
		c.Float32 = false
		var err error
		if o.double, err = programs.Oracle(s, c); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// Capabilities implements [dsbo.Oracle].
func (o *Oracle) Capabilities() *dsbo.OracleCapabilities {
	if o.also != nil {
		return o.also
	}
	o.also = &dsbo.OracleCapabilities{Of: o, Values: o.Values, LowerJointGrad: o.LowerJointGrad, Batch: o.Batch,
		Hessian: o.Hessian, Jacobian: o.Jacobian, Diagonal: o.Diagonal}
	if _, ok := o.programs.model.(Penalized); ok {
		o.also.Penalty = o.penalty
	}
	// an error can be ignored here: a loss that cannot be compiled fails with each question, too
	_, rows := o.low.rowsOf(dsbo.Sample{})
	loss, err := o.programs.differentiate(lowerLoss, &o.low.ex, rows, o.low.cfg, o.low.memory)
	if err == nil && loss.MarksOutputs() {
		o.also.GaussNewton = o.gaussNewton
	}
	return o.also
}

// Double returns the oracle of the same agent and draws that computes in float64; o itself if it
// does. The two belong to one goroutine at a time together.
func (o *Oracle) Double() *Oracle { return o.double }

// rowsOf returns the rows of a draw (nil: all) and their number.
func (s *side) rowsOf(name dsbo.Sample) (idx []int, rows int) {
	if name.Set == dsbo.Whole || s.ex.rows == 0 {
		return nil, s.ex.rows
	}
	if idx = s.draw.Draw(name, s.ex.rows); idx != nil {
		return idx, len(idx)
	}
	return nil, s.ex.rows
}

// derivatives returns the compiled loss with the draw's rows bound. s.whole is the loss while all
// examples are bound to it: with many agents, looking it up again would miss every cache. A loss
// with masks is never kept there, as masks need binding; and a draw of as many rows as there are
// examples shares the compiled loss, so binding the draw resets s.whole.
func (s *side) derivatives(name dsbo.Sample) (d *ad.Derivs, err error) {
	idx, rows := s.rowsOf(name)
	isAll := idx == nil
	if isAll && s.whole != nil {
		return s.whole, nil
	}
	if d = s.losses[rows]; d == nil {
		if d, err = s.programs.differentiate(s.loss, &s.ex, rows, s.cfg, s.memory); err != nil {
			return nil, err
		}
		s.losses[rows] = d
	}
	if err = s.bind(d.Program, name, idx, rows); err == nil && isAll && len(s.ex.masks) == 0 {
		s.whole = d
	} else if d == s.whole {
		s.whole = nil
	}
	return d, err
}

// answer asks a question about the loss on a draw.
func (s *side) answer(name dsbo.Sample, question func(d *ad.Derivs) error) error {
	d, err := s.derivatives(name)
	if err == nil {
		err = question(d)
	}
	return s.failure(err)
}

// WriteModel writes a readable listing of the losses, and of the steps of a gradient and the
// products on one draw. With dot it writes pictures of each loss and its gradients in Graphviz's
// language. See [ad.Derivs.Listing] and [ad.Derivs.WriteDOT].
func (o *Oracle) WriteModel(w io.Writer, dot bool) error {
	for _, s := range []*side{&o.up, &o.low} {
		d, err := s.derivatives(dsbo.Sample{})
		if err == nil && dot {
			err = d.WriteDOT(w, string(s.loss), ad.GradientOf)
		}
		for _, of := range []ad.Derivative{ad.LossOf, ad.GradientOf, ad.MixedHVPOf, ad.HVPOf} {
			isAsked := s == &o.low || of <= ad.GradientOf // methods take no products of the upper loss
			if err != nil || dot || !isAsked {
				break
			}
			var l ad.Listing
			if l, err = d.Listing(of); err == nil {
				_, err = fmt.Fprintf(w, "The %s loss: %v\n", s.loss, l)
			}
		}
		if err != nil {
			return s.failure(err)
		}
	}
	return nil
}

// failure names the agent and the loss of an error.
func (s *side) failure(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("agent %d, %s loss: %w", s.cfg.Agent, s.loss, err)
}

// Batch is Batch of [dsbo.OracleCapabilities]. The mean of the answers over the batches, by their
// shares, must be the answer on all examples: losses that are sums over examples are an error that
// matches [dsbo.ErrConfig], found by values at the first question.
func (o *Oracle) Batch(s dsbo.Sample, n int) (batch dsbo.Sample, share float64, err error) {
	side, set := &o.low, dsbo.LowerBatch
	if s.Set == dsbo.Upper || s.Set == dsbo.UpperBatch {
		side, set = &o.up, dsbo.UpperBatch
	}
	rows := side.ex.rows
	if n < 1 || n > rows && rows > 0 { // a model that carries its own numbers has no rows to run out of
		return batch, 0, side.failure(dsbo.ConfigErrorf(
			"a partition must have 1 to %d batches, as there are examples; it has %d", rows, n))
	}
	batch = s
	if s.Set != set {
		batch = dsbo.Sample{Set: set, K: side.draw.BatchOf(s, n), T: n}
	}
	if rows == 0 {
		return batch, 1 / float64(n), nil
	}
	if err := side.checkMeans(set, n, o.p, o.q); err != nil {
		return batch, 0, side.failure(err)
	}
	return batch, side.share(batch.K, n), nil
}

// share returns a batch's share of the examples.
func (s *side) share(batch, n int) float64 {
	return float64(data.BatchSize(batch, n, s.ex.rows)) / float64(s.ex.rows)
}

// checkMeans returns an error unless the loss on all examples is the mean of its values on the
// batches of a partition in n, weighted by their shares. It compares them when n is another than
// before, at x = 0 and a y other than 0, where some losses vanish.
func (s *side) checkMeans(set dsbo.Set, n, p, q int) error {
	if s.partition == n {
		return nil
	}
	x, y := make([]float64, p), make([]float64, q)
	linalg.Fill(y, 0.1)
	value := func(name dsbo.Sample) (float64, error) {
		d, err := s.derivatives(name)
		if err != nil {
			return 0, err
		}
		return d.Value(x, y)
	}
	whole, err := value(dsbo.Sample{})
	mean := 0.0
	for b := 0; b < n && err == nil; b++ {
		var part float64
		part, err = value(dsbo.Sample{Set: set, K: b, T: n})
		mean += float64(s.share(b, n) * part)
	}
	if err != nil {
		return err
	}
	if math.Abs(mean-whole) > 0.1*math.Abs(whole) { // the mean of sums is whole/n; masks change it less
		return dsbo.ConfigErrorf("batches of a partition need losses that are means over examples "+
			"(-reduce mean, models.Logistic.Mean); on all examples the loss is %.4g, its mean over %d batches %.4g",
			whole, n, mean)
	}
	s.partition = n
	return nil
}

// Dims implements [dsbo.Oracle].
func (o *Oracle) Dims() (p, q int) { return o.p, o.q }

// UpperGrad implements [dsbo.Oracle].
func (o *Oracle) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	return o.up.answer(s, func(d *ad.Derivs) error { return d.Grad(dx, dy, x, y) })
}

// LowerGrad implements [dsbo.Oracle].
func (o *Oracle) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	if q := o.q; len(dst) != q { // nil too, which Grad would skip
		return dsbo.ShapeErrorf("dst must have q = %d numbers, as ∇_y g has; it has %d", q, len(dst))
	}
	return o.low.answer(s, func(d *ad.Derivs) error { return d.Grad(nil, dst, x, y) })
}

// LowerJointGrad is LowerJointGrad of [dsbo.OracleCapabilities].
func (o *Oracle) LowerJointGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	return o.low.answer(s, func(d *ad.Derivs) error { return d.Grad(dx, dy, x, y) })
}

// HVP implements [dsbo.Oracle].
func (o *Oracle) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.low.answer(s, func(d *ad.Derivs) error { return d.HVP(dst, x, y, v) })
}

// HVPs is HVP for many vectors, in products of matrices: those in vs, and their products in dst,
// are one after another.
func (o *Oracle) HVPs(dst, x, y, vs []float64, s dsbo.Sample) error {
	return o.low.answer(s, func(d *ad.Derivs) error { return d.HVPs(dst, x, y, vs) })
}

// gaussNewton is GaussNewton of [dsbo.OracleCapabilities].
func (o *Oracle) gaussNewton(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.low.answer(s, func(d *ad.Derivs) error { return d.GaussNewton(dst, x, y, v) })
}

// JVP implements [dsbo.Oracle].
func (o *Oracle) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.low.answer(s, func(d *ad.Derivs) error { return d.JVP(dst, x, y, v) })
}

// Hessian is Hessian of [dsbo.OracleCapabilities].
func (o *Oracle) Hessian(dst, x, y []float64, s dsbo.Sample) error {
	return o.low.answer(s, func(d *ad.Derivs) error { return d.Hessian(dst, x, y) })
}

// Jacobian is Jacobian of [dsbo.OracleCapabilities].
func (o *Oracle) Jacobian(dst, x, y []float64, s dsbo.Sample) error {
	return o.low.answer(s, func(d *ad.Derivs) error { return d.Jacobian(dst, x, y) })
}

// Values implements [dsbo.ValueOracle]. It computes in float64.
func (o *Oracle) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	if upper, err = o.double.up.value(x, y, s); err == nil {
		lower, err = o.double.low.value(x, y, s)
	}
	return upper, lower, err
}

// LowerValue returns g_i(x, y) on all examples, as Values does.
func (o *Oracle) LowerValue(x, y []float64) (float64, error) {
	return o.double.low.value(x, y, dsbo.Sample{Set: dsbo.Whole})
}

// LowerValueGrad is LowerValue, and writes ∇_y g_i(x, y) to dst, in one pass.
func (o *Oracle) LowerValueGrad(dst, x, y []float64) (value float64, err error) {
	side := &o.double.low
	d, err := side.derivatives(dsbo.Sample{Set: dsbo.Whole})
	if err == nil {
		value, err = d.ValueGrad(nil, dst, x, y)
	}
	return value, side.failure(err)
}

// value returns the loss.
func (s *side) value(x, y []float64, of dsbo.Sample) (v float64, err error) {
	d, err := s.derivatives(of)
	if err == nil {
		v, err = d.Value(x, y)
	}
	return v, s.failure(err)
}
