package ad

import "gorgonia.org/tensor"

// around returns the product of the lengths before an axis, the axis's own, and the product of
// those behind it.
func around(shape tensor.Shape, axis int) (outer, length, inner int) {
	if axis >= len(shape) {
		return shape.TotalSize(), 1, 1
	}
	outer, inner = 1, 1
	for i, n := range shape {
		switch {
		case i < axis:
			outer *= n
		case i > axis:
			inner *= n
		}
	}
	return outer, shape[axis], inner
}

func (s stock) softmax() *Node {
	t, axis := s.tensor(), s.int("axis")
	if axis < 0 {
		axis += len(t.Shape)
	}
	f := RowSoftmax
	if s.field("isLog").Bool() {
		f = func(m *Node) *Node { return AddCol(m, Neg(RowLogSumExp(m))) }
	}
	return t.Along(f, axis).Node
}

func (s stock) slice() *Node {
	o, ok := s.n.Op().(interface {
		Start() int
		End() int
		Step() int
	})
	if !ok || s.field("Slice").IsNil() || o.End() <= o.Start() { // all of the axis
		return s.in[0]
	}
	return s.tensor().Slice(s.int("along"), o.Start(), o.End(), max(o.Step(), 1)).Node
}

func (s stock) at() *Node {
	off := 0
	for i, c := range s.ints("coordinates") {
		off = off*s.old[0].Shape()[i] + c
	}
	return Item(Flatten(s.in[0]), off)
}

func (s stock) concat() *Node {
	parts := make([]*Node, len(s.in))
	for i, a := range s.in {
		outer, length, inner := around(s.old[i].Shape(), s.int("axis"))
		parts[i] = Reshape(a, outer, length*inner)
	}
	return ConcatCols(parts...)
}

// repeat repeats each entry along an axis, or the whole where it has no such axis.
func (s stock) repeat() *Node {
	axis := s.int("along")
	outer, length, inner := around(s.old[0].Shape(), axis)
	times := s.n.Shape().TotalSize() / (outer * length * inner)
	switch {
	case length == 1 && outer == 1:
		return RepeatRow(Flatten(s.in[0]), times)
	case length == 1 && inner == 1:
		return RepeatCol(Flatten(s.in[0]), times)
	}
	return s.tensor().Repeat(axis, times).Node
}

// window returns the geometry of an op on images of shape N×C×H×W, false if [Window] has none. A
// stride that is never used is as the other one.
func (s stock) window(padH, padW string) (Window, bool) {
	shape := s.old[0].Shape()
	w := Window{H: shape[2], W: shape[3], C: shape[1], KH: s.int("h"), KW: s.int("w"), Stride: s.int("strideH"),
		StrideW: s.int("strideW"), PadH: s.int(padH), PadW: s.int(padW)}
	switch {
	case w.OutH() == 1:
		w.Stride = w.StrideW
	case w.OutW() == 1:
		w.StrideW = w.Stride
	}
	return w, w.PadH < w.KH && w.PadW < w.KW
}

// channelsLast returns images of shape N×C×H×W as rows of H·W·C numbers.
func (s stock) channelsLast() *Node {
	shape := s.old[0].Shape()
	return Reshape(s.tensor().Transpose(0, 2, 3, 1).Node, shape[0], shape.TotalSize()/shape[0])
}

func (s stock) patches() *Node {
	w, ok := s.window("padH", "padW")
	if !ok {
		return nil
	}
	w.DilationH, w.DilationW = s.int("dilationH"), s.int("dilationW")
	p := Im2col(s.channelsLast(), w)
	return channelsFirst(p, w.KH*w.KW, w.C)
}

// maxPool is nil for padding that differs from side to side.
func (s stock) maxPool() *Node {
	w, ok := s.window("padNorth", "padWest")
	if !ok || s.int("padNorth") != s.int("padSouth") || s.int("padWest") != s.int("padEast") {
		return nil
	}
	return channelsFirst(MaxPool(s.channelsLast(), w), w.Patches(), w.C)
}

// channelsFirst moves the channels of each row before its pixels.
func channelsFirst(rows *Node, pixels, channels int) *Node {
	return TensorOf(rows, rows.Shape()[0], pixels, channels).Transpose(0, 2, 1).Node
}
