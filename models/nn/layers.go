package nn

import (
	"fmt"

	"dsbo/ad"
)

// Dense maps each row h to W h + b.
type Dense struct{ W, B Param }

// NewDense adds a dense layer, of normal weights and biases 0.
func NewDense(ps *Params, name string, inputs, outputs int) Dense {
	return Dense{
		W: ps.Matrix(name+".weights", outputs, inputs, ps.weights(inputs)),
		B: ps.Vector(name+".biases", outputs, Init{}),
	}
}

// Outputs builds the layer's outputs, m × outputs, for h, m × inputs.
func (d Dense) Outputs(z, h *ad.Node) *ad.Node {
	return ad.AddRow(ad.MatMul(h, d.W.Node(z), false, true), d.B.Node(z))
}

// Conv is a convolution with a bias for each filter.
type Conv struct {
	Window ad.Window
	W, B   Param // W: a row of KH·KW·C/Groups numbers for each filter
	Groups int   // of channels and filters, see [ad.Convolve]; 0 means 1
}

// NewConv adds a convolution with a number of filters, of normal weights and biases 0.
func NewConv(ps *Params, name string, w ad.Window, filters int) Conv {
	return NewGroupedConv(ps, name, w, filters, 1)
}

// NewGroupedConv is [NewConv] with channels and filters in groups of equal size.
func NewGroupedConv(ps *Params, name string, w ad.Window, filters, groups int) Conv {
	if groups < 1 || w.C%groups != 0 || filters%groups != 0 {
		ps.fail("channels and filters of convolution %q must be multiples of its groups; they are %d, %d and %d", name,
			w.C, filters, groups)
		groups = 1 // what follows divides by it
	}
	taps := w.KH * w.KW * w.C / groups
	return Conv{
		Window: w,
		W:      ps.Matrix(name+".filters", filters, taps, ps.weights(taps)),
		B:      ps.Vector(name+".biases", filters, Init{}),
		Groups: groups,
	}
}

// Outputs builds the layer's outputs, images with a channel for each filter. images has one image a
// row, shaped as the window describes.
func (c Conv) Outputs(z, images *ad.Node) *ad.Node {
	rows, _ := ad.Dims(images)
	maps := ad.AddRow(ad.Convolve(images, c.W.Node(z), c.Window, max(c.Groups, 1)), c.B.Node(z))
	return ad.Reshape(maps, rows, c.Window.OutH()*c.Window.OutW()*c.W.Rows)
}

// Pool returns the window of a pooling of the layer's outputs by patches of k×k pixels side
// by side.
func (c Conv) Pool(k int) ad.Window { return c.Behind(k, k, k) }

// Behind returns the window of the next layer, which reads this layer's outputs: a kernel of kh×kw
// at every stride-th pixel, without padding.
func (c Conv) Behind(kh, kw, stride int) ad.Window {
	return ad.Window{H: c.Window.OutH(), W: c.Window.OutW(), C: c.W.Rows, KH: kh, KW: kw, Stride: stride}
}

// epsilon is added to variances, so that constant numbers can be normalized too.
const epsilon = 1e-5

// LayerNorm gives each row mean 0 and variance 1, and then the layer's scale and offset for
// each column.
type LayerNorm struct{ Scale, Offset Param }

// NewLayerNorm adds a normalization of rows of n numbers, of scales 1 and offsets 0.
func NewLayerNorm(ps *Params, name string, width int) LayerNorm {
	return LayerNorm{Scale: ps.Vector(name+".scales", width, Init{Mean: 1}),
		Offset: ps.Vector(name+".offsets", width, Init{})}
}

// Outputs builds the normalized rows of h, m × width.
func (l LayerNorm) Outputs(z, h *ad.Node) *ad.Node {
	return ad.AddRow(ad.ColScale(normalized(h, l.Scale.Rows), l.Scale.Node(z)), l.Offset.Node(z))
}

// normalized builds rows of a width with mean 0 and variance 1.
func normalized(rows *ad.Node, width int) *ad.Node {
	n := 1 / float64(width)
	centred := ad.AddCol(rows, ad.Scale(-n, ad.SumCols(rows)))
	variance := ad.Scale(n, ad.RowDot(centred, centred))
	return ad.RowScale(centred, ad.Rsqrt(ad.Offset(epsilon, variance)))
}

// GroupNorm gives the numbers of each group of channels of an image mean 0 and variance 1, and then
// the layer's scale and offset for each channel. What it makes of an example depends on that
// alone. One group is layer normalization of whole images; a group for each channel is instance
// normalization.
type GroupNorm struct {
	Scale, Offset Param
	Groups        int
}

// NewGroupNorm adds a normalization of some channels, a multiple of the number of groups, of scales
// 1 and offsets 0.
func NewGroupNorm(ps *Params, name string, channels, groups int) GroupNorm {
	if groups < 1 || channels%groups != 0 {
		ps.fail("the channels of normalization %q must be a multiple of its groups; they are %d and %d", name, channels,
			groups)
	}
	l := NewLayerNorm(ps, name, channels)
	return GroupNorm{l.Scale, l.Offset, groups}
}

// Outputs builds the normalized images of h, a row of pixels·channels numbers each.
func (g GroupNorm) Outputs(z, h *ad.Node) *ad.Node {
	m, cols := ad.Dims(h)
	channels := g.Scale.Rows
	pixels, each := cols/channels, channels/g.Groups // each: channels of a group
	// a row for each group of each image, and then a row for each pixel as it was
	groups := ad.TensorOf(h, m, pixels, g.Groups, each).Transpose(0, 2, 1, 3).Node
	normal := normalized(ad.Reshape(groups, m*g.Groups, pixels*each), pixels*each)
	rows := ad.Reshape(ad.TensorOf(normal, m, g.Groups, pixels, each).Transpose(0, 2, 1, 3).Node, m*pixels, channels)
	return ad.Reshape(ad.AddRow(ad.ColScale(rows, g.Scale.Node(z)), g.Offset.Node(z)), m, cols)
}

// BatchNorm gives each column mean 0 and variance 1 over the rows of the batch, and then the
// layer's scale and offset. Its statistics are functions of the batch, differentiated like the
// rest, so an example's outputs depend on its batch, also in scores. Such a model is a
// [dsbo/models.Batched], unless it uses [BatchNorm.Fixed].
type BatchNorm struct{ Scale, Offset Param }

// NewBatchNorm adds a normalization of n columns, or channels, of scales 1 and offsets 0.
func NewBatchNorm(ps *Params, name string, width int) BatchNorm {
	return BatchNorm(NewLayerNorm(ps, name, width))
}

// Outputs builds the normalized columns of h, m × width. Rows of k·width numbers are images of k
// pixels with width channels: statistics are then over all pixels.
func (b BatchNorm) Outputs(z, h *ad.Node) *ad.Node {
	centred, _, variance := moments(h, b.Scale.Rows)
	return b.scaled(z, h, centred, variance)
}

// Fixed builds the columns of h normalized by means and variances that do not depend on the batch,
// such as all training examples have, see [Trainer.Moments].
func (b BatchNorm) Fixed(z, h *ad.Node, mean, variance []float32) *ad.Node {
	constant := func(values []float32) *ad.Node {
		list := make([]float64, len(values))
		for i, v := range values {
			list[i] = float64(v)
		}
		return ad.NewConst(z, fmt.Sprint("moments ", values), len(list), 0, list)
	}
	return b.shifted(z, h, constant(mean), constant(variance))
}

// shifted builds the columns of h less their means, of a variance, as the layer has them.
func (b BatchNorm) shifted(z, h, mean, variance *ad.Node) *ad.Node {
	width := b.Scale.Rows
	rows := ad.Reshape(h, h.Shape().TotalSize()/width, width)
	return b.scaled(z, h, ad.AddRow(rows, ad.Neg(mean)), variance)
}

// scaled builds columns of a variance as the layer has them, in the shape of h.
func (b BatchNorm) scaled(z, h, centred, variance *ad.Node) *ad.Node {
	m, cols := ad.Dims(h)
	scale := ad.Mul(b.Scale.Node(z), ad.Rsqrt(ad.Offset(epsilon, variance)))
	return ad.Reshape(ad.AddRow(ad.ColScale(centred, scale), b.Offset.Node(z)), m, cols)
}

// RunningNorm is a [BatchNorm] with running averages of the means and variances of batches. They
// are parameters, so that [Trainer.Save] writes them. Each batch moves them by a tenth of what is
// between them, PyTorch's momentum of .1: no optimizer moves them, nor decays them.
type RunningNorm struct {
	BatchNorm
	Mean, Variance Param
}

// NewRunningNorm adds a normalization of n columns, or channels, with averages of 0 and 1.
func NewRunningNorm(ps *Params, name string, width int) RunningNorm {
	return RunningNorm{NewBatchNorm(ps, name, width), ps.Vector(name+running+"mean", width, Init{}),
		ps.Vector(name+running+"var", width, Init{Mean: 1})}
}

const running = ".running_"

// Outputs builds the columns of h normalized by the averages.
func (b RunningNorm) Outputs(z, h *ad.Node) *ad.Node {
	return b.shifted(z, h, b.Mean.Node(z), b.Variance.Node(z))
}

// Trained builds the columns of h normalized as BatchNorm does, and a term of the loss that is 0
// and by whose gradient the averages follow the batch. [Trainer.MaxNorm] does not count it.
func (b RunningNorm) Trained(z, h *ad.Node) (outputs, term *ad.Node) {
	centred, mean, variance := moments(h, b.Scale.Rows)
	rows, _ := ad.Dims(centred)
	unbiased := ad.Scale(float64(rows)/float64(max(rows-1, 1)), variance)
	return b.scaled(z, h, centred, variance),
		ad.Add(following(b.Mean.Node(z), mean), following(b.Variance.Node(z), unbiased))
}

// following builds 0, whose derivative by average is what it has more than now: a step down the
// gradient goes towards now. Neither has other derivatives.
func following(average, now *ad.Node) *ad.Node {
	return ad.Dot(ad.StopGradient(ad.Sub(average, now)), ad.Sub(average, ad.StopGradient(average)))
}

// moments builds the columns of h, of some width, less their means, with means and variances.
func moments(h *ad.Node, width int) (centred, mean, variance *ad.Node) {
	m, cols := ad.Dims(h)
	count := m * cols / width
	rows := ad.Reshape(h, count, width)
	n := 1 / float64(count)
	negative := ad.Scale(-n, ad.SumRows(rows)) // −mean
	centred = ad.AddRow(rows, negative)
	return centred, ad.Neg(negative), ad.Scale(n, ad.ColDot(centred, centred))
}

// Embedding is a table of vectors, one for each index, such as words.
type Embedding struct{ Table Param }

// NewEmbedding adds a table of n vectors, of standard normal numbers.
func NewEmbedding(ps *Params, name string, vectors, width int) Embedding {
	return Embedding{ps.Matrix(name+".table", vectors, width, Init{Deviation: 1})}
}

// Outputs builds the vectors of the indices, m whole numbers: m × width. Indices may be a matrix of
// n sequences of words, a row each: the vectors of all sequences are stacked then.
// See [ad.Gather].
func (e Embedding) Outputs(z, indices *ad.Node) *ad.Node {
	m, words := ad.Dims(indices)
	if words > 1 {
		indices = ad.Reshape(indices, m*words, 1)
	}
	return ad.Gather(e.Table.Node(z), indices)
}

// Dropout builds h with each entry times its number in mask, a matrix of as many entries with a row
// for each example: a [dsbo/models.Mask] of a draw, or [Mask.Node] of a trainer's. Where the model
// has no mask it is nil, and h stays.
func Dropout(h, mask *ad.Node) *ad.Node {
	if mask == nil {
		return h
	}
	rows, cols := ad.Dims(h)
	return ad.Mul(h, ad.Reshape(mask, rows, cols))
}

// GELU builds a Φ(a) elementwise, Φ being the standard normal distribution, without
// an approximation.
func GELU(a *ad.Node) *ad.Node { return ad.Mul(a, ad.NormalCDF(a)) }

// CrossEntropy builds the loss of each example, a vector, for its scores of all classes and its
// target, one-hot or probabilities that sum to 1: −Σ_k t_k log softmax(scores)_k.
func CrossEntropy(scores, targets *ad.Node) *ad.Node {
	return ad.Sub(ad.RowLogSumExp(scores), ad.RowDot(targets, scores))
}
