package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"dsbo"
)

// Decode reads a model from the bytes of its file. What it returns has at most a few times the memory of the file. It passes over
// fields that say nothing to a [Program]; whether that can run the graph, [NewProgram] finds out. Errors match [dsbo.ErrConfig].
func Decode(file []byte) (*Model, error) {
	m := new(Model)
	opset, graphs := map[string]uint64{}, 0
	err := eachField(file, func(f field) error {
		switch f.number {
		case modelProducer:
			return f.text(&m.Producer)
		case modelVersion:
			return f.text(&m.Version)
		case modelDoc:
			return f.text(&m.Doc)
		case modelGraph:
			graphs++
			return m.Graph.decode(f.bytes)
		case modelOpset:
			var domain string
			var version uint64
			err := eachField(f.bytes, func(f field) error {
				switch f.number {
				case opsetDomain:
					return f.text(&domain)
				case opsetVersion:
					version = f.value
				}
				return nil
			})
			opset[domain] = version
			return err
		case modelMetadata:
			var t Text
			err := eachField(f.bytes, func(f field) error {
				switch f.number {
				case textKey:
					return f.text(&t.Name)
				case textValue:
					return f.text(&t.Value)
				}
				return nil
			})
			m.Metadata = append(m.Metadata, t)
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, dsbo.Errorf(dsbo.ErrConfig, "not a readable ONNX file: %w", err)
	case graphs != 1:
		return nil, dsbo.Errorf(dsbo.ErrConfig, "an ONNX file must have one graph; it has %d", graphs)
	case opset[""] != Opset || opset[ML] != OpsetML:
		return nil, dsbo.Errorf(dsbo.ErrConfig, "the operators must be those of opset %d and %s %d; they are of %d and %d",
			Opset, ML, OpsetML, opset[""], opset[ML])
	}
	return m, nil
}

func (g *Graph) decode(b []byte) error {
	return eachField(b, func(f field) error {
		switch f.number {
		case graphName:
			return f.text(&g.Name)
		case graphNode:
			g.Nodes = append(g.Nodes, Node{})
			n := &g.Nodes[len(g.Nodes)-1]
			if err := n.decode(f.bytes); err != nil {
				return fmt.Errorf("node %d: %w", len(g.Nodes)-1, err)
			}
		case graphConstant:
			g.Constants = append(g.Constants, Constant{})
			c := &g.Constants[len(g.Constants)-1]
			if err := c.decode(f.bytes); err != nil {
				return fmt.Errorf("constant %.40q: %w", c.Name, err)
			}
		case graphInput, graphOutput:
			var v Value
			if err := v.decode(f.bytes); err != nil {
				return fmt.Errorf("input or output %.40q: %w", v.Name, err)
			}
			if f.number == graphInput {
				g.Inputs = append(g.Inputs, v)
			} else {
				g.Outputs = append(g.Outputs, v)
			}
		}
		return nil
	})
}

func (n *Node) decode(b []byte) error {
	outputs := 0
	err := eachField(b, func(f field) error {
		switch f.number {
		case nodeInput:
			n.Inputs = append(n.Inputs, "")
			return f.text(&n.Inputs[len(n.Inputs)-1])
		case nodeOutput:
			outputs++
			return f.text(&n.Output)
		case nodeOp:
			return f.text(&n.Op)
		case nodeDomain:
			return f.text(&n.Domain)
		case nodeAttribute:
			n.Attributes = append(n.Attributes, Attribute{})
			return n.Attributes[len(n.Attributes)-1].decode(f.bytes)
		}
		return nil
	})
	if err == nil && outputs != 1 {
		err = fmt.Errorf("%.40q must have one output; it has %d", n.Op, outputs)
	}
	return err
}

func (a *Attribute) decode(b []byte) error {
	var kind uint64
	err := eachField(b, func(f field) error {
		switch f.number {
		case attributeName:
			return f.text(&a.Name)
		case attributeInt, attributeInts:
			return f.ints(&a.Ints)
		case attributeWords:
			a.Words = append(a.Words, "")
			return f.text(&a.Words[len(a.Words)-1])
		case attributeType:
			kind = f.value
		}
		return nil
	})
	a.List = kind != typeInt
	switch {
	case err != nil:
		return err
	case kind == typeInt && len(a.Ints) == 1 && a.Words == nil, kind == typeInts && a.Words == nil, kind == typeWords && a.Ints == nil:
		return nil
	}
	return fmt.Errorf("attribute %.40q must be a whole number, whole numbers or words; its type is %d", a.Name, kind)
}

func (c *Constant) decode(b []byte) error {
	var dims []int64
	var kind uint64
	var raw []byte
	err := eachField(b, func(f field) error {
		switch f.number {
		case tensorDims:
			return f.ints(&dims)
		case tensorType:
			kind = f.value
		case tensorName:
			return f.text(&c.Name)
		case tensorRaw:
			raw = f.bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	size := 1
	for _, n := range dims {
		if n < 1 || n > int64(len(raw)) || size > len(raw)/int(n) {
			return fmt.Errorf("its shape %v has not as many numbers as its %d bytes", dims, len(raw))
		}
		size, c.Shape = size*int(n), append(c.Shape, int(n))
	}
	if len(dims) > 2 || 8*size != len(raw) {
		return fmt.Errorf("it must have one or two dimensions, and 8 bytes a number; its shape is %v, with %d bytes", dims, len(raw))
	}
	switch c.Type = Type(kind); c.Type {
	case Double:
		c.Doubles = make([]float64, size)
		for i := range c.Doubles {
			c.Doubles[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	case Int64:
		c.Ints = make([]int64, size)
		for i := range c.Ints {
			c.Ints[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	default:
		return fmt.Errorf("its type must be %d (float64) or %d (int64); it is %d", Double, Int64, kind)
	}
	return nil
}

func (v *Value) decode(b []byte) error {
	dims := 0
	err := eachField(b, func(f field) error {
		switch f.number {
		case valueName:
			return f.text(&v.Name)
		case valueType:
			return f.within(typeTensor, func(f field) error {
				switch f.number {
				case elemType:
					v.Type = Type(f.value)
				case elemShape:
					return f.within(shapeDim, func(f field) error {
						if f.number == dimValue && dims == 1 {
							v.Cols = int(min(f.value, math.MaxInt32))
						}
						dims++
						return nil
					})
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && dims != 1 && dims != 2 {
		err = fmt.Errorf("it must have one or two dimensions; it has %d", dims)
	}
	return err
}

// A field is one field of a protobuf message: a whole number or bytes.
type field struct {
	number protowire.Number
	value  uint64 // of a number
	bytes  []byte // of everything else; nil: a number
}

// eachField visits the fields of a message, in their order.
func eachField(b []byte, visit func(f field) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		f := field{number: number}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			if f.bytes, n = protowire.ConsumeBytes(b); f.bytes == nil {
				f.bytes = []byte{}
			}
		default: // numbers of fixed width, which no field of ours has
			if n = protowire.ConsumeFieldValue(number, kind, b); n >= 0 {
				b = b[n:]
				continue
			}
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// text sets s to the text that the field holds.
func (f field) text(s *string) error {
	if f.bytes == nil || !utf8.Valid(f.bytes) {
		return fmt.Errorf("field %d must be text in UTF-8", f.number)
	}
	*s = string(f.bytes)
	return nil
}

// ints appends the whole number, or the packed whole numbers, that the field holds.
func (f field) ints(list *[]int64) error {
	if f.bytes == nil {
		*list = append(*list, int64(f.value))
		return nil
	}
	for b := f.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		*list, b = append(*list, int64(v)), b[n:]
	}
	return nil
}

// within visits the fields of each message that the message in f has as field number.
func (f field) within(number protowire.Number, visit func(f field) error) error {
	return eachField(f.bytes, func(f field) error {
		if f.number != number {
			return nil
		}
		return eachField(f.bytes, visit)
	})
}
