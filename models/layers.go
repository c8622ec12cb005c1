package models

// A Layered is a [Model] whose predictions are made by dense layers alone. Other programs, and
// predictions without graphs, can evaluate it.
type Layered interface {
	// Layers returns the layers, from the features to the outputs.
	Layers() []Layer
}

// A Layer maps h to units of W h + b. Its W is the Out×In numbers of y from Offset on, row by row,
// and its b, with Bias, the Out numbers that follow.
type Layer struct {
	In, Out int
	Offset  int
	Bias    bool // else b is 0
	Unit    Unit
}

// A Unit is the nonlinearity of a layer, applied to each of its sums.
type Unit string

// The kinds of units.
const (
	Identity Unit = ""
	Tanh     Unit = "tanh"
	ReLU     Unit = "relu" // max(a, 0)
)

// Layers implements [Layered].
func (s Softmax) Layers() []Layer { return []Layer{{In: s.Features, Out: s.Classes}} }

// Layers implements [Layered].
func (l Linear) Layers() []Layer { return []Layer{{In: l.Features, Out: l.Outputs, Bias: true}} }

// Layers implements [Layered].
func (m MLP) Layers() []Layer {
	unit := Tanh
	if m.ReLU {
		unit = ReLU
	}
	var list []Layer
	m.eachLayer(func(_ int, l dense) {
		list = append(list, Layer{In: l.in, Out: l.out, Offset: l.off, Bias: true, Unit: unit})
	})
	list[len(list)-1].Unit = Identity
	return list
}
