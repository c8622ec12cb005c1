package ad

import "dsbo/internal/kernel"

// MaxPool returns the largest entry of each patch and channel: m images (m × H·W·C) become m ×
// OutH·OutW·C. Padding does not count. Of equal entries the first has the derivative.
//
// ReLU and a channel's bias do not change which entry is the largest, so both are moved behind the
// pooling, where there are fewer entries.
func MaxPool(images *Node, w Window) *Node {
	m := countImages("MaxPool", images, w)
	if ruleOf(images) == rule(fnReLU) {
		return ReLU(MaxPool(children(images)[0], w))
	}
	if maps := unreshaped(images); ruleOf(maps) == rule(addRow) && shapeOf(maps)[1] == w.C {
		in := children(maps)
		pooled := Reshape(MaxPool(Reshape(in[0], m, w.Pixels()), w), m*w.Patches(), w.C)
		return Reshape(AddRow(pooled, in[1]), m, w.Patches()*w.C)
	}
	if w.Plain() {
		return pick(images, images, m, w)
	}
	strideW, _, _ := w.Along()
	t := TensorOf(images, m, w.H, w.W, w.C)
	t = t.MaxPool(2, Pooling{Size: w.KW, Stride: strideW, Dilation: w.DilationW, Pad: w.PadW})
	t = t.MaxPool(1, Pooling{Size: w.KH, Stride: w.Stride, Dilation: w.DilationH, Pad: w.PadH})
	return Reshape(t.Node, m, w.Patches()*w.C)
}

func pick(by, a *Node, m int, w Window) *Node {
	taps := largestOf(by, m, w)
	return newNode(windowRule{pickOp, w}, shapeOf(taps), taps, a)
}

// largestOf returns the tap of the largest entry of each patch and channel of m images.
func largestOf(images *Node, m int, w Window) *Node {
	return newNode(windowRule{largestOp, w}, matShape(m, w.Patches()*w.C), images)
}

// rowWindow is the window of images of one row, which is one patch.
func rowWindow(cols int) Window { return Window{H: 1, W: cols, C: 1, KH: 1, KW: cols, Stride: 1} }

// RowMax returns the largest entry of each row of a matrix. Of equal entries the first has the
// derivative.
func RowMax(a *Node) *Node { return pickRow(rowMaxName, a, a) }

// RowMin returns the smallest entry of each row of a matrix. Of equal entries the first has the
// derivative.
func RowMin(a *Node) *Node { return pickRow(rowMinName, Neg(a), a) }

// RowHit returns 1 for each row whose largest score is at the 1 of onehot, and else 0; of equal
// scores the first counts. It is meant for accuracies: its derivative by scores is 0.
func RowHit(scores, onehot *Node) *Node {
	rowHitName.sameShape(scores, onehot)
	return pickRow(rowHitName, scores, onehot)
}

// Names for errors.
const (
	rowMaxName named = "RowMax"
	rowMinName named = "RowMin"
	rowHitName named = "RowHit"
)

func pickRow(name named, by, a *Node) *Node {
	m, c := name.matrix(by)
	return Flatten(pick(by, a, m, rowWindow(c)))
}

// pickKernel is the kernel of three ops on m images: largestOp finds the place of the largest entry
// of each patch and channel, pickOp reads another input at these places, and unpickOp, its
// derivative, adds to them.
func pickKernel[T Float](r windowRule) func(*call[T]) {
	p := kernel.NewPooling[T](r.w)
	return func(c *call[T]) {
		switch m, a := c.In[0].R, c.In[0].V; r.of {
		case largestOp:
			p.Largest(m, c.Dst.V, a)
		case pickOp:
			p.Pick(m, c.Dst.V, a, c.In[1].V)
		default:
			p.Unpick(m, c.Dst.V, a, c.In[1].V)
		}
	}
}

// AvgPool returns the mean of each patch and channel: m images (m × H·W·C) become m × OutH·OutW·C.
// Padding counts as zeros.
func AvgPool(images *Node, w Window) *Node {
	countImages("AvgPool", images, w)
	patches, channels := make([]taps, w.Patches()), w.C
	w.C = 1
	eachRun(w, func(image, patch, n int) {
		t := &patches[patch/w.Taps()]
		for p := range n {
			t.at = append(t.at, image+p)
		}
	})
	return Scale(1/float64(w.KH*w.KW), sparseRule{s: mapOf(w.H*w.W, patches), cols: channels}.of(images))
}
