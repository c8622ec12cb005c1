package nn

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// A Build makes a node of the parameters z, the features x and the targets t of a batch, which are
// nil where the examples have none.
type Build func(z, x, t *ad.Node) *ad.Node

// A Trainer fits the parameters of a network to examples, in float32, without a bilevel problem. It
// belongs to one goroutine at a time.
type Trainer struct {
	Z     []float32 // the parameters
	Masks []*Mask   // that the loss takes; they stay the same from the first epoch on
	// MaxNorm is the largest norm of a gradient; a longer one is shortened to it, as PyTorch's
	// clip_grad_norm_ does. 0: any.
	MaxNorm float64

	params    *Params   // the layout of Z
	optimizer Optimizer // moves Z along grad
	batch     int       // examples of a step, at most
	seed      uint64    // of the order of examples
	loss      Build     // the mean over a batch
	sizes     *ad.Sizes // a program for each length of a batch
	grad      []float32 // of the present batch
	epochs    uint64    // how many are over
	averages  []average // of each RunningNorm
}

// An average is a parameter that follows batches, and its next value.
type average struct {
	Param
	next []float32
}

// followed is by which share of the difference an average follows a batch.
const followed = .1

// NewTrainer returns a trainer of parameters from their start, by a loss that is a mean over the
// examples of a batch.
func NewTrainer(ps *Params, o Optimizer, batch int, seed uint64, loss Build) *Trainer {
	t := &Trainer{params: ps, optimizer: o, batch: batch, seed: seed, loss: loss, Z: make([]float32, ps.Len()),
		grad: make([]float32, ps.Len())}
	start := make([]float64, ps.Len())
	ps.Init(start, seed)
	for i, v := range start {
		t.Z[i] = float32(v)
	}
	for _, p := range ps.list {
		if strings.Contains(p.Name, running) {
			t.averages = append(t.averages, average{p, make([]float32, p.Len())})
		}
	}
	return t
}

// Epoch visits all examples once, in an order drawn from the seed and the epoch's number, and
// returns the mean loss over the examples. The last batch may be smaller.
func (t *Trainer) Epoch(e data.Examples) (loss float64, err error) {
	if err := t.params.Err(); err != nil {
		return 0, err
	}
	if t.batch < 1 || e.Len() == 0 {
		return 0, dsbo.ConfigErrorf("there must be at least 1 example, and 1 a batch; there are %d and %d",
			e.Len(), t.batch)
	}
	if t.sizes == nil {
		t.sizes = ad.NewSizes(ad.Loss{Q: len(t.Z), Inputs: slices.Concat(inputsOf(e), maskInputs(t.Masks)),
			Float32: true, Build: t.build})
	}
	// the number of the epoch names its order and its masks
	order, draw := rand.New(rand.NewPCG(t.seed, t.epochs)).Perm(e.Len()), dsbo.Sample{K: int(t.epochs)}
	t.epochs++
	for all := float64(len(order)); len(order) > 0; draw.T++ {
		rows := order[:min(t.batch, len(order))]
		order = order[len(rows):]
		d, err := t.sizes.Derivs(len(rows))
		if err != nil {
			return 0, err
		}
		if err := bind(d.Program, e, rows); err != nil {
			return 0, err
		}
		if err := t.bindMasks(d.Program, draw, len(rows)); err != nil {
			return 0, err
		}
		value, err := d.Float32().ValueGrad(nil, t.grad, nil, t.Z)
		if err != nil {
			return 0, err
		}
		t.step()
		loss += float64(float64(value) * float64(len(rows)) / all)
	}
	return loss, nil
}

// step moves the parameters by the optimizer, and the averages of batches by what they differ from
// this one, which their part of the gradient is. Neither MaxNorm nor the optimizer sees that part,
// and what the optimizer makes of averages, such as decay, is overwritten.
func (t *Trainer) step() {
	for _, a := range t.averages {
		z, g := t.Z[a.Offset:], t.grad[a.Offset:][:a.Len()]
		for j := range g {
			a.next[j] = z[j] - float32(followed*g[j])
		}
		clear(g)
	}
	t.shorten()
	t.optimizer.Step(t.Z, t.grad)
	for _, a := range t.averages {
		copy(t.Z[a.Offset:], a.next)
	}
}

// shorten keeps the gradient within MaxNorm.
func (t *Trainer) shorten() {
	if t.MaxNorm <= 0 {
		return
	}
	squares := 0.
	for _, g := range t.grad {
		squares += float64(float64(g) * float64(g))
	}
	if factor := t.MaxNorm / (math.Sqrt(squares) + 1e-6); factor < 1 {
		for i := range t.grad {
			t.grad[i] *= float32(factor)
		}
	}
}

// Mean returns the mean entry of the node that build makes of all examples, such as [ad.RowHit] of
// scores.
func (t *Trainer) Mean(e data.Examples, build Build) (float64, error) {
	var mean [1]float32
	err := t.evaluate(mean[:], e, func(z *ad.Node, in []*ad.Node) []*ad.Node {
		return []*ad.Node{ad.Mean(build.of(z, in))}
	})
	return float64(mean[0]), err
}

// Moments returns the means and variances, over all examples, of the width columns, or channels,
// that build makes. For [BatchNorm.Fixed], call it on the trained network for the first such layer
// first.
func (t *Trainer) Moments(e data.Examples, width int, build Build) (mean, variance []float32, err error) {
	all := make([]float32, 2*width)
	err = t.evaluate(all, e, func(z *ad.Node, in []*ad.Node) []*ad.Node {
		_, mean, variance := moments(build.of(z, in), width)
		return []*ad.Node{mean, variance}
	})
	return all[:width], all[width:], err
}

// evaluate writes values of all examples to dst.
func (t *Trainer) evaluate(dst []float32, e data.Examples, build func(z *ad.Node, in []*ad.Node) []*ad.Node) error {
	p, err := ad.Compile(ad.Func{Q: len(t.Z), Rows: e.Len(), Inputs: inputsOf(e), Float32: true,
		Build: func(_, z *ad.Node, in []*ad.Node) []*ad.Node { return build(z, in) }})
	if err != nil {
		return err
	}
	if err := bind(p, e, nil); err != nil {
		return err
	}
	return p.Eval32(dst, nil, t.Z)
}

// build builds the loss of a batch, which has masks.
func (t *Trainer) build(_, z *ad.Node, in []*ad.Node) *ad.Node {
	for k, m := range t.Masks {
		m.node = in[len(in)-len(t.Masks)+k]
		defer func() { m.node = nil }()
	}
	return t.loss.of(z, in[:len(in)-len(t.Masks)])
}

// of builds from the nodes of inputsOf.
func (b Build) of(z *ad.Node, in []*ad.Node) *ad.Node {
	var nodes [2]*ad.Node // nil where there are no targets
	copy(nodes[:], in)
	return b(z, nodes[0], nodes[1])
}

// inputsOf declares the features, and the targets if there are any. Targets of one column are a
// vector.
func inputsOf(e data.Examples) []ad.Input {
	list := []ad.Input{{Name: "X", Shape: []int{e.X.Cols()}, Batch: true, Sparse: e.X.Sparse()}}
	if e.Target != nil {
		list = append(list, ad.Input{Name: "T", Batch: true})
		if c := e.Target.Cols(); c > 1 {
			list[1].Shape = []int{c}
		}
	}
	return list
}

// bind makes rows of the examples the batch of p; nil: all.
func bind(p *ad.Program, e data.Examples, rows []int) error {
	if err := p.Bind("X", e.X, rows); err != nil || e.Target == nil {
		return err
	}
	return p.Bind("T", e.Target, rows)
}
