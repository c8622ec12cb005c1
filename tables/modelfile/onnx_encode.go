package modelfile

import (
	"cmp"
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message is the bytes of a protobuf message, to which fields are appended. Field numbers are in
// onnx.proto.
type message []byte

func (m *message) bytes(n protowire.Number, v []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, n, protowire.BytesType), v)
}

func (m *message) whole(n protowire.Number, v int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, n, protowire.VarintType), uint64(v))
}

func (m *message) wholes(n protowire.Number, list []int64) {
	for _, v := range list {
		m.whole(n, int(v))
	}
}

func (m *message) texts(n protowire.Number, list ...string) {
	for _, s := range list {
		m.bytes(n, []byte(s))
	}
}

// addAll adds a field for each of some things, the message that encode makes of it.
func addAll[T any](m *message, n protowire.Number, list []T, encode func(T) message) {
	for _, v := range list {
		m.bytes(n, encode(v))
	}
}

// Encode returns the bytes of the model's file, the same for the same model.
func (m *onnxModel) Encode() []byte {
	var b message
	b.whole(1, irVersion)
	b.texts(2, m.Producer)
	b.texts(3, m.Version)
	b.texts(6, m.Doc)
	b.bytes(7, m.Graph.encode())
	addAll(&b, 8, []opset{{"", onnxOpset}, {onnxML, onnxOpsetML}}, opset.encode)
	addAll(&b, 14, m.Metadata, onnxText.encode)
	return b
}

// An opset is the version of a domain's operators.
type opset struct {
	domain  string
	version int
}

func (o opset) encode() (b message) {
	b.texts(1, o.domain)
	b.whole(2, o.version)
	return b
}

func (t onnxText) encode() (b message) {
	b.texts(1, t.Name)
	b.texts(2, t.Value)
	return b
}

func (g onnxGraph) encode() (b message) {
	addAll(&b, 1, g.Nodes, onnxNode.encode)
	b.texts(2, g.Name)
	addAll(&b, 5, g.Constants, onnxConstant.encode)
	addAll(&b, 11, g.Inputs, onnxValue.encode)
	addAll(&b, 12, g.Outputs, onnxValue.encode)
	return b
}

// encode returns a NodeProto.
func (n onnxNode) encode() (b message) {
	b.texts(1, n.Inputs...)
	b.texts(2, n.Output)
	b.texts(3, n.Output) // the node's own name
	b.texts(4, n.Op)
	addAll(&b, 5, n.Attributes, onnxAttribute.encode)
	if n.Domain != "" {
		b.texts(7, n.Domain)
	}
	return b
}

// encode returns an AttributeProto, of a number, a text or a list of either.
func (a onnxAttribute) encode() (b message) {
	const typeInt, typeString, typeInts, typeStrings = 2, 3, 7, 8
	b.texts(1, a.Name)
	switch {
	case a.Words != nil && !a.List:
		b.texts(4, a.Words...)
		b.whole(20, typeString)
	case a.Words != nil:
		b.texts(9, a.Words...)
		b.whole(20, typeStrings)
	case a.List:
		b.wholes(8, a.Ints)
		b.whole(20, typeInts)
	default:
		b.wholes(3, a.Ints)
		b.whole(20, typeInt)
	}
	return b
}

// encode returns a TensorProto with raw little-endian numbers.
func (c onnxConstant) encode() (b message) {
	for _, n := range c.Shape {
		b.whole(1, n)
	}
	kind := onnxInt64
	if c.Doubles != nil {
		kind = onnxDouble
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, c.Doubles) // which numbers always can be
	raw, _ = binary.Append(raw, binary.LittleEndian, c.Ints)
	b.whole(2, int(kind))
	b.texts(8, c.Name)
	b.bytes(9, raw)
	return b
}

// encode returns a ValueInfoProto of N rows; without Cols it is a vector.
func (v onnxValue) encode() (b message) {
	var rows, cols, shape, tensor, kind message
	rows.texts(2, cmp.Or(v.Rows, "N"))
	shape.bytes(1, rows)
	switch {
	case v.Cols > 0:
		cols.whole(1, v.Cols)
		shape.bytes(1, cols)
	case v.Columns != "":
		cols.texts(2, v.Columns)
		shape.bytes(1, cols)
	}
	tensor.whole(1, int(v.Type))
	tensor.bytes(2, shape)
	kind.bytes(1, tensor)
	b.texts(1, v.Name)
	b.bytes(2, kind)
	return b
}
