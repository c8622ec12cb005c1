package ad

// tensorCases are the cases of more than two axes.
var tensorCases = []opCase{
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
