package nn

import "dsbo/ad"

// ResidualBlock adds two convolutions, each after a group normalization and a ReLU, to its input: h
// + conv(relu(norm(conv(relu(norm(h)))))).
type ResidualBlock struct {
	Norms [2]GroupNorm
	Convs [2]Conv
}

// NewResidualBlock adds a block for images of h×w pixels, by kernels of side pixels, an odd number,
// that leave their size as it is.
func NewResidualBlock(ps *Params, name string, h, w, channels, side, groups int) ResidualBlock {
	window := ad.Window{H: h, W: w, C: channels, KH: side, KW: side, Stride: 1, PadH: side / 2, PadW: side / 2}
	if side%2 == 0 {
		ps.fail("the kernels of block %q must have an odd side; it is %d", name, side)
	}
	var b ResidualBlock
	for i, which := range []string{".first", ".second"} {
		b.Norms[i] = NewGroupNorm(ps, name+which+" norm", channels, groups)
		b.Convs[i] = NewConv(ps, name+which, window, channels)
	}
	return b
}

// Outputs builds the images behind the block, one a row.
func (b ResidualBlock) Outputs(z, images *ad.Node) *ad.Node {
	h := images
	for i, conv := range b.Convs {
		h = conv.Outputs(z, ad.ReLU(b.Norms[i].Outputs(z, h)))
	}
	return ad.Add(images, h)
}

// TransformerBlock adds self-attention, then two dense layers with a GELU between them, to the rows
// of sequences, each after a layer normalization.
type TransformerBlock struct {
	Before, Between LayerNorm
	Attention       Attention
	Up, Down        Dense
}

// NewTransformerBlock adds a block for rows of a width, with some heads and units of the first
// dense layer.
func NewTransformerBlock(ps *Params, name string, width, heads, units int) TransformerBlock {
	return TransformerBlock{
		Before: NewLayerNorm(ps, name+".before", width), Attention: NewAttention(ps, name+".attention", width, heads),
		Between: NewLayerNorm(ps, name+".between", width),
		Up:      NewDense(ps, name+".up", width, units), Down: NewDense(ps, name+".down", units, width),
	}
}

// Outputs builds the block's rows for n sequences of equal length, whose rows are stacked in h,
// n·length × width. masks are as in [Attend].
func (b TransformerBlock) Outputs(z, h *ad.Node, n int, masks ...*ad.Node) *ad.Node {
	h = ad.Add(h, b.Attention.Masked(z, b.Before.Outputs(z, h), n, masks...))
	return ad.Add(h, b.Down.Outputs(z, GELU(b.Up.Outputs(z, b.Between.Outputs(z, h)))))
}
