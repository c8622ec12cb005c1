package onnx

import (
	"fmt"
	"slices"

	"dsbo"
)

// MaxEntries is the most entries that a [Program] makes in a run, in all tensors together, so that a file cannot ask for memory
// without end.
const MaxEntries = 1 << 26

// A Program runs a graph. Its methods may be called by several goroutines.
type Program struct {
	graph   Graph
	start   []*Tensor // constants in their places; nil in those of inputs and results
	steps   []step
	inputs  []int // places
	outputs []int
}

// A step makes the tensor in one place of those in others.
type step struct {
	name   string
	run    operation
	in     []int
	result int
}

// NewProgram makes a graph ready to run. Errors match [dsbo.ErrConfig]: an operator or attribute that is not known, an input that no
// earlier node makes, a name that is used twice.
func NewProgram(g Graph) (*Program, error) {
	p, places := &Program{graph: g}, map[string]int{}
	place := func(name string, constant *Tensor) (int, error) {
		if _, twice := places[name]; twice || name == "" {
			return 0, dsbo.Errorf(dsbo.ErrConfig, "names of tensors must differ and not be empty; there is %.40q", name)
		}
		places[name] = len(p.start)
		p.start = append(p.start, constant)
		return places[name], nil
	}
	for i := range g.Constants {
		if _, err := place(g.Constants[i].Name, &g.Constants[i].Tensor); err != nil {
			return nil, err
		}
	}
	for _, v := range g.Inputs {
		at, err := place(v.Name, nil)
		if err != nil {
			return nil, err
		}
		p.inputs = append(p.inputs, at)
	}
	for _, n := range g.Nodes {
		s := step{name: fmt.Sprintf("%.40s %.40q", n.Op, n.Output)}
		for _, name := range n.Inputs {
			at, known := places[name]
			if !known {
				return nil, dsbo.Errorf(dsbo.ErrConfig, "%s needs %.40q, which nothing before it makes", s.name, name)
			}
			s.in = append(s.in, at)
		}
		var err error
		if s.run, err = n.operation(); err != nil {
			return nil, dsbo.Errorf(dsbo.ErrConfig, "%s: %w", s.name, err)
		}
		if s.result, err = place(n.Output, nil); err != nil {
			return nil, err
		}
		p.steps = append(p.steps, s)
	}
	for _, v := range g.Outputs {
		at, known := places[v.Name]
		if !known {
			return nil, dsbo.Errorf(dsbo.ErrConfig, "nothing makes the output %.40q", v.Name)
		}
		p.outputs = append(p.outputs, at)
	}
	return p, nil
}

// Run returns the outputs for inputs, both in the order of the graph's. Inputs are not changed, and may be part of the outputs. Errors
// match [dsbo.ErrShape].
func (p *Program) Run(inputs ...*Tensor) ([]*Tensor, error) {
	if len(inputs) != len(p.inputs) {
		return nil, dsbo.Errorf(dsbo.ErrShape, "the graph has %d inputs; there are %d", len(p.inputs), len(inputs))
	}
	values, made := slices.Clone(p.start), 0
	for i, t := range inputs {
		if v := p.graph.Inputs[i]; t.Type != v.Type || t.entries() != t.length() {
			return nil, dsbo.Errorf(dsbo.ErrShape, "input %.40q must be of type %d; it is of type %d, %d entries in the shape %v",
				v.Name, v.Type, t.Type, t.length(), t.Shape)
		}
		values[p.inputs[i]] = t
	}
	for _, s := range p.steps {
		in := make([]*Tensor, len(s.in))
		for i, at := range s.in {
			in[i] = values[at]
		}
		t, err := s.run(in)
		if err != nil {
			return nil, dsbo.Errorf(dsbo.ErrShape, "%s: %w", s.name, err)
		}
		if made += t.length(); made > MaxEntries {
			return nil, dsbo.Errorf(dsbo.ErrShape, "%s: all tensors together must have at most %d entries", s.name, MaxEntries)
		}
		values[s.result] = t
	}
	outputs := make([]*Tensor, len(p.outputs))
	for i, at := range p.outputs {
		outputs[i] = values[at]
	}
	return outputs, nil
}

// entries returns how many entries the shape has.
func (t *Tensor) entries() int {
	rows, cols := t.size()
	return rows * cols
}

// length returns how many entries there are.
func (t *Tensor) length() int {
	switch t.Type {
	case Float:
		return len(t.Floats)
	case Int64:
		return len(t.Ints)
	case String:
		return len(t.Words)
	case Bool:
		return len(t.Bools)
	}
	return len(t.Doubles)
}
