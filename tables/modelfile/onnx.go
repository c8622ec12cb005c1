package modelfile

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// What follows is the format of ONNX, the Open Neural Network Exchange, as far as models of this
// package need it: dense layers in float64 behind the preparation of numbers and words. Field
// numbers are in onnx.proto.

// The versions of operators, and of the format, that models are written in: the versions of ONNX
// 1.15, the first one with expressions that a text matches.
const (
	onnxOpset   = 20
	onnxOpsetML = 3
	irVersion   = 9
)

// onnxML is the domain of the operators for words.
const onnxML = "ai.onnx.ml"

// The types of a tensor's entries that models have, by their numbers in the format.
const (
	onnxFloat  = 1 // float32
	onnxInt64  = 7
	onnxString = 8
	onnxDouble = 11 // float64
)

// A message is the bytes of a protobuf message, to which fields are appended.
type message []byte

func (m *message) bytes(n protowire.Number, v []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, n, protowire.BytesType), v)
}

func (m *message) wholes(n protowire.Number, list ...int) {
	for _, v := range list {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, n, protowire.VarintType), uint64(v))
	}
}

func (m *message) texts(n protowire.Number, list ...string) {
	for _, s := range list {
		m.bytes(n, []byte(s))
	}
}

// An attribute is a setting of a node, a field of its message: whole numbers or words.
type attribute struct {
	numbers, words protowire.Number // the field that has them
	kind           int
}

// The attributes of models: of one or of several.
var (
	oneNumber   = attribute{3, 0, 2}
	oneWord     = attribute{0, 4, 3}
	manyNumbers = attribute{8, 0, 7}
	manyWords   = attribute{0, 9, 8}
)

// of returns the field of an attribute's value.
func (a attribute) of(name string, numbers []int, words ...string) (field message) {
	var b message
	b.texts(1, name)
	b.wholes(a.numbers, numbers...)
	b.texts(a.words, words...)
	b.wholes(20, a.kind)
	field.bytes(5, b)
	return field
}

// number is the field of an attribute of one whole number.
func number(name string, v int) message { return oneNumber.of(name, []int{v}) }

// A graph is an ONNX graph that grows: nodes, each behind the nodes of its inputs, constants, and
// the inputs and outputs of all.
type graph struct {
	nodes, constants, inputs, outputs message
	taken                             map[string]bool // names of tensors
}

// encode returns the message of the graph, the same bytes for the same model.
func (g *graph) encode(name string) message {
	b := g.nodes
	b.texts(2, name)
	return append(append(append(b, g.constants...), g.inputs...), g.outputs...)
}

// freeName returns a free name that begins with what is wanted.
func (g *graph) freeName(want string) string {
	for g.taken[want] {
		want += "_"
	}
	g.taken[want] = true
	return want
}

// node adds a node and returns the name of its output.
func (g *graph) node(want, op string, attributes message, inputs ...string) string {
	return g.nodeOf(g.freeName(want), op, attributes, inputs...)
}

// nodeOf adds the node of an output whose name is taken already.
func (g *graph) nodeOf(output, op string, attributes message, inputs ...string) string {
	var b message
	b.texts(1, inputs...)
	b.texts(2, output)
	b.texts(3, output) // the node's own name
	b.texts(4, op)
	b = append(b, attributes...)
	if op == "LabelEncoder" {
		b.texts(7, onnxML)
	}
	g.nodes.bytes(1, b)
	return output
}

// doubles adds a constant of float64 and returns its name.
func (g *graph) doubles(want string, v []float64, shape ...int) string {
	return g.constant(want, onnxDouble, v, shape...)
}

// wholes adds a constant, a vector of whole numbers, and returns its name.
func (g *graph) wholes(want string, list ...int) string {
	var wide []int64
	for _, v := range list {
		wide = append(wide, int64(v))
	}
	return g.constant(want, onnxInt64, wide, len(list))
}

// constant adds a tensor of numbers of one type, row by row, and returns its name.
func (g *graph) constant(want string, kind int, numbers any, shape ...int) string {
	var b message
	name := g.freeName(want)
	raw, _ := binary.Append(nil, binary.LittleEndian, numbers) // which numbers always can be
	b.wholes(1, shape...)
	b.wholes(2, kind)
	b.texts(8, name)
	b.bytes(9, raw)
	g.constants.bytes(5, b)
	return name
}

// value describes an input or output with its dimensions: numbers, or names of those that differ
// from run to run.
func value(name string, kind int, dims ...any) (b message) {
	var shape, tensor, sort message
	for _, dim := range dims {
		var d message
		switch v := dim.(type) {
		case int:
			d.wholes(1, v)
		case string:
			d.texts(2, v)
		}
		shape.bytes(1, d)
	}
	tensor.wholes(1, kind)
	tensor.bytes(2, shape)
	sort.bytes(1, tensor)
	b.texts(1, name)
	b.bytes(2, sort)
	return b
}
