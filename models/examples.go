package models

import (
	"cmp"
	"fmt"
	"strings"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
)

// examples are an agent's tables, as the inputs of a loss. They are empty for a model that carries
// its own numbers.
type examples struct {
	rows   int
	tables []data.Column
	masks  []Mask // random inputs; they follow the tables
}

// columnPrefix sets the names of columns apart from the names of the other inputs.
const columnPrefix = "column "

// newExamples returns e as inputs of programs in float32 or float64. Tables that e lacks are left
// out; without features X there are no inputs at all. It returns an error if e is inconsistent, or
// if its numbers are not finite in float32.
func newExamples(e data.Examples, float32 bool) (examples, error) {
	if e.X == nil {
		return examples{}, nil
	}
	ex := examples{rows: e.X.Rows()}
	ids, err := idTable(e.ID)
	if err = cmp.Or(e.Validate(), err); err != nil {
		return ex, err
	}
	list := []data.Column{{Name: "X", Table: e.X}, {Name: "T", Table: e.Target}, {Name: "W", Table: e.Weight},
		{Name: "ID", Table: ids}}
	for _, c := range e.Columns {
		list = append(list, data.Column{Name: columnPrefix + c.Name, Table: c.Table})
	}
	for _, c := range list {
		if c.Table == nil {
			continue
		}
		if float32 { // all inputs of a program have its type
			if c.Table, err = c.Table.Float32(); err != nil {
				return ex, err
			}
		}
		ex.tables = append(ex.tables, c)
	}
	return ex, nil
}

// idTable returns the IDs of examples as a table, nil for none.
func idTable(ids []int) (*ad.Table, error) {
	if ids == nil {
		return nil, nil
	}
	numbers := make([]float64, len(ids))
	for i, id := range ids {
		numbers[i] = float64(id)
	}
	return ad.FloatTable(len(ids), 1, numbers)
}

// inputs declares the tables and masks that a loss reads. A table of one column is declared as a
// vector, except for the features X, which are always a matrix.
func (e *examples) inputs() (list []ad.Input) {
	declare := func(name string, cols int, sparse bool) {
		declared := ad.Input{Name: name, Batch: true, Sparse: sparse}
		if cols > 1 || name == "X" {
			declared.Shape = []int{cols}
		}
		list = append(list, declared)
	}
	for _, c := range e.tables {
		declare(c.Name, c.Table.Cols(), c.Table.Sparse())
	}
	for _, m := range e.masks {
		declare(columnPrefix+m.Name, m.Cols, false)
	}
	return list
}

// batch returns the nodes of a loss's inputs, which are in the order of inputs, as a Batch.
func (e *examples) batch(rows int, nodes []*ad.Node) Batch {
	b := Batch{Rows: rows}
	for i, in := range e.inputs() {
		switch node := nodes[i]; in.Name {
		case "X":
			b.X = node
		case "T":
			b.T = node
		case "W":
			b.W = node
		case "ID":
			b.ID = node
		default:
			b.columns = append(b.columns, column{strings.TrimPrefix(in.Name, columnPrefix), node})
		}
	}
	return b
}

// bind makes rows idx of the tables (nil: all rows) the batch of program p.
func (e *examples) bind(p *ad.Program, idx []int) error {
	for _, c := range e.tables {
		if err := p.Bind(c.Name, c.Table, idx); err != nil {
			return err
		}
	}
	return nil
}

// differentiate compiles a loss on batches of rows of e.
func (e *examples) differentiate(l Loss, p, q, rows int, c Config) (*ad.Derivs, error) {
	d, err := ad.Differentiate(ad.Loss{P: p, Q: q, Rows: rows, Inputs: e.inputs(), Float32: c.Float32, Keep: c.Keep,
		Build: func(x, y *ad.Node, in []*ad.Node) *ad.Node { return l(x, y, e.batch(rows, in)) }})
	if err == nil && c.Gorgonia {
		d.UseGorgonia()
	}
	return d, err
}

// compile compiles values of x and y on batches of rows of e.
func (e *examples) compile(p, q, rows int, float32 bool,
	build func(x, y *ad.Node, b Batch) []*ad.Node) (*ad.Program, error) {
	return ad.Compile(ad.Func{P: p, Q: q, Rows: rows, Inputs: e.inputs(), Float32: float32,
		Build: func(x, y *ad.Node, in []*ad.Node) []*ad.Node { return build(x, y, e.batch(rows, in)) }})
}

// Differentiate compiles the Lower or the Upper of a model with these p and q, on all examples
// of e.
func Differentiate(l Loss, p, q int, e data.Examples, float32 bool) (*ad.Derivs, error) {
	ex, err := newExamples(e, float32)
	if err != nil {
		return nil, err
	}
	d, err := ex.differentiate(l, p, q, ex.rows, Config{Float32: float32})
	if err != nil {
		return nil, err
	}
	return d, ex.bind(d.Program, nil)
}

// checkShard returns an error for the first thing in an agent's data that does not suit a model
// with the given number of features. If examples have weights, each must have the given number of
// them, one for each fold. target is the model's own check of each set of examples. Held-out
// examples may be missing.
func checkShard(s data.Shard, features, weights int, target func(e data.Examples) error) error {
	for _, part := range []struct {
		name     string
		e        data.Examples
		optional bool
	}{{"training", s.Train, false}, {"validation", s.Val, false}, {"held-out", s.Holdout, true}} {
		if part.optional && part.e.Len() == 0 {
			continue
		}
		if part.e.X == nil || part.e.Target == nil {
			return dsbo.ShapeErrorf("there must be %s examples", part.name)
		}
		if c := part.e.X.Cols(); c != features {
			return dsbo.ShapeErrorf("%s examples must have the model's %d features; they have %d",
				part.name, features, c)
		}
		if w := part.e.Weight; w != nil && w.Cols() != weights {
			return dsbo.ShapeErrorf("%s examples must have weights for %d models; they have them for %d",
				part.name, weights, w.Cols())
		}
		if err := target(part.e); err != nil {
			return fmt.Errorf("%s examples: %w", part.name, err)
		}
	}
	return nil
}
