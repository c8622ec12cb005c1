package ad

// spread has two strides, and two dilations with padding.
var spread = Window{H: 4, W: 3, C: 2, KH: 2, KW: 3, Stride: 2, StrideW: 1, PadH: 1, PadW: 2, DilationH: 3, DilationW: 2}

// tensorCases are the cases of more than two axes, and of convolutions that are not plain.
var tensorCases = []opCase{
	{"Convolve with strides and dilations", func(k *kit) *Node {
		return Convolve(k.rowsMat(spread.Pixels()), k.mat(2, spread.Taps()), spread, 1)
	}},
	{"Convolve in groups", func(k *kit) *Node {
		return Convolve(k.rowsMat(window.Pixels()), k.mat(4, window.Taps()/2), window, 2)
	}},
	{"Col2im with strides and dilations", func(k *kit) *Node {
		w := spread
		w.C = 1
		return Col2im(Reshape(k.rowsMat(w.Patches()*w.Taps()), k.rows*w.Patches(), w.Taps()), w)
	}},
	{"ConvTranspose with strides and dilations", func(k *kit) *Node {
		return ConvTranspose(k.rowsMat(2*spread.Patches()), k.mat(2, spread.Taps()), spread, 1)
	}},
	{"ConvTranspose in groups", func(k *kit) *Node {
		return ConvTranspose(k.rowsMat(4*spread.Patches()), k.mat(4, spread.Taps()/2), spread, 2)
	}},
	{"AvgPool with strides and dilations", func(k *kit) *Node { return AvgPool(k.rowsMat(spread.Pixels()), spread) }},
	{"Einsum, attention's scores of several heads", func(k *kit) *Node {
		q, v := TensorOf(k.rowsMat(12), k.rows, 3, 2, 2), TensorOf(k.rowsMat(8), k.rows, 2, 2, 2)
		return Einsum("nqhd,nkhd->nhqk", q, v).Node
	}},
	{"Einsum of a batch and weights", func(k *kit) *Node {
		return Einsum("nij,kjl->nkil", TensorOf(k.rowsMat(4), k.rows, 2, 2), TensorOf(k.vec(12), 3, 2, 2)).Node
	}},
	{"Einsum of weights and a batch", func(k *kit) *Node {
		return Einsum("oi,ni->no", TensorOf(k.mat(3, 2), 3, 2), TensorOf(k.rowsMat(2), k.rows, 2)).Node
	}},
	{"Einsum over the batch", func(k *kit) *Node {
		return Einsum("nij,nk->kij", TensorOf(k.rowsMat(4), k.rows, 2, 2), TensorOf(k.rowsMat(2), k.rows, 2)).Node
	}},
	{"Einsum of three tensors, with sums", func(k *kit) *Node {
		a, b := TensorOf(k.rowsMat(4), k.rows, 2, 2), TensorOf(Sin(k.rowsMat(2)), k.rows, 2)
		return Einsum("nij,nj,k->n", a, b, TensorOf(k.vec(3), 3)).Node
	}},
	{"Einsum without sums", func(k *kit) *Node {
		a, b := TensorOf(k.rowsMat(4), k.rows, 2, 2), TensorOf(k.rowsVec(), k.rows)
		return Einsum("nij,n->nji", a, b).Node
	}},
	{"Einsum of a diagonal", func(k *kit) *Node {
		return Einsum("nii->ni", TensorOf(k.rowsMat(9), k.rows, 3, 3)).Node
	}},
	{"Transpose of axes", func(k *kit) *Node {
		return TensorOf(k.rowsMat(12), k.rows, 2, 3, 2).Transpose(0, 3, 1, 2).Node
	}},
	{"Transpose of the batch", func(k *kit) *Node {
		return TensorOf(k.rowsMat(6), k.rows, 3, 2).Transpose(2, 0, 1).Node
	}},
	{"Sum over axes", func(k *kit) *Node { return TensorOf(Sin(k.rowsMat(12)), k.rows, 3, 2, 2).Sum(2, 1).Node }},
	{"Sum over the batch", func(k *kit) *Node { return TensorOf(Sin(k.rowsMat(6)), k.rows, 3, 2).Sum(0, 2).Node }},
}
