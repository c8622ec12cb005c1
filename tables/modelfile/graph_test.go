package modelfile_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// What follows reads and runs a model.onnx as other programs do: by the numbers of onnx.proto and
// ONNX's definitions of the operators, and without package onnx. It knows what models need, and
// panics at everything else.

// A message is a protobuf message: whole numbers (int) and bytes by the numbers of their fields.
type message map[protowire.Number][]any

func parse(b []byte) message {
	m := message{}
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		b = b[size:]
		switch kind {
		case protowire.VarintType:
			v, size := protowire.ConsumeVarint(b)
			m[n], b = append(m[n], int(v)), b[size:]
		case protowire.BytesType:
			v, size := protowire.ConsumeBytes(b)
			m[n], b = append(m[n], v), b[size:]
		default:
			panic(fmt.Sprintf("field %d of kind %d", n, kind))
		}
	}
	return m
}

func (m message) wholes(n protowire.Number) (all []int) {
	for _, v := range m[n] {
		all = append(all, v.(int))
	}
	return all
}

func (m message) words(n protowire.Number) (all []string) {
	for _, v := range m[n] {
		all = append(all, string(v.([]byte)))
	}
	return all
}

func (m message) text(n protowire.Number) string { return string(m[n][0].([]byte)) }

func (m message) messages(n protowire.Number) (all []message) {
	for _, v := range m[n] {
		all = append(all, parse(v.([]byte)))
	}
	return all
}

// Types of entries.
const (
	float32s = 1
	int64s   = 7
	texts    = 8
	bools    = 9
	float64s = 11
)

// A matrix is a tensor. A vector is one row. Entries are words, or numbers, which stand for true
// and false too.
type matrix struct {
	kind       int
	rows, cols int
	numbers    []float64
	words      []string
}

// at returns an entry of a matrix that is repeated along dimensions of 1.
func (m matrix) at(i, j int) float64 { return m.numbers[min(i, m.rows-1)*m.cols+min(j, m.cols-1)] }

// constant reads an initializer.
func constant(c message) matrix {
	m := matrix{kind: c.wholes(2)[0], rows: 1, cols: c.wholes(1)[0]}
	if shape := c.wholes(1); len(shape) == 2 {
		m.rows, m.cols = shape[0], shape[1]
	}
	for word := range slices.Chunk([]byte(c.text(9)), 8) {
		bits := binary.LittleEndian.Uint64(word)
		if m.numbers = append(m.numbers, math.Float64frombits(bits)); m.kind == int64s {
			m.numbers[len(m.numbers)-1] = float64(int64(bits))
		}
	}
	if len(m.numbers) != m.rows*m.cols || m.kind != int64s && m.kind != float64s {
		panic(fmt.Sprintf("constant %s of type %d has %d numbers in the shape %v", c.text(8), m.kind,
			len(m.numbers), c.wholes(1)))
	}
	return m
}

// each makes a matrix of a type with the shape that others have in common, by a function of the
// place of each entry.
func each(kind int, entry func(i, j int) float64, in ...matrix) matrix {
	m := matrix{kind: kind, rows: 1, cols: 1}
	for _, of := range in {
		m.rows, m.cols = max(m.rows, of.rows), max(m.cols, of.cols)
	}
	for i := range m.rows {
		for j := range m.cols {
			m.numbers = append(m.numbers, entry(i, j))
		}
	}
	return m
}

// signatures are the types of the operators' inputs; the types of Cast and Concat differ.
var signatures = map[string][]int{
	"Gather": {float64s, int64s}, "Add": {float64s, float64s}, "Sub": {float64s, float64s}, "Mul": {float64s, float64s},
	"Div": {float64s, float64s}, "Min": {float64s, float64s}, "RegexFullMatch": {texts},
	"Max": {float64s, float64s}, "Greater": {float64s, float64s},
	"IsNaN": {float64s}, "Where": {bools, float64s, float64s},
	"Gemm": {float64s, float64s, float64s}, "Tanh": {float64s},
	"Relu": {float64s}, "Exp": {float64s}, "Softmax": {float64s}, "ArgMax": {float64s}, "Squeeze": {float64s, int64s},
}

// attributes are what the attributes of an operator must be, but for LabelEncoder.
var attributes = map[string]map[string]int{
	"Cast": {"to": float64s}, "Concat": {"axis": 1}, "Gather": {"axis": 1}, "Gemm": {"transB": 1},
	"Softmax": {"axis": 1}, "ArgMax": {"axis": 1, "keepdims": 0},
}

// unaries and binaries are the operators that work entry by entry.
var (
	unaries = map[string]func(v float64) float64{"Cast": func(v float64) float64 { return v }, "Tanh": math.Tanh,
		"Relu": func(v float64) float64 { return max(v, 0) }, "Exp": math.Exp}
	binaries = map[string]func(v, w float64) float64{"Add": func(v, w float64) float64 { return v + w },
		"Sub": func(v, w float64) float64 { return v - w }, "Mul": func(v, w float64) float64 { return v * w },
		"Div": func(v, w float64) float64 { return v / w }, "Min": func(v, w float64) float64 { return min(v, w) },
		"Max": func(v, w float64) float64 { return max(v, w) }}
)

// operate returns the output of a node.
func operate(n message, in []matrix) matrix {
	op := n.text(4)
	if n[7] != nil {
		if n.text(7) != "ai.onnx.ml" || op != "LabelEncoder" {
			panic(n.text(7) + " " + op)
		}
		return encodeLabels(n, in[0])
	}
	if op == "RegexFullMatch" {
		pattern := n.messages(5)[0]
		expression := regexp.MustCompile("^(?:" + pattern.text(4) + ")$")
		return each(bools, func(i, _ int) float64 {
			return map[bool]float64{true: 1}[pattern.text(1) == "pattern" && expression.MatchString(in[0].words[i])]
		}, in[0])
	}
	given := map[string]int{}
	for _, attribute := range n.messages(5) {
		given[attribute.text(1)] = attribute.wholes(3)[0]
	}
	if !maps.Equal(given, attributes[op]) {
		panic(fmt.Sprintf("%s with attributes %v", op, given))
	}
	for k, m := range in {
		if types := signatures[op]; types != nil && m.kind != types[k] {
			panic(fmt.Sprintf("input %d of %s is of type %d", k, op, m.kind))
		}
	}
	a := in[0]
	truth := map[bool]float64{true: 1}
	switch unary, binary := unaries[op], binaries[op]; {
	case op == "Cast" && a.kind != float32s && a.kind != bools:
		panic(fmt.Sprintf("cast of type %d", a.kind))
	case unary != nil:
		return each(float64s, func(i, j int) float64 { return unary(a.at(i, j)) }, a)
	case binary != nil:
		return each(float64s, func(i, j int) float64 { return binary(a.at(i, j), in[1].at(i, j)) }, in...)
	}
	switch op {
	case "Greater":
		return each(bools, func(i, j int) float64 { return truth[a.at(i, j) > in[1].at(i, j)] }, in...)
	case "IsNaN":
		return each(bools, func(i, j int) float64 { return truth[math.IsNaN(a.at(i, j))] }, a)
	case "Where":
		return each(float64s, func(i, j int) float64 { return in[2-int(a.at(i, j))].at(i, j) }, in...)
	case "Concat":
		return concat(in)
	case "Gather":
		return each(float64s, func(i, j int) float64 { return a.numbers[i*a.cols+int(in[1].numbers[j])] },
			matrix{rows: a.rows, cols: in[1].cols})
	case "Gemm":
		return gemm(in)
	case "Softmax":
		return each(float64s, func(i, j int) float64 {
			sum := 0.
			for _, v := range a.numbers[i*a.cols:][:a.cols] {
				sum += math.Exp(v - a.at(i, j))
			}
			return 1 / sum
		}, a)
	case "ArgMax":
		return each(int64s, func(_, i int) float64 {
			row := a.numbers[i*a.cols:][:a.cols]
			return float64(slices.Index(row, slices.Max(row)))
		}, matrix{rows: 1, cols: a.rows})
	case "Squeeze":
		if a.cols == 1 && slices.Equal(in[1].numbers, []float64{1}) {
			return a
		}
	}
	panic("operator " + op)
}

func gemm(in []matrix) matrix {
	a, b := in[0], in[1]
	return each(float64s, func(i, k int) (sum float64) {
		for j := range a.cols {
			sum += a.at(i, j) * b.numbers[k*b.cols+j]
		}
		if len(in) == 3 {
			sum += in[2].at(i, k)
		}
		return sum
	}, matrix{rows: a.rows, cols: b.rows})
}

func concat(in []matrix) matrix {
	m := matrix{kind: in[0].kind, rows: in[0].rows}
	for i := range m.rows {
		for _, part := range in {
			if part.kind != m.kind || part.rows != m.rows {
				panic("concat of unlike matrices")
			}
			m.numbers = append(m.numbers, part.numbers[i*part.cols:][:part.cols]...)
		}
	}
	m.cols = len(m.numbers) / m.rows
	return m
}

// encodeLabels makes words of whole numbers.
func encodeLabels(n message, in matrix) matrix {
	of := map[string]message{}
	for _, a := range n.messages(5) {
		of[a.text(1)] = a
	}
	if in.kind != int64s {
		panic(fmt.Sprintf("labels of type %d", in.kind))
	}
	m := in
	m.kind = texts
	for _, v := range in.numbers {
		m.words = append(m.words, of["values_strings"].words(9)[slices.Index(of["keys_int64s"].wholes(8), int(v))])
	}
	return m
}

// runGraph returns the predictions of a model.onnx for rows that are its inputs.
func runGraph(path string, input func(in message) matrix) (made modelfile.Predictions) {
	file := parse(testkit.Get(os.ReadFile(path)))
	if sets := file.messages(8); file.wholes(1)[0] != 9 || len(sets) != 2 || sets[0].text(1) != "" ||
		sets[0].wholes(2)[0] != 20 || sets[1].text(1) != "ai.onnx.ml" || sets[1].wholes(2)[0] != 3 {
		panic(fmt.Sprintf("operators %v", sets))
	}
	graph, values := file.messages(7)[0], map[string]matrix{}
	for _, c := range graph.messages(5) {
		values[c.text(8)] = constant(c)
	}
	for _, in := range graph.messages(11) {
		values[in.text(1)] = input(in)
	}
	for _, n := range graph.messages(1) {
		var in []matrix
		for _, name := range n.words(1) {
			v, made := values[name]
			if !made {
				panic(name + " is not made before " + n.text(2))
			}
			in = append(in, v)
		}
		if _, twice := values[n.text(2)]; twice {
			panic(n.text(2) + " is made twice")
		}
		values[n.text(2)] = operate(n, in)
	}
	outputs := graph.messages(12)
	of := values[outputs[0].text(1)]
	if made.Labels = of.words; of.words == nil {
		made.Values = of.numbers
	}
	if len(outputs) == 2 {
		made.Probabilities = values[outputs[1].text(1)].numbers
	}
	return made
}

// rawInput returns the values of a table for an input of a graph, of the type and the shape that
// it states.
func rawInput(in message, r features.Recipe, t *tables.Table) matrix {
	tensor := in.messages(2)[0].messages(1)[0]
	shape := tensor.messages(2)[0].messages(1)
	m := matrix{kind: tensor.wholes(1)[0], rows: t.Rows(), cols: shape[1].wholes(1)[0]}
	if s := r.Sparse; s != nil {
		m.numbers = make([]float64, m.rows*m.cols)
		for row := range m.rows {
			for e := t.Sparse.Starts[row]; e < t.Sparse.Starts[row+1]; e++ {
				if k := int(t.Sparse.Indices[e]); k < m.cols {
					m.numbers[row*m.cols+k] = float64(t.Sparse.Values[e])
				}
			}
		}
		return m
	}
	named := func(name string) bool { return name == in.text(1) }
	c := t.Columns[slices.IndexFunc(t.Columns, func(c *tables.Column) bool { return named(c.Name) })]
	of := r.Inputs[slices.IndexFunc(r.Inputs, func(in features.Input) bool { return named(in.Name) })]
	for row := range m.rows {
		switch {
		case m.kind == float32s:
			m.numbers = append(m.numbers, float64(float32(float64(c.Number(row))*features.UnitScale(c.Unit, of.Unit))))
		case c.Missing(row):
			m.words = append(m.words, "")
		default:
			m.words = append(m.words, c.Words[c.Code(row)])
		}
	}
	return m
}

// agree wants all files of a model in a folder to predict the same: the files of this package to
// the bit, and the graph that other programs run as nearly as its sums in another order allow.
func agree(t *testing.T, folder runs.Folder, want modelfile.Predictions, data *tables.Table) {
	t.Helper()
	for _, path := range []string{string(folder), folder.Path(runs.ModelFile)} {
		if d := cmp.Diff(want, predictions(testkit.Get(modelfile.Open(path)), data)); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
	r := testkit.Get(modelfile.Open(string(folder))).Recipe()
	compare(t, runGraph(folder.Path(runs.ONNXFile), func(in message) matrix { return rawInput(in, r, data) }), want)
}
