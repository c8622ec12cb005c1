package models

import (
	"fmt"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// examples are an agent's tables of features, targets and IDs, as the inputs of a loss. They are empty for a model that carries its
// own numbers.
type examples struct {
	rows      int
	x, t, ids *ad.Table
}

// newExamples returns e as inputs of programs in float32 or float64.
func newExamples(e data.Examples, float32 bool) (ex examples, err error) {
	if e.X == nil {
		return examples{}, nil
	}
	ex = examples{rows: e.X.Rows(), x: e.X, t: e.Target}
	if e.Target == nil || e.Target.Rows() != ex.rows {
		return ex, dsbo.Errorf(dsbo.ErrShape, "each of %d examples must have a target", ex.rows)
	}
	if float32 {
		if ex.x, err = ex.x.Float32(); err != nil {
			return ex, err
		}
		if ex.t, err = ex.t.Float32(); err != nil {
			return ex, err
		}
	}
	if e.ID == nil {
		return ex, nil
	}
	if len(e.ID) != ex.rows {
		return ex, dsbo.Errorf(dsbo.ErrShape, "each of %d examples must have an ID; there are %d", ex.rows, len(e.ID))
	}
	f := make([]float64, len(e.ID))
	for i, id := range e.ID {
		f[i] = float64(id)
	}
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

// batch returns the nodes of a loss's inputs, in the order of inputs, as a Batch of so many rows.
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

// bind makes rows idx of the tables (nil: all rows) the batch of program p.
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

// differentiate compiles a loss on batches of rows of e.
func (e *examples) differentiate(l Loss, p, q, rows int, float32 bool) (*ad.Derivs, error) {
	return ad.Differentiate(ad.Loss{P: p, Q: q, Rows: rows, Inputs: e.inputs(), Float32: float32,
		Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node { return l(x, y, e.batch(rows, in)) }})
}

// compile compiles values of x and y on batches of rows of e.
func (e *examples) compile(p, q, rows int, float32 bool, build func(x, y *ad.Node, b Batch) []*ad.Node) (*ad.Program, error) {
	return ad.Compile(ad.Func{P: p, Q: q, Rows: rows, Inputs: e.inputs(), Float32: float32,
		Build: func(x, y *ad.Node, in []*ad.Node) []*ad.Node { return build(x, y, e.batch(rows, in)) }})
}

// Differentiate compiles the Lower or the Upper of a model with these p and q, on all examples of e.
func Differentiate(l Loss, p, q int, e data.Examples, float32 bool) (*ad.Derivs, error) {
	ex, err := newExamples(e, float32)
	if err != nil {
		return nil, err
	}
	d, err := ex.differentiate(l, p, q, ex.rows, float32)
	if err != nil {
		return nil, err
	}
	return d, ex.bind(d.Program, nil)
}

// checkShard reports the first thing in an agent's data that does not suit a model of the given
// number of features, target being the model's own check of either set.
func checkShard(s data.Shard, features int, target func(e data.Examples) error) error {
	for _, part := range []struct {
		name     string
		e        data.Examples
		optional bool
	}{{"training", s.Train, false}, {"validation", s.Val, false}, {"held-out", s.Holdout, true}} {
		if part.optional && part.e.Len() == 0 {
			continue
		}
		if part.e.X == nil || part.e.Target == nil {
			return dsbo.Errorf(dsbo.ErrShape, "there must be %s examples", part.name)
		}
		if c := part.e.X.Cols(); c != features {
			return dsbo.Errorf(dsbo.ErrShape, "%s examples must have the model's %d features; they have %d", part.name, features, c)
		}
		if err := target(part.e); err != nil {
			return fmt.Errorf("%s examples: %w", part.name, err)
		}
	}
	return nil
}

// checkClasses is checkShard for models with classes.
func checkClasses(s data.Shard, features, classes int) error {
	return checkShard(s, features, func(e data.Examples) error {
		if c := e.Target.Cols(); c != classes || c < 2 {
			return dsbo.Errorf(dsbo.ErrShape, "targets must have a column for each of the model's %d classes, at least 2; they have %d", classes, c)
		}
		return nil
	})
}
