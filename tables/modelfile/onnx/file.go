package onnx

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"dsbo"
)

// A message is the bytes of a protobuf message, to which fields are added. Their numbers stand in onnx.proto.
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
func (m *Model) Encode() []byte {
	var b message
	b.whole(1, irVersion)
	b.texts(2, m.Producer)
	b.texts(3, m.Version)
	b.texts(6, m.Doc)
	b.bytes(7, m.Graph.encode())
	addAll(&b, 8, []opset{{"", Opset}, {ML, OpsetML}}, opset.encode)
	addAll(&b, 14, m.Metadata, Text.encode)
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

func (t Text) encode() (b message) {
	b.texts(1, t.Name)
	b.texts(2, t.Value)
	return b
}

func (g Graph) encode() (b message) {
	addAll(&b, 1, g.Nodes, Node.encode)
	b.texts(2, g.Name)
	addAll(&b, 5, g.Constants, Constant.encode)
	addAll(&b, 11, g.Inputs, Value.encode)
	addAll(&b, 12, g.Outputs, Value.encode)
	return b
}

func (n Node) encode() (b message) {
	b.texts(1, n.Inputs...)
	b.texts(2, n.Output)
	b.texts(3, n.Output) // the node's own name
	b.texts(4, n.Op)
	addAll(&b, 5, n.Attributes, Attribute.encode)
	if n.Domain != "" {
		b.texts(7, n.Domain)
	}
	return b
}

func (a Attribute) encode() (b message) {
	const typeInt, typeInts, typeStrings = 2, 7, 8
	b.texts(1, a.Name)
	b.texts(9, a.Words...)
	switch {
	case a.Words != nil:
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

func (c Constant) encode() (b message) {
	for _, n := range c.Shape {
		b.whole(1, n)
	}
	kind := Int64
	if c.Doubles != nil {
		kind = Double
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, c.Doubles) // which numbers always can be
	raw, _ = binary.Append(raw, binary.LittleEndian, c.Ints)
	b.whole(2, int(kind))
	b.texts(8, c.Name)
	b.bytes(9, raw)
	return b
}

func (v Value) encode() (b message) {
	var rows, cols, shape, tensor, kind message
	rows.texts(2, "N") // another number from run to run
	shape.bytes(1, rows)
	if v.Cols > 0 {
		cols.whole(1, v.Cols)
		shape.bytes(1, cols)
	}
	tensor.whole(1, int(v.Type))
	tensor.bytes(2, shape)
	kind.bytes(1, tensor)
	b.texts(1, v.Name)
	b.bytes(2, kind)
	return b
}

// Read reads a file that [Model.Encode] has made, as far as it takes to make the model anew: the texts, and of the graph its nodes
// without attributes and its constants of float64 without shapes. It passes over everything else: whether that is right shows when
// the new model is encoded. Errors match [dsbo.ErrConfig].
func Read(file []byte) (*Model, error) {
	var r reader
	f := r.fields(file)
	graph := r.fields([]byte(f.text(7)))
	m := &Model{Producer: f.text(2), Version: f.text(3), Doc: f.text(6)}
	for _, b := range f[14] {
		t := r.fields(b)
		m.Metadata = append(m.Metadata, Text{t.text(1), t.text(2)})
	}
	for _, b := range graph[1] {
		node := r.fields(b)
		n := Node{Op: node.text(4)}
		for _, name := range node[1] {
			n.Inputs = append(n.Inputs, string(name))
		}
		m.Graph.Nodes = append(m.Graph.Nodes, n)
	}
	for _, b := range graph[5] {
		constant := r.fields(b)
		raw := constant.text(9)
		c := Constant{Name: constant.text(8), Doubles: make([]float64, len(raw)/8)}
		_, _ = binary.Decode([]byte(raw), binary.LittleEndian, c.Doubles) // of which there are enough bytes
		m.Graph.Constants = append(m.Graph.Constants, c)
	}
	if r.err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "not an ONNX file that can be read here: %w", r.err)
	}
	return m, nil
}

// A reader reads messages, and keeps the first error.
type reader struct{ err error }

// fields are the fields of a message that are bytes, by their numbers.
type fields map[protowire.Number][][]byte

// text returns the last field of a number, "" if there is none.
func (f fields) text(n protowire.Number) string {
	if all := f[n]; len(all) > 0 {
		return string(all[len(all)-1])
	}
	return ""
}

func (r *reader) fields(b []byte) fields {
	all := fields{}
	for len(b) > 0 && r.err == nil {
		number, kind, size := protowire.ConsumeField(b)
		if size < 0 {
			r.err = protowire.ParseError(size)
			break
		}
		if kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(b)
			value, _ := protowire.ConsumeBytes(b[tag:])
			all[number] = append(all[number], value)
		}
		b = b[size:]
	}
	return all
}
