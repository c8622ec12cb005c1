package ad

import (
	"math"
	"slices"
)

// Pooling cuts the entries along an axis into windows of Size entries that begin Stride apart, 0:
// Size. Entries of a window lie Dilation apart, 0: 1. There are Pad places around the axis on each
// side, which count in means as zeros, unless Inside. With Ceil a last window may reach beyond
// them. Where Windows is not 0 it is how many windows divide the axis evenly, as far as that goes,
// and nothing else counts.
type Pooling struct {
	Size, Stride, Dilation, Pad int
	Inside, Ceil                bool
	Windows                     int
}

// windows returns the entries of each window among n, and how many places it has.
func (p Pooling) windows(op named, n int) (all []taps, sizes []int) {
	if p.Windows > 0 {
		for i := range p.Windows {
			var t taps
			for at := i * n / p.Windows; at*p.Windows < (i+1)*n; at++ { // rounded outwards: they may overlap
				t.at = append(t.at, at)
			}
			all, sizes = append(all, t), append(sizes, len(t.at))
		}
		return all, sizes
	}
	stride, apart := p.Stride, max(p.Dilation, 1)
	if stride == 0 {
		stride = p.Size
	}
	last := n + 2*p.Pad - apart*(p.Size-1) - 1 // where the last window begins, at most
	if p.Size < 1 || stride < 1 || min(p.Dilation, p.Pad, last, p.Windows) < 0 || p.Pad > apart*(p.Size-1) {
		failf("%v: a window must fit into the padded axis, and padding be less than it; the axis has %d, the "+
			"window is %+v", op, n, p)
	}
	if p.Ceil { // one window more, if it begins before the padding at the end
		last = min(last+stride-1, n+p.Pad-1)
	}
	for from := -p.Pad; from+p.Pad <= last; from += stride {
		var t taps
		size := 0
		for at := from; at < from+apart*p.Size; at += apart {
			if at < n+p.Pad { // what is beyond, by Ceil, does not count
				size++
			}
			if at >= 0 && at < n {
				t.at = append(t.at, at)
			}
		}
		if len(t.at) == 0 {
			failf("%v: a window must have an entry of the axis, not padding alone; it is %+v", op, p)
		}
		if p.Inside {
			size = len(t.at)
		}
		all, sizes = append(all, t), append(sizes, size)
	}
	return all, sizes
}

// MeanPool returns the means of windows along an axis; of several axes, one call each.
func (t Tensor) MeanPool(axis int, p Pooling) Tensor {
	all, sizes := p.windows("MeanPool", t.length("MeanPool", axis))
	for i := range all {
		for range all[i].at {
			all[i].by = append(all[i].by, 1/float64(sizes[i]))
		}
	}
	return t.weighted("MeanPool", axis, all)
}

// MaxPool returns the largest entries of windows along an axis; of several axes, one call each, the
// last axis first: of equal entries the first has the derivative then.
func (t Tensor) MaxPool(axis int, p Pooling) Tensor {
	all, _ := p.windows("MaxPool", t.length("MaxPool", axis))
	longest := 0
	for _, w := range all {
		longest = max(longest, len(w.at))
	}
	var indices []int
	for _, w := range all {
		for k := range longest { // the first again, which changes no maximum
			at := w.at[0]
			if k < len(w.at) {
				at = w.at[k]
			}
			indices = append(indices, at)
		}
	}
	return t.picked("MaxPool", axis, indices).split(axis, longest).Max(axis + 1)
}

// Unfold returns the windows along an axis, with an axis behind it for their entries; padding is
// zeros.
func (t Tensor) Unfold(axis int, p Pooling) Tensor {
	t = t.Pad(axis, p.Pad, p.Pad, Zeros)
	p.Pad, p.Windows, p.Ceil = 0, 0, false
	all, _ := p.windows("Unfold", t.Shape[axis])
	var indices []int
	for _, w := range all {
		indices = append(indices, w.at...)
	}
	return t.picked("Unfold", axis, indices).split(axis, p.Size)
}

// split makes of an axis two, the second of some length.
func (t Tensor) split(axis, length int) Tensor {
	shape := slices.Insert(slices.Clone(t.Shape), axis+1, length)
	shape[axis] /= length
	return TensorOf(t.Node, shape...)
}

// weighted returns the sums of entries along an axis.
func (t Tensor) weighted(op named, axis int, results []taps) Tensor {
	return t.mapped(op, axis, len(results), func(rows *Node, cols int) *Node {
		return sparseRule{s: mapOf(t.Shape[axis], results), cols: cols}.of(rows)
	})
}

// An Interpolation is how [Tensor.Resize] finds entries between others.
type Interpolation uint8

// The interpolations, which are PyTorch's of the same names. Entries are areas side by side, or,
// as Aligned, points of which the first and the last stay in their place.
const (
	Nearest       Interpolation = iota // by the areas' beginnings
	NearestExact                       // by the areas' centres
	Linear                             // of several axes: bilinear, trilinear
	LinearAligned                      // see Linear
	Cubic                              // by Keys's cubic with a = −3/4
	CubicAligned                       // see Cubic
)

// Resize makes of the entries along an axis n, which are evenly spread; of several axes, one call
// each. The mean of the areas is [Tensor.MeanPool] by Windows.
func (t Tensor) Resize(axis, n int, by Interpolation) Tensor {
	return t.resized(axis, n, func(i int) float64 { return float64(i*t.Shape[axis]) / float64(n) }, by)
}

// ResizeBy is Resize to a multiple of the length, rounded down, whose entries lie exactly 1/scale
// apart.
func (t Tensor) ResizeBy(axis int, scale float64, by Interpolation) Tensor {
	n := int(float64(t.length("Resize", axis)) * scale)
	return t.resized(axis, n, func(i int) float64 { return float64(i) / scale }, by)
}

// resized makes n entries, whose areas begin at some places.
func (t Tensor) resized(axis, n int, begin func(i int) float64, by Interpolation) Tensor {
	length := t.length("Resize", axis)
	results := make([]taps, max(n, 0))
	for i := range results {
		results[i] = by.taps(i, n, length, begin(i), begin(2*i+1)/2)
	}
	return t.weighted("Resize", axis, results)
}

// taps returns the entries, and their weights, from which entry i of n is interpolated along an
// axis of the given length. In the input's coordinates the entry's area starts at begin and has its
// middle at centre.
func (by Interpolation) taps(i, n, length int, begin, centre float64) taps {
	switch by {
	case Nearest:
		return taps{at: []int{min(int(begin), length-1)}}
	case NearestExact:
		return taps{at: []int{min(int(centre), length-1)}}
	}
	x := centre - .5
	if by == LinearAligned || by == CubicAligned {
		x = float64(i) * float64(length-1) / float64(max(n-1, 1))
	}
	if by <= LinearAligned { // before the first middle is the first entry alone
		x = max(x, 0)
	}
	from, weights := math.Floor(x), []float64{1 - (x - math.Floor(x)), x - math.Floor(x)}
	first := int(from)
	if by >= Cubic { // of four entries, two on each side
		first, weights = first-1, keys(x-from)
	}
	t := taps{by: weights}
	for k := range weights { // beyond the ends the last entry is there once more
		t.at = append(t.at, min(max(first+k, 0), length-1))
	}
	return t
}

// keys are the weights of the four neighbours of a place u behind the second (Keys 1981).
func keys(u float64) []float64 {
	const a = -.75
	near := func(d float64) float64 { return float64((float64((a+2)*d)-(a+3))*d*d) + 1 }
	far := func(d float64) float64 { return float64((float64((float64(a*d)-5*a)*d)+8*a)*d) - 4*a }
	return []float64{far(u + 1), near(u), near(1 - u), far(2 - u)}
}
