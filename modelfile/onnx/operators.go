package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// An operation makes the output of a node of its inputs.
type operation func(in []*Tensor) (*Tensor, error)

// An operator is what this package knows of one of ONNX's operators.
type operator struct {
	least, most int // number of inputs
	attributes  []Attribute
	run         operation
}

var (
	columns   = []Attribute{Int("axis", 1)}
	operators = map[string]operator{
		"Cast":    {1, 1, []Attribute{Int("to", int64(Double))}, castDouble},
		"Concat":  {1, math.MaxInt, columns, concat},
		"Gather":  {2, 2, columns, gather},
		"Add":     {2, 2, nil, arithmetic(func(a, b float64) float64 { return a + b })},
		"Sub":     {2, 2, nil, arithmetic(func(a, b float64) float64 { return a - b })},
		"Mul":     {2, 2, nil, arithmetic(func(a, b float64) float64 { return a * b })},
		"Div":     {2, 2, nil, arithmetic(func(a, b float64) float64 { return a / b })},
		"Equal":   {2, 2, nil, equal},
		"IsNaN":   {1, 1, nil, isNaN},
		"Where":   {3, 3, nil, where},
		"Gemm":    {2, 3, []Attribute{Int("transB", 1)}, gemm},
		"Tanh":    {1, 1, nil, entrywise(math.Tanh)},
		"Relu":    {1, 1, nil, entrywise(func(v float64) float64 { return max(v, 0) })},
		"Exp":     {1, 1, nil, entrywise(math.Exp)},
		"Softmax": {1, 1, columns, softmax},
		"ArgMax":  {1, 1, []Attribute{Int("axis", 1), Int("keepdims", 0)}, argMax},
		"Squeeze": {2, 2, nil, squeeze},
	}
)

// operation returns what the node does.
func (n *Node) operation() (operation, error) {
	if n.Domain == ML && n.Op == "LabelEncoder" && len(n.Inputs) == 1 {
		return labelEncoder(n.Attributes)
	}
	o, known := operators[n.Op]
	if !known || n.Domain != "" {
		return nil, fmt.Errorf("there is no such operator here (domain %.40q)", n.Domain)
	}
	if len(n.Inputs) < o.least || len(n.Inputs) > o.most {
		return nil, fmt.Errorf("it must have %d to %d inputs; it has %d", o.least, o.most, len(n.Inputs))
	}
	if !slices.EqualFunc(n.Attributes, o.attributes, func(a, b Attribute) bool {
		return a.Name == b.Name && !a.List && a.Words == nil && slices.Equal(a.Ints, b.Ints)
	}) {
		return nil, fmt.Errorf("its attributes must be %v; they are %v", o.attributes, n.Attributes)
	}
	return o.run, nil
}

// labelEncoder makes whole numbers of words, or words of whole numbers, by lists of both; there is a default for what is in no list.
func labelEncoder(attributes []Attribute) (operation, error) {
	var words []string
	var ints []int64
	var standard int64
	toWords := false
	for _, a := range attributes {
		switch {
		case a.Name == "keys_strings" || a.Name == "values_strings":
			words = a.Words
		case a.Name == "keys_int64s" || a.Name == "values_int64s":
			ints, toWords = a.Ints, a.Name == "keys_int64s"
		case a.Name == "default_int64" && !a.List:
			standard = a.Ints[0]
		default:
			return nil, fmt.Errorf("its attributes must be lists of keys and values, and a default; %.40q is none", a.Name)
		}
	}
	if len(words) != len(ints) {
		return nil, fmt.Errorf("it must have as many words as numbers; it has %d and %d", len(words), len(ints))
	}
	if toWords {
		of := map[int64]string{}
		for i, v := range ints {
			of[v] = words[i]
		}
		return func(in []*Tensor) (*Tensor, error) {
			out := &Tensor{Type: String, Shape: in[0].Shape, Words: make([]string, len(in[0].Ints))}
			for i, v := range in[0].Ints {
				out.Words[i] = of[v]
			}
			return out, checkType(in[0], Int64)
		}, nil
	}
	of := map[string]int64{}
	for i, w := range words {
		of[w] = ints[i]
	}
	return func(in []*Tensor) (*Tensor, error) {
		out := &Tensor{Type: Int64, Shape: in[0].Shape, Ints: make([]int64, len(in[0].Words))}
		for i, w := range in[0].Words {
			code, known := of[w]
			if !known {
				code = standard
			}
			out.Ints[i] = code
		}
		return out, checkType(in[0], String)
	}, nil
}

// checkType returns an error if a tensor is of another type.
func checkType(t *Tensor, want Type) error {
	if t.Type != want {
		return fmt.Errorf("an input must be of type %d; it is of type %d", want, t.Type)
	}
	return nil
}

// checkTypes returns an error if a tensor is of another type.
func checkTypes(in []*Tensor, want Type) error {
	for _, t := range in {
		if err := checkType(t, want); err != nil {
			return err
		}
	}
	return nil
}

func castDouble(in []*Tensor) (*Tensor, error) {
	out := make([]float64, in[0].entries())
	switch in[0].Type {
	case Float:
		for i, v := range in[0].Floats {
			out[i] = float64(v)
		}
	case Bool:
		for i, v := range in[0].Bools {
			if v {
				out[i] = 1
			}
		}
	default:
		return nil, fmt.Errorf("an input must be of type %d or %d; it is of type %d", Float, Bool, in[0].Type)
	}
	return &Tensor{Type: Double, Shape: in[0].Shape, Doubles: out}, nil
}

// concat sets matrices side by side.
func concat(in []*Tensor) (*Tensor, error) {
	rows, cols := in[0].size()
	for _, t := range in[1:] {
		r, c := t.size()
		if r != rows || len(t.Shape) != 2 || len(in[0].Shape) != 2 || c > MaxEntries-cols {
			return nil, fmt.Errorf("inputs must be matrices with as many rows; their shapes are %v and %v", in[0].Shape, t.Shape)
		}
		cols += c
	}
	out := &Tensor{Type: in[0].Type, Shape: []int{rows, cols}}
	if err := errors.Join(checkEntries(rows, cols), checkTypes(in, out.Type)); err != nil {
		return nil, err
	}
	switch out.Type {
	case Float:
		out.Floats = sideBySide(in, func(t *Tensor) []float32 { return t.Floats })
	case Bool:
		out.Bools = sideBySide(in, func(t *Tensor) []bool { return t.Bools })
	case Double:
		out.Doubles = sideBySide(in, func(t *Tensor) []float64 { return t.Doubles })
	default:
		return nil, fmt.Errorf("columns must be numbers or true and false; they are of type %d", out.Type)
	}
	return out, nil
}

func sideBySide[T any](in []*Tensor, entries func(t *Tensor) []T) []T {
	var out []T
	for i := range in[0].Shape[0] {
		for _, t := range in {
			out = append(out, entries(t)[i*t.Shape[1]:][:t.Shape[1]]...)
		}
	}
	return out
}

// checkEntries returns an error if a matrix has too many entries.
func checkEntries(rows, cols int) error {
	if cols > 0 && rows > MaxEntries/cols {
		return fmt.Errorf("a tensor must have at most %d entries; %d×%d are more", MaxEntries, rows, cols)
	}
	return nil
}

// gather chooses columns.
func gather(in []*Tensor) (*Tensor, error) {
	from, at := in[0], in[1]
	rows, cols, err := matrixOf(from)
	if err = errors.Join(err, checkType(at, Int64), checkEntries(rows, len(at.Ints))); err != nil {
		return nil, err
	}
	if len(at.Shape) != 1 {
		return nil, fmt.Errorf("columns must be a vector; their shape is %v", at.Shape)
	}
	out := make([]float64, 0, rows*len(at.Ints))
	for i := range rows {
		for _, j := range at.Ints {
			if j < 0 || j >= int64(cols) {
				return nil, fmt.Errorf("columns must be from 0 to %d; there is %d", cols-1, j)
			}
			out = append(out, from.Doubles[i*cols+int(j)])
		}
	}
	return &Tensor{Type: Double, Shape: []int{rows, len(at.Ints)}, Doubles: out}, nil
}

// squeeze makes a vector of a matrix of one column. Its second input says so: axis 1.
func squeeze(in []*Tensor) (*Tensor, error) {
	rows, cols, err := matrixOf(in[0])
	if err != nil || cols != 1 || !slices.Equal(in[1].Ints, []int64{1}) {
		return nil, errors.Join(err, fmt.Errorf("the axis must be 1 of a matrix with one column; it is %v of the shape %v", in[1].Ints, in[0].Shape))
	}
	return &Tensor{Type: Double, Shape: []int{rows}, Doubles: in[0].Doubles}, nil
}
