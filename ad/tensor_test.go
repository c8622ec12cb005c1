package ad

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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

// TestTensorMisuse: axes that do not fit are errors that say so.
func TestTensorMisuse(t *testing.T) {
	matrix := func(y *Node) Tensor { return TensorOf(y, 3, 4) }
	sums := func(spec string) func(y *Node) Tensor {
		return func(y *Node) Tensor { return Einsum(spec, matrix(y)) }
	}
	for want, build := range map[string]func(y *Node) Tensor{
		"at most 4 axes": func(y *Node) Tensor { return TensorOf(y, 1, 1, 1, 4, 3) },
		"Reshape":        func(y *Node) Tensor { return TensorOf(y, 5, 2) },
		"Transpose: axes must be those of shape [3 4], each once; they are [1 1]": func(y *Node) Tensor {
			return matrix(y).Transpose(1, 1)
		},
		"Sum: axes must be those of shape [3 4]; they are [2]": func(y *Node) Tensor { return matrix(y).Sum(2) },
		"of each of 1 tensors":                                 sums("ij,jk->ik"),
		"an arrow":                                             sums("ij"),
		`"i" is of one of shape [3 4]`:                         sums("i->i"),
		"'i' is 4, and 3 before":                               sums("ii->i"),
		"must have axes of the tensors, each o":                sums("ij->k"),
	} {
		_, err := Compile(Func{Q: 12, Build: func(_, y *Node, _ []*Node) []*Node { return []*Node{build(y).Node} }})
		wantError(t, err, dsbo.ErrShape, want)
	}
}
