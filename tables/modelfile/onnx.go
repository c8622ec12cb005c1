package modelfile

// What follows is the format of ONNX, the Open Neural Network Exchange, as far as models of this
// package need it: dense layers in float64 behind the preparation of numbers and words.

// The versions of operators, and of the format, that models are written in: the versions of ONNX
// 1.15, the first one with expressions that a text matches.
const (
	onnxOpset   = 20
	onnxOpsetML = 3
	irVersion   = 9
)

// onnxML is the domain of the operators for words.
const onnxML = "ai.onnx.ml"

// An onnxModel is a graph, and texts about it.
type onnxModel struct {
	Producer, Version string // the program that wrote it
	Doc               string // for people
	Metadata          []onnxText
	Graph             onnxGraph
}

// An onnxText is a named text.
type onnxText struct{ Name, Value string }

// An onnxGraph computes its outputs from its inputs and constants, by nodes each of which has its
// inputs before it.
type onnxGraph struct {
	Name      string
	Inputs    []onnxValue
	Outputs   []onnxValue
	Constants []onnxConstant // initializers, in the words of the format
	Nodes     []onnxNode
}

// An onnxValue is an input or output of a graph.
type onnxValue struct {
	Name    string
	Type    onnxType
	Cols    int    // 0, without Columns: it has one dimension, the rows; else the columns of a matrix
	Rows    string // the name of their number, which differs from run to run; "" is N
	Columns string // the name of the number of columns, where it does
}

// An onnxConstant is a named tensor of float64 or of whole numbers, row by row.
type onnxConstant struct {
	Name    string
	Shape   []int
	Doubles []float64
	Ints    []int64
}

// An onnxNode makes one tensor of others.
type onnxNode struct {
	Op, Domain string // Domain "" is ONNX's own
	Inputs     []string
	Output     string
	Attributes []onnxAttribute
}

// An onnxAttribute is a setting of a node: one whole number or word (not List), whole numbers or
// words.
type onnxAttribute struct {
	Name  string
	Ints  []int64
	Words []string
	List  bool // whether it is a list, even of one
}

// onnxInt makes an attribute of one whole number.
func onnxInt(name string, v int64) onnxAttribute { return onnxAttribute{Name: name, Ints: []int64{v}} }

// onnxWord makes an attribute of one word.
func onnxWord(name, v string) onnxAttribute { return onnxAttribute{Name: name, Words: []string{v}} }

// onnxInts makes an attribute of whole numbers.
func onnxInts(name string, v []int64) onnxAttribute {
	return onnxAttribute{Name: name, Ints: v, List: true}
}

// onnxWords makes an attribute of words.
func onnxWords(name string, v []string) onnxAttribute {
	return onnxAttribute{Name: name, Words: v, List: true}
}

// An onnxType is the type of a tensor's entries, by its number in the format.
type onnxType int

// The types that models have.
const (
	onnxFloat  onnxType = 1 // float32
	onnxInt64  onnxType = 7
	onnxString onnxType = 8
	onnxDouble onnxType = 11 // float64
)
