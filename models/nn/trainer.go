package nn

import (
	"io"
	"math/rand/v2"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/files"
)

// A Build makes a node of the parameters z, the features x and the targets t of a batch, which are
// nil where the examples have none.
type Build func(z, x, t *ad.Node) *ad.Node

// A Trainer fits the parameters of a network to examples, in float32, without a bilevel problem. It
// belongs to one goroutine at a time.
type Trainer struct {
	Z     []float32 // the parameters
	Masks []*Mask   // that the loss takes; they stay the same from the first epoch on

	params    *Params   // the layout of Z
	optimizer Optimizer // moves Z along grad
	batch     int       // examples of a step, at most
	seed      uint64    // of the order of examples
	loss      Build     // the mean over a batch
	sizes     *ad.Sizes // a program for each length of a batch
	grad      []float32 // of the present batch
	epochs    uint64    // how many are over
}

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
	return t
}

// Epoch goes through all examples once, in an order of the seed and the epoch's number, and
// returns the mean of the batches' losses, by their numbers of examples. The last batch has what
// is left.
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
		t.optimizer.Step(t.Z, t.grad)
		loss += float64(float64(value) * float64(len(rows)) / all)
	}
	return loss, nil
}

// Mean returns the mean entry of what build makes of all examples, such as [ad.RowHit] of scores.
func (t *Trainer) Mean(e data.Examples, build Build) (float64, error) {
	p, err := ad.Compile(ad.Func{Q: len(t.Z), Rows: e.Len(), Inputs: inputsOf(e), Float32: true,
		Build: func(_, z *ad.Node, in []*ad.Node) []*ad.Node { return []*ad.Node{ad.Mean(build.of(z, in))} }})
	if err != nil {
		return 0, err
	}
	if err := bind(p, e, nil); err != nil {
		return 0, err
	}
	var mean [1]float32
	err = p.Eval32(mean[:], nil, t.Z)
	return float64(mean[0]), err
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
	nodes := [2]*ad.Node{}
	copy(nodes[:], in)
	return b(z, nodes[0], nodes[1])
}

// inputsOf declares the features, and the targets if there are some: what has one column, but
// features, is a vector.
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

// Save writes the parameters as float32 arrays by their names, in the safetensors format.
func (t *Trainer) Save(w io.Writer) error {
	var list []files.Tensor
	for _, p := range t.params.List() {
		tensor := files.Tensor{Name: p.Name, Shape: []int{p.Rows}, Single: true}
		if p.Cols > 0 {
			tensor.Shape = append(tensor.Shape, p.Cols)
		}
		for _, v := range t.Z[p.Offset:][:p.Len()] {
			tensor.Data = append(tensor.Data, float64(v))
		}
		list = append(list, tensor)
	}
	return files.WriteTensors(w, nil, list...)
}

// Load reads parameters that [Trainer.Save], or another program, has written. It fails with
// [dsbo.ErrConfig], and leaves the parameters as they are, where one is missing or has another
// shape; what else is in the file does not count.
func (t *Trainer) Load(r io.Reader) error {
	file, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	_, list, err := files.ReadTensors(file)
	if err != nil {
		return err
	}
	of := map[string]files.Tensor{}
	for _, tensor := range list {
		of[tensor.Name] = tensor
	}
	z := make([]float32, len(t.Z))
	for _, p := range t.params.List() {
		tensor := of[p.Name]
		if n := len(tensor.Shape); n == 0 || tensor.Shape[0] != p.Rows || len(tensor.Data) != p.Len() ||
			n != 1+min(p.Cols, 1) {
			return dsbo.ConfigErrorf(
				"parameter %q must have %d rows and %d columns (0: a vector) in the file; its shape there is %v",
				p.Name, p.Rows, p.Cols, tensor.Shape)
		}
		for i, v := range tensor.Data {
			z[p.Offset+i] = float32(v)
		}
	}
	copy(t.Z, z)
	return nil
}
