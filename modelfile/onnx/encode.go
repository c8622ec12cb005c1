package onnx

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Encode returns the bytes of the model's file, the same for the same model. Constants must be of float64 or whole numbers.
func (m *Model) Encode() []byte {
	var w message
	w.number(modelIRVersion, irVersion)
	w.text(modelProducer, m.Producer)
	w.text(modelVersion, m.Version)
	w.text(modelDoc, m.Doc)
	w.nested(modelGraph, m.Graph.encode)
	for _, o := range []struct {
		domain  string
		version uint64
	}{{"", Opset}, {ML, OpsetML}} {
		w.nested(modelOpset, func(w *message) {
			w.text(opsetDomain, o.domain)
			w.number(opsetVersion, o.version)
		})
	}
	for _, t := range m.Metadata {
		w.nested(modelMetadata, func(w *message) {
			w.text(textKey, t.Name)
			w.text(textValue, t.Value)
		})
	}
	return w
}

func (g *Graph) encode(w *message) {
	for _, n := range g.Nodes {
		w.nested(graphNode, n.encode)
	}
	w.text(graphName, g.Name)
	for _, c := range g.Constants {
		w.nested(graphConstant, c.encode)
	}
	for _, v := range g.Inputs {
		w.nested(graphInput, v.encode)
	}
	for _, v := range g.Outputs {
		w.nested(graphOutput, v.encode)
	}
}

func (n *Node) encode(w *message) {
	for _, name := range n.Inputs {
		w.text(nodeInput, name)
	}
	w.text(nodeOutput, n.Output)
	w.text(nodeName, n.Output)
	w.text(nodeOp, n.Op)
	for _, a := range n.Attributes {
		w.nested(nodeAttribute, a.encode)
	}
	if n.Domain != "" {
		w.text(nodeDomain, n.Domain)
	}
}

func (a *Attribute) encode(w *message) {
	w.text(attributeName, a.Name)
	switch {
	case a.Words != nil:
		for _, s := range a.Words {
			w.text(attributeWords, s)
		}
		w.number(attributeType, typeWords)
	case a.List:
		for _, v := range a.Ints {
			w.number(attributeInts, uint64(v))
		}
		w.number(attributeType, typeInts)
	default:
		w.number(attributeInt, uint64(a.Ints[0]))
		w.number(attributeType, typeInt)
	}
}

func (c *Constant) encode(w *message) {
	for _, n := range c.Shape {
		w.number(tensorDims, uint64(n))
	}
	w.number(tensorType, uint64(c.Type))
	w.text(tensorName, c.Name)
	raw := make([]byte, 0, 8*(len(c.Doubles)+len(c.Ints)))
	for _, v := range c.Doubles {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	for _, v := range c.Ints {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	w.text(tensorRaw, string(raw))
}

func (v *Value) encode(w *message) {
	w.text(valueName, v.Name)
	w.nested(valueType, func(w *message) {
		w.nested(typeTensor, func(w *message) {
			w.number(elemType, uint64(v.Type))
			w.nested(elemShape, func(w *message) {
				w.nested(shapeDim, func(w *message) { w.text(dimParam, "N") })
				if v.Cols > 0 {
					w.nested(shapeDim, func(w *message) { w.number(dimValue, uint64(v.Cols)) })
				}
			})
		})
	})
}

// A message is the bytes of a protobuf message.
type message []byte

func (w *message) number(field protowire.Number, v uint64) {
	*w = protowire.AppendVarint(protowire.AppendTag(*w, field, protowire.VarintType), v)
}

func (w *message) text(field protowire.Number, s string) {
	*w = protowire.AppendString(protowire.AppendTag(*w, field, protowire.BytesType), s)
}

func (w *message) nested(field protowire.Number, fill func(w *message)) {
	var inner message
	fill(&inner)
	w.text(field, string(inner))
}
