package ad

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo"
)

// TestPositions: an error about an op names the model's line that applies it, however deep in ad or
// in Gorgonia it is found.
func TestPositions(t *testing.T) {
	line := func(back int) string {
		_, _, l, _ := runtime.Caller(1)
		return fmt.Sprintf("(ad/position_test.go:%d)", l-back)
	}
	var want string
	for _, c := range []struct {
		name string
		f    func(_, y *Node, _ []*Node) *Node
		kind error
	}{
		{"a constructor", func(_, y *Node, _ []*Node) *Node {
			want = line(-1)
			return Add(y, NewConst(y, "c", 3, 0, make([]float64, 3)))
		}, dsbo.ErrShape},
		{"a constructor inside of another one", func(_, y *Node, _ []*Node) *Node {
			want = line(-1)
			return ConcatCols(y, nil)
		}, dsbo.ErrShape},
		{"the lengths of a result", func(_, y *Node, _ []*Node) *Node {
			want = line(-1)
			return RepeatRow(y, -1)
		}, dsbo.ErrShape},
		{"inputs of two graphs", func(_, y *Node, _ []*Node) *Node {
			want = line(-1)
			return Add(y, leafVec(gorgonia.NewGraph(), "other", 2))
		}, ErrGraph},
		{"an op of Gorgonia", func(_, y *Node, _ []*Node) *Node {
			want = line(-1)
			return gorgonia.Must(gorgonia.Add(y,
				gorgonia.NewVector(y.Graph(), tensor.Float64, gorgonia.WithShape(3), gorgonia.WithName("long"))))
		}, ErrGraph},
		{"a helper of a helper", func(_, y *Node, _ []*Node) *Node {
			helper := func() *Node {
				want = line(-1)
				return RepeatRow(y, -1)
			}
			outer := func() *Node { return helper() }
			defer func(at string) { want = strings.TrimSuffix(want, ")") + ", called at " + at[1:] }(line(-1))
			return outer()
		}, dsbo.ErrShape},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Differentiate(Loss{P: 1, Q: 2, Build: c.f})
			wantError(t, err, c.kind, want)
		})
	}
}
