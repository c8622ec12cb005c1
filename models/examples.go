package models

import (
	"fmt"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// examples are an agent's tables, as the inputs of a loss. Without tables there are none: the model
// carries its own numbers.
type examples struct {
	rows      int
	x, t, ids *ad.Table
}

func newExamples(e data.Examples) (examples, error) {
	if e.X == nil {
		return examples{}, nil
	}
	ex := examples{rows: e.X.Rows(), x: e.X, t: e.Target}
	if e.Target == nil || e.Target.Rows() != ex.rows {
		return ex, fmt.Errorf("%w: targets for %d examples are missing or of another number", dsbo.ErrShape, ex.rows)
	}
	if e.ID == nil {
		return ex, nil
	}
	if len(e.ID) != ex.rows {
		return ex, fmt.Errorf("%w: %d IDs for %d examples", dsbo.ErrShape, len(e.ID), ex.rows)
	}
	f := make([]float64, len(e.ID))
	for i, id := range e.ID {
		f[i] = float64(id)
	}
	var err error
	ex.ids, err = ad.FloatTable(len(f), 1, f)
	return ex, err
}

// inputs declares the tables to a loss, in the order in which batch and bind know them.
func (e *examples) inputs() []ad.Input {
	if e.x == nil {
		return nil
	}
	in := []ad.Input{{Name: "X", Shape: []int{e.x.Cols()}, Batch: true}, {Name: "T", Batch: true}}
	if c := e.t.Cols(); c > 1 {
		in[1].Shape = []int{c}
	}
	if e.ids != nil {
		in = append(in, ad.Input{Name: "ID", Batch: true})
	}
	return in
}

func (e *examples) batch(rows int, in []*ad.Node) Batch {
	b := Batch{Rows: rows}
	if len(in) > 1 {
		b.X, b.T = in[0], in[1]
	}
	if len(in) > 2 {
		b.ID = in[2]
	}
	return b
}

// bind makes rows idx of the tables (all if nil) the batch of p.
func (e *examples) bind(p *ad.Program, idx []int) error {
	if e.x == nil {
		return nil
	}
	if err := p.Bind("X", e.x, idx); err != nil {
		return err
	}
	if err := p.Bind("T", e.t, idx); err != nil {
		return err
	}
	if e.ids == nil {
		return nil
	}
	return p.Bind("ID", e.ids, idx)
}

// NewScore compiles m's Score on whole sets of examples of e's kind. The result of Eval is
// the loss and, if the model has one, the accuracy; x is not read.
func NewScore(m Model, e data.Examples, float32 bool) (*ad.Program, error) {
	sc, ok := m.(Scorer)
	if !ok {
		return nil, fmt.Errorf("%w: model %T has no Score", dsbo.ErrCapability, m)
	}
	ex, err := newExamples(e)
	if err != nil {
		return nil, err
	}
	p, q := m.Dims()
	prog, err := ad.Compile(ad.Func{P: p, Q: q, Rows: ex.rows, Inputs: ex.inputs(), Float32: float32,
		Build: func(x, y *ad.Node, in []*ad.Node) []*ad.Node {
			loss, acc := sc.Score(y, ex.batch(ex.rows, in))
			if acc == nil {
				return []*ad.Node{loss}
			}
			return []*ad.Node{loss, acc}
		}})
	if err != nil {
		return nil, err
	}
	return prog, ex.bind(prog, nil)
}
