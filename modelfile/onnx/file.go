package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"dsbo"
)

// Each type of a model has a layout, by which it is both written and read: numbers of fields are those of onnx.proto, whose names stand
// beside them where they are others.

// An opset is the version of a domain's operators.
type opset struct {
	domain  string
	version uint64
}

func (o *opset) layout() layout {
	return layout{fields: []binding{text(1, &o.domain), whole(2, &o.version)}}
}

func (t *Text) layout() layout { return layout{fields: []binding{text(1, &t.Name), text(2, &t.Value)}} }

// layout is that of the whole file.
func (m *Model) layout(graphs *[]Graph, opsets *[]opset) layout {
	version := uint64(irVersion)
	return layout{fields: []binding{
		whole(1, &version), text(2, &m.Producer), text(3, &m.Version), text(6, &m.Doc),
		messages(7, "graph", graphs, (*Graph).layout), messages(8, "opset", opsets, (*opset).layout), messages(14, "text", &m.Metadata, (*Text).layout),
	}}
}

// Encode returns the bytes of the model's file, the same for the same model. Constants must be of float64 or whole numbers.
func (m *Model) Encode() []byte {
	return m.layout(&[]Graph{m.Graph}, &[]opset{{"", Opset}, {ML, OpsetML}}).encode()
}

// Decode reads a model from the bytes of its file. What it returns has at most a few times the memory of the file. It passes over
// fields that say nothing to a [Program]; whether that can run the graph, [NewProgram] finds out. Errors match [dsbo.ErrConfig].
func Decode(file []byte) (*Model, error) {
	var graphs []Graph
	var opsets []opset
	m := new(Model)
	if err := m.layout(&graphs, &opsets).decode(file); err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "not an ONNX file that can be read here: %w", err)
	}
	if len(graphs) != 1 {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "an ONNX file must have one graph; it has %d", len(graphs))
	}
	versions := map[string]uint64{}
	for _, o := range opsets {
		versions[o.domain] = o.version
	}
	if versions[""] != Opset || versions[ML] != OpsetML {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "the operators must be those of opset %d and %s %d; they are of %d and %d",
			Opset, ML, OpsetML, versions[""], versions[ML])
	}
	m.Graph = graphs[0]
	return m, nil
}

func (g *Graph) layout() layout {
	return layout{fields: []binding{
		messages(1, "node", &g.Nodes, (*Node).layout), text(2, &g.Name), messages(5, "constant", &g.Constants, (*Constant).layout), // initializer
		messages(11, "input", &g.Inputs, (*Value).layout), messages(12, "output", &g.Outputs, (*Value).layout),
	}}
}

func (n *Node) layout() layout {
	name, outputs, domains := n.Output, []string{n.Output}, []string{n.Domain}
	if n.Domain == "" {
		domains = nil
	}
	return layout{[]binding{
		texts(1, &n.Inputs), texts(2, &outputs), text(3, &name), text(4, &n.Op), messages(5, "attribute", &n.Attributes, (*Attribute).layout), texts(7, &domains),
	}, func() error {
		if len(outputs) != 2 { // the one before and that which was read
			return fmt.Errorf("%.40q must have one output; it has %d", n.Op, len(outputs)-1)
		}
		if n.Output = outputs[1]; len(domains) > 0 {
			n.Domain = domains[len(domains)-1]
		}
		return nil
	}}
}

// Values of an attribute's type.
const (
	typeInt   = 2
	typeInts  = 7
	typeWords = 8 // strings
)

func (a *Attribute) layout() layout {
	kind, single, list := uint64(typeInt), a.Ints, []int64(nil)
	switch {
	case a.Words != nil:
		kind = typeWords
	case a.List:
		kind, single, list = typeInts, nil, a.Ints
	}
	return layout{[]binding{text(1, &a.Name), texts(9, &a.Words), wholes(8, &list), wholes(3, &single), whole(20, &kind)}, func() error {
		a.Ints, a.List = slices.Concat(single, list), kind != typeInt
		if kind == typeInt && len(a.Ints) == 1 && a.Words == nil || kind == typeInts && a.Words == nil || kind == typeWords && a.Ints == nil {
			return nil
		}
		return fmt.Errorf("%.40q must be a whole number, whole numbers or words; its type is %d", a.Name, kind)
	}}
}

func (c *Constant) layout() layout {
	var dims []int64
	for _, n := range c.Shape {
		dims = append(dims, int64(n))
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, c.Doubles) // which numbers always can be
	raw, _ = binary.Append(raw, binary.LittleEndian, c.Ints)
	return layout{[]binding{wholes(1, &dims), whole(2, &c.Type), text(8, &c.Name), content(9, &raw)}, func() error {
		return c.setNumbers(dims, raw)
	}}
}

// setNumbers sets shape and entries of a constant to those that were read.
func (c *Constant) setNumbers(dims []int64, raw []byte) error {
	size := 1
	for _, n := range dims {
		if n < 1 || n > int64(len(raw)) || size > len(raw)/int(n) {
			return fmt.Errorf("the shape %v of %.40q has not as many numbers as its %d bytes", dims, c.Name, len(raw))
		}
		size, c.Shape = size*int(n), append(c.Shape, int(n))
	}
	if len(dims) > 2 || 8*size != len(raw) {
		return fmt.Errorf("%.40q must have one or two dimensions, and 8 bytes a number; its shape is %v, with %d bytes", c.Name, dims, len(raw))
	}
	var err error
	switch c.Type {
	case Double:
		c.Doubles = make([]float64, size)
		_, err = binary.Decode(raw, binary.LittleEndian, c.Doubles)
	case Int64:
		c.Ints = make([]int64, size)
		_, err = binary.Decode(raw, binary.LittleEndian, c.Ints)
	default:
		err = fmt.Errorf("the type of %.40q must be %d (float64) or %d (int64); it is %d", c.Name, Double, Int64, c.Type)
	}
	return err
}

// A dimension has a size, or the name of one that differs from run to run.
type dimension struct {
	sizes []int64
	names []string
}

func (d *dimension) layout() layout {
	return layout{fields: []binding{wholes(1, &d.sizes), texts(2, &d.names)}}
}

func (v *Value) layout() layout {
	dims := []dimension{{names: []string{"N"}}}
	if v.Cols > 0 {
		dims = append(dims, dimension{sizes: []int64{int64(v.Cols)}})
	}
	written := len(dims)
	tensor := inside(1, whole(1, &v.Type), inside(2, messages(1, "dimension", &dims, (*dimension).layout)))
	return layout{[]binding{text(1, &v.Name), inside(2, tensor)}, func() error {
		read := dims[written:]
		if len(read) != 1 && len(read) != 2 {
			return fmt.Errorf("%.40q must have one or two dimensions; it has %d", v.Name, len(read))
		}
		if sizes := read[len(read)-1].sizes; len(read) == 2 && len(sizes) > 0 {
			v.Cols = int(min(uint64(sizes[len(sizes)-1]), math.MaxInt32))
		}
		return nil
	}}
}
