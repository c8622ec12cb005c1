package ad

import (
	"math"
	"testing"
)

// decompositions are the cases of factors of matrices, and of functions made with them.
var decompositions = []opCase{
	{"SymmetricEigen", func(k *kit) *Node {
		values, vectors := SymmetricEigen(spaced(k.mat(3, 3)))
		return Add(vectors, values)
	}},
	{"BatchSymmetricEigen", func(k *kit) *Node {
		shift := NewConst(k.z, "shift", 4, 0, []float64{0, 1, 1, 3})
		values, vectors := BatchSymmetricEigen(Reshape(AddRow(Tanh(k.rowsMat(4)), shift), 2*k.rows, 2), k.rows)
		return RowScale(vectors, values)
	}},
	{"SVD", func(k *kit) *Node {
		u, s, v := SVD(Rows(spaced(k.mat(3, 3)), 0, 2))
		return ConcatRows(u, Reshape(s, 1, 2), v)
	}},
	{"SVD of a column", func(k *kit) *Node {
		u, s, v := SVD(k.mat(4, 1))
		return ConcatRows(u, Reshape(s, 1, 1), v)
	}},
	{"QR", func(k *kit) *Node {
		q, r := QR(Add(k.mat(4, 2), tilted(k.z)))
		return ConcatRows(q, r)
	}},
	{"LeastSquares", func(k *kit) *Node { return LeastSquares(Add(k.mat(4, 2), tilted(k.z)), k.vec(4)) }},
	{"Inverse", func(k *kit) *Node { return Inverse(dominant(k.mat(3, 3), 1)) }},
	{"Det", func(k *kit) *Node {
		a := dominant(k.mat(3, 3), 1)
		return Det(ConcatRows(Rows(a, 1, 2), Rows(a, 0, 1)))
	}},
	{"Det where it is 0", func(k *kit) *Node {
		a := k.mat(3, 3)
		return Det(Add(MatMul(a, NewConst(a, "flat", 3, 3, []float64{1, 2, 3, 0, 0, 0, 0, 0, 1}), false,
			false), Mul(a, a)))
	}},
	{"Det of many rows", func(k *kit) *Node { return Det(dominant(k.mat(9, 9), 1)) }},
	{"Distances", func(k *kit) *Node { return Distances(k.rowsMat(2), k.mat(3, 2)) }},
	{"Atan2", func(k *kit) *Node { return Atan2(k.rowsMat(2), Offset(.2, k.rowsMat(2))) }},
	{"Asinh and Acosh", func(k *kit) *Node {
		a := k.rowsMat(2)
		return Add(Asinh(a), Square(Acosh(Offset(1.5, Square(a)))))
	}},
}

// spaced returns a with eigenvalues, and singular values, that are apart.
func spaced(a *Node) *Node {
	return Add(Scale(.3, Tanh(a)), NewConst(a, "spaced", 3, 3, []float64{1, 0, .2, 0, 3, 0, .2, 0, 6}))
}

// tilted is of rank 2.
func tilted(like *Node) *Node {
	return NewConst(like, "tilted", 4, 2, []float64{2, 0, 1, 2, 0, -2, 1, 1})
}

// TestDecompositions: values by hand, and derivatives where a formula would be wrong or NaN.
func TestDecompositions(t *testing.T) {
	square := func(f func(a *Node) *Node) func(y *Node) *Node {
		return func(y *Node) *Node { return f(Reshape(y, 2, 2)) }
	}
	tall := func(f func(a *Node) *Node) func(y *Node) *Node {
		return func(y *Node) *Node { return f(Reshape(y, 3, 2)) }
	}
	half := math.Sqrt(.5)
	nan := math.NaN()
	for _, c := range []struct {
		name string
		f    func(y *Node) *Node
		y    []float64
		want []float64
	}{
		{"eigenvalues", square(func(a *Node) *Node { v, _ := SymmetricEigen(a); return v }),
			[]float64{1, 3, 1, 1}, []float64{-1, 3}},
		{"eigenvectors", square(func(a *Node) *Node { _, v := SymmetricEigen(a); return Flatten(v) }),
			[]float64{2, -1, -1, 2}, []float64{half, half, half, -half}},
		{"eigenvalues of NaN", square(func(a *Node) *Node { v, _ := SymmetricEigen(a); return v }),
			[]float64{nan, 0, 0, 1}, []float64{nan, nan}},
		{"singular values", tall(func(a *Node) *Node { _, s, _ := SVD(a); return s }),
			[]float64{0, 3, 0, 0, 4, 0}, []float64{4, 3}},
		{"singular vectors", tall(func(a *Node) *Node {
			u, s, v := SVD(a)
			return Flatten(MatMul(ColScale(u, s), v, false, true))
		}), []float64{1, 3, 2, -5, 4, 7}, []float64{1, 3, 2, -5, 4, 7}},
		{"QR", tall(func(a *Node) *Node { _, r := QR(a); return Flatten(r) }),
			[]float64{3, 1, 0, 5, 4, 7}, []float64{5, 6.2, 0, math.Sqrt(75 - 6.2*6.2)}},
		{"least squares", tall(func(a *Node) *Node {
			return LeastSquares(a, NewConst(a, "b", 3, 0, []float64{3, 5, 7}))
		}), []float64{1, 1, 1, 2, 1, 3}, []float64{1, 2}},
		{"Inverse", square(func(a *Node) *Node { return Flatten(Inverse(a)) }),
			[]float64{0, 2, 4, 0}, []float64{0, .25, .5, 0}},
		{"Det", square(Det), []float64{1, 2, 3, 4}, []float64{-2}},
		{"SignOfDet", square(SignOfDet), []float64{1, 2, 2, 4}, []float64{0}},
		{"Distances", func(y *Node) *Node { return Flatten(Distances(Reshape(y, 2, 2), Reshape(y, 2, 2))) },
			[]float64{0, 0, 3, 4}, []float64{0, 5, 5, 0}},
		{"Atan2", func(y *Node) *Node { return Atan2(PartVec(y, 0, 9), PartVec(y, 9, 9)) },
			[]float64{0, math.Copysign(0, -1), 0, 1, 1, -1, math.Inf(1), -1, nan,
				1, -1, -1, 0, -1, -1, math.Inf(-1), math.Inf(1), 1},
			[]float64{0, -math.Pi, math.Pi, math.Pi / 2, 3 * math.Pi / 4, -3 * math.Pi / 4, 3 * math.Pi / 4, 0, nan}},
		{"Asinh", Asinh, []float64{1e-9, -2, 1e300}, []float64{1e-9, -1.4436354751788103, math.Log(2e300)}},
		{"Acosh", Acosh, []float64{1, 1 + 1e-10, 2, 1e300, .5},
			[]float64{0, math.Acosh(1 + 1e-10), math.Acosh(2), math.Log(2e300), nan}},
	} {
		for i, got := range valueOf(t, c.y, c.f) {
			want := c.want[i]
			if math.Abs(got-want) > 4e-15*max(1e-9, math.Abs(want)) || (got == got) != (want == want) {
				t.Errorf("%s: entry %d is %v; it must be %v", c.name, i, got, want)
			}
		}
	}
	if got := slopesAt(t, []float64{1, 2, 2, 4}, square(Det)); got != [4]float64{0, 1, 0, 0} {
		t.Errorf("derivatives of a determinant at a singular matrix are %v; they must be 4 − 2 − 2 + 1, 0 and 0", got)
	}
	for name, f := range map[string]func(y *Node) *Node{
		"eigenvalues that are equal": square(func(a *Node) *Node { v, _ := SymmetricEigen(a); return v }),
		"a distance of 0": func(y *Node) *Node {
			return Distances(Reshape(PartVec(y, 0, 2), 1, 2), Reshape(PartVec(y, 0, 2), 1, 2))
		},
	} {
		if got := slopesAt(t, []float64{2, 0, 0, 2}, f)[1]; got != got || math.IsInf(got, 0) {
			t.Errorf("%s: a derivative is %v", name, got)
		}
	}
}
