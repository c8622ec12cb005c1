package ad

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestEinsum: random products, traces, sums and orders of axes against loops over all letters.
func TestEinsum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	specs := []string{"ij->ji", "ii->", "ij->", "i,i->", "i,j->ij", "i,j->ji", ",i->i", "ij,kj->ki", "iij,j->i",
		"abcd->dcba", "abcd,abcd->", "abc,bd,d->ca"}
	for range 60 { // up to 3 tensors of up to 4 axes with some of 5 letters
		var in []string
		for range 1 + r.IntN(3) {
			axes := ""
			for _, l := range r.Perm(5)[:r.IntN(5)] {
				axes += string(rune('a' + l))
			}
			in = append(in, axes)
		}
		out := ""
		for _, l := range r.Perm(5) {
			if c := string(rune('a' + l)); strings.Contains(strings.Join(in, ""), c) && len(out) < 4 && r.IntN(2) == 0 {
				out += c
			}
		}
		specs = append(specs, strings.Join(in, ",")+"->"+out)
	}
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) { checkEinsum(t, spec, r) })
	}
}

// lengthOf is the length of the axis of a letter.
func lengthOf(letter byte) int { return 1 + int(letter)%3 }

func checkEinsum(t *testing.T, spec string, r *rand.Rand) {
	in, out, _ := strings.Cut(spec, "->")
	var shapes [][]int
	sizes, all := []int{}, 0
	for _, axes := range strings.Split(in, ",") {
		shape, size := []int{}, 1
		for i := range axes {
			shape = append(shape, lengthOf(axes[i]))
			size *= lengthOf(axes[i])
		}
		shapes, sizes, all = append(shapes, shape), append(sizes, size), all+size
	}
	y := make([]float64, all)
	for i := range y {
		y[i] = float64(r.IntN(9) - 4) // so that sums are exact
	}
	p := testkit.Get(Compile(Func{Q: all, Build: func(_, y *Node, _ []*Node) []*Node {
		var ts []Tensor
		off := 0
		for i, shape := range shapes {
			ts = append(ts, TensorOf(PartVec(y, off, sizes[i]), shape...))
			off += sizes[i]
		}
		return []*Node{Einsum(spec, ts...).Node}
	}}))
	got := make([]float64, p.size)
	testkit.OK(p.Eval(got, nil, y))
	want := make([]float64, p.size)
	var letters []byte
	for _, l := range []byte(in) {
		if l != ',' && !slices.Contains(letters, l) {
			letters = append(letters, l)
		}
	}
	at := map[byte]int{}
	place := func(axes string) (k int) {
		for i := range axes {
			k = k*lengthOf(axes[i]) + at[axes[i]]
		}
		return k
	}
	var loop func(rest []byte)
	loop = func(rest []byte) {
		if len(rest) > 0 {
			for at[rest[0]] = range lengthOf(rest[0]) {
				loop(rest[1:])
			}
			return
		}
		product, off := 1., 0
		for i, axes := range strings.Split(in, ",") {
			product *= y[off+place(axes)]
			off += sizes[i]
		}
		want[place(out)] += product
	}
	loop(letters)
	sameValues(t, spec, got, want)
}

func sameValues(t *testing.T, title string, got, want []float64) {
	t.Helper()
	if !slices.Equal(got, want) { // 0 and −0 are equal
		t.Errorf("%s: %v, want %v", title, got, want)
	}
}

// TestEinsumDots: axes without letters are those that letters would be, broadcast.
func TestEinsumDots(t *testing.T) {
	y := make([]float64, 24)
	for i := range y {
		y[i] = float64(i*i%7 - 3)
	}
	for _, c := range []struct {
		dots, letters string
		a, b, same    []int // same: b for letters
	}{
		{"...ij,...jk->...ik", "abij,bjk->abik", []int{2, 3, 2, 2}, []int{3, 2, 1}, []int{3, 2, 1}},
		{"i...,...->i...", "iab,b->iab", []int{2, 3, 4}, []int{1, 4}, []int{4}},
		{"...,...->...", "ab,a->ab", []int{6, 4}, []int{6, 1}, []int{6}},
		{"...a,a->...", "bca,a->bc", []int{2, 3, 4}, []int{4}, []int{4}},
	} {
		of := func(spec string, b []int) []float64 {
			return valueOf(t, y, func(y *Node) *Node {
				a := PartVec(y, 0, tensor.Shape(c.a).TotalSize())
				return Flatten(Einsum(spec, TensorOf(a, c.a...),
					TensorOf(PartVec(y, 0, tensor.Shape(b).TotalSize()), b...)).Node)
			})
		}
		sameValues(t, c.dots, of(c.dots, c.b), of(c.letters, c.same))
	}
}

// TestTensorMisuse: axes that do not fit are errors that say so.
func TestTensorMisuse(t *testing.T) {
	matrix := func(y *Node) Tensor { return TensorOf(y, 3, 4) }
	sums := func(spec string) func(y *Node) Tensor {
		return func(y *Node) Tensor { return Einsum(spec, matrix(y)) }
	}
	for want, build := range map[string]func(y *Node) Tensor{
		"Entries: indices must be from 0 to 3; there is 4": func(y *Node) Tensor {
			return matrix(y).Entries(1, 0, 4)
		},
		"Entries: the axis must be one of shape [3 4]; it is 2": func(y *Node) Tensor {
			return matrix(y).Entries(2, 0)
		},
		"Slice: entries must be from 0 to 3, and the step not 0; they are from 1 to 5 by 1": func(y *Node) Tensor {
			return matrix(y).Slice(1, 1, 5, 1)
		},
		"Slice: at least one entry along axis 1 of shape [3 4] must be left; there are 0": func(y *Node) Tensor {
			return matrix(y).Slice(1, 2, 1, 1)
		},
		"Pad: fewer entries must be reflected than the 3 of the axis; they are 3 and 0": func(y *Node) Tensor {
			return matrix(y).Pad(0, 3, 0, Reflect)
		},
		"MaxPool: a window must fit into the padded axis": func(y *Node) Tensor {
			return matrix(y).MaxPool(0, Pooling{Size: 4})
		},
		"MeanPool: a window must have an entry of the axis": func(y *Node) Tensor {
			return matrix(y).MeanPool(0, Pooling{Size: 2, Dilation: 4, Pad: 3})
		},
		"Resize: at least one entry": func(y *Node) Tensor { return matrix(y).Resize(0, 0, Cubic) },
		"Broadcast: shapes must be the same": func(y *Node) Tensor {
			return Broadcast(func(in ...*Node) *Node { return in[0] }, matrix(y), TensorOf(y, 4, 3))
		},
		"Reshape": func(y *Node) Tensor { return TensorOf(y, 5, 2) },
		"Transpose: axes must be those of shape [3 4], each once; they are [1 1]": func(y *Node) Tensor {
			return matrix(y).Transpose(1, 1)
		},
		"Sum: there must be axes of shape [3 4], each once; they are [2]": func(y *Node) Tensor {
			return matrix(y).Sum(2)
		},
		"of each of 1 tensors":                  sums("ij,jk->ik"),
		"an arrow":                              sums("ij"),
		`"i" is of one of shape [3 4]`:          sums("i->i"),
		"'i' is 4, and 3 before":                sums("ii->i"),
		`"...abc" is of one of shape [3 4]`:     sums("...abc->..."),
		"must have axes of the tensors, each o": sums("ij->k"),
	} {
		_, err := Compile(Func{Q: 12, Build: func(_, y *Node, _ []*Node) []*Node { return []*Node{build(y).Node} }})
		wantError(t, err, dsbo.ErrShape, want)
	}
}
