// Package onnx writes models in the format of ONNX, the Open Neural Network Exchange, as far as the models of package modelfile
// need it: dense layers in float64 behind the preparation of numbers and words. A [Model] is what the file holds, a protobuf
// message, which [Model.Encode] makes; [Read] reads as much of a file as it takes to make the model anew.
package onnx

// The versions of operators, and of the format, that models are written in: the versions of ONNX 1.12, which every runtime since then reads.
const (
	Opset     = 17
	OpsetML   = 3
	irVersion = 8
)

// ML is the domain of the operators for words.
const ML = "ai.onnx.ml"

// A Model is a graph, and texts about it.
type Model struct {
	Producer, Version string // the program that wrote it
	Doc               string // for people
	Metadata          []Text
	Graph             Graph
}

// A Text is a named text.
type Text struct{ Name, Value string }

// Text returns a text of the model's metadata, "" if it has none of that name.
func (m *Model) Text(name string) string {
	for _, t := range m.Metadata {
		if t.Name == name {
			return t.Value
		}
	}
	return ""
}

// A Graph computes its outputs from its inputs and constants, by nodes each of which has its inputs before it.
type Graph struct {
	Name      string
	Inputs    []Value
	Outputs   []Value
	Constants []Constant // initializers, in the words of the format
	Nodes     []Node
}

// A Value is an input or output of a graph.
type Value struct {
	Name string
	Type Type
	Cols int // 0: it has one dimension, the rows; else the columns of a matrix
}

// A Constant is a named tensor of float64 or of whole numbers, row by row.
type Constant struct {
	Name    string
	Shape   []int
	Doubles []float64
	Ints    []int64
}

// A Node makes one tensor of others.
type Node struct {
	Op, Domain string // Domain "" is ONNX's own
	Inputs     []string
	Output     string
	Attributes []Attribute
}

// An Attribute is a setting of a node: one whole number (Ints alone, not List), whole numbers, or words.
type Attribute struct {
	Name  string
	Ints  []int64
	Words []string
	List  bool // whether Ints are a list, even of one number
}

// Int makes an attribute of one whole number.
func Int(name string, v int64) Attribute { return Attribute{Name: name, Ints: []int64{v}} }

// Ints makes an attribute of whole numbers.
func Ints(name string, v []int64) Attribute { return Attribute{Name: name, Ints: v, List: true} }

// Words makes an attribute of words.
func Words(name string, v []string) Attribute { return Attribute{Name: name, Words: v, List: true} }

// A Type is the type of a tensor's entries, by its number in the format.
type Type int

// The types that models have.
const (
	Float  Type = 1 // float32
	Int64  Type = 7
	String Type = 8
	Double Type = 11 // float64
)
