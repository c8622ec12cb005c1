package nn

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"dsbo"
	"dsbo/ad"
	"dsbo/internal/num"
)

// Params lays out parameters in a vector, in the order in which they are added. The zero value is
// empty and ready for use.
type Params struct {
	// Gain is the variance of a layer's weights at the start times the number of the layer's
	// inputs; 0 means 1, which keeps the size of a signal through units that are like the identity
	// around 0; 2 does so through ReLU.
	Gain float64

	list []Param
	err  error
}

// A Param is a matrix, or a vector where Cols is 0, in a vector of parameters: row by row from
// Offset on.
type Param struct {
	Name       string
	Rows, Cols int
	Offset     int
	Init       Init
}

// An Init is the distribution of a parameter's start: Mean plus a normal number times Deviation.
type Init struct{ Mean, Deviation float64 }

// Matrix adds a matrix.
func (ps *Params) Matrix(name string, rows, cols int, init Init) Param {
	if cols < 1 {
		ps.fail("parameter %q must have at least 1 column; it has %d", name, cols)
	}
	return ps.add(Param{Name: name, Rows: rows, Cols: cols, Init: init})
}

// Vector adds a vector of n entries.
func (ps *Params) Vector(name string, entries int, init Init) Param {
	return ps.add(Param{Name: name, Rows: entries, Init: init})
}

// add appends a parameter to the vector, and returns it with its offset. Errors are kept for Err.
func (ps *Params) add(p Param) Param {
	switch {
	case p.Rows < 1:
		ps.fail("parameter %q must have at least 1 row; it has %d", p.Name, p.Rows)
	case slices.ContainsFunc(ps.list, func(q Param) bool { return q.Name == p.Name }):
		ps.fail("names of parameters must be distinct; %q is there twice", p.Name)
	}
	p.Offset = ps.Len()
	ps.list = append(ps.list, p)
	return p
}

// fail notes the first thing that is wrong.
func (ps *Params) fail(format string, args ...any) {
	if ps.err == nil {
		ps.err = dsbo.ConfigErrorf(format, args...)
	}
}

// Err returns the error of the first wrong parameter or layer added, as [dsbo.ErrConfig]. A model's
// Check returns it.
func (ps *Params) Err() error { return ps.err }

// Len returns the length of the vector, which is q if y is the vector.
func (ps *Params) Len() int {
	if len(ps.list) == 0 {
		return 0
	}
	last := ps.list[len(ps.list)-1]
	return last.Offset + last.Len()
}

// List returns the parameters in their order.
func (ps *Params) List() []Param { return slices.Clone(ps.list) }

// String lists the parameters, a line each: the name, the shape and the offset.
func (ps *Params) String() string {
	var b strings.Builder
	for _, p := range ps.list {
		shape := fmt.Sprint(p.Rows)
		if p.Cols > 0 {
			shape = fmt.Sprintf("%d×%d", p.Rows, p.Cols)
		}
		fmt.Fprintf(&b, "%-24s %12s  from %d\n", p.Name, shape, p.Offset)
	}
	return b.String()
}

// Init writes the start to dst (length Len): the same numbers for the same seed.
func (ps *Params) Init(dst []float64, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for _, p := range ps.list {
		part := p.View(dst)
		for i := range part {
			if part[i] = p.Init.Mean; p.Init.Deviation != 0 {
				part[i] += float64(p.Init.Deviation * num.Normal(r))
			}
		}
	}
}

// weights returns the start of the weights of a layer with n inputs.
func (ps *Params) weights(inputs int) Init {
	return Init{Deviation: math.Sqrt(cmp.Or(ps.Gain, 1) / float64(max(inputs, 1)))}
}

// Len returns the number of entries.
func (p Param) Len() int { return p.Rows * max(p.Cols, 1) }

// Node returns the parameter in the node z of the whole vector: a view, without a cost.
func (p Param) Node(z *ad.Node) *ad.Node {
	if p.Cols == 0 {
		return ad.PartVec(z, p.Offset, p.Rows)
	}
	return ad.Part(z, p.Offset, p.Rows, p.Cols)
}

// View returns the parameter's entries in the whole vector z, in place.
func (p Param) View(z []float64) []float64 { return z[p.Offset:][:p.Len():p.Len()] }
