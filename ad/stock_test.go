package ad

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo/ad/adtest"
	"dsbo/internal/testkit"
)

// stockLoss is a loss of three numbers x and sixteen y around f, whose input is a smooth positive
// vector of sixteen.
func stockLoss(f nodeFunc) Loss {
	return Loss{P: 3, Q: 16, Build: func(x, y *Node, _ []*Node) *Node {
		n := gorgonia.Must(f(Offset(.5, Square(Add(y, Place(Sin(x), 1, 16))))))
		if n.Dims() > 2 {
			n = gorgonia.Must(gorgonia.Ravel(n))
		}
		if n.IsScalar() {
			return Sin(n)
		}
		w := make([]float64, n.Shape().TotalSize())
		for i := range w {
			w[i] = 1 + .5*float64(i*i%7)
		}
		return Dot(NewConst(x, "weights", len(w), 0, w), Flatten(Sin(n)))
	}}
}

type nodeFunc = func(a *Node) (*Node, error)

// chain applies stock functions one after the other.
func chain(fs ...nodeFunc) nodeFunc {
	return func(a *Node) (*Node, error) {
		for _, f := range fs {
			var err error
			if a, err = f(a); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
}

// shaped reshapes a multiple of the input by Gorgonia before f. (The TapeMachine reshapes the
// value of the node itself, which others may read.)
func shaped(f nodeFunc, shape ...int) nodeFunc {
	return chain(func(a *Node) (*Node, error) { return gorgonia.Reshape(Scale(1.25, a), shape) }, f)
}

func leafOf(a *Node, name string, dt tensor.Dtype, shape ...int) *Node {
	return gorgonia.NewTensor(a.Graph(), dt, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
		gorgonia.WithInit(gorgonia.Zeroes()))
}

// vec4 is the input's first four numbers.
func vec4(a *Node) *Node { return PartVec(a, 0, 4) }

func square2(a *Node) *Node { return Part(a, 0, 2, 2) }

var (
	kernel2, none, one = tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}
	three              = func() *Node { return gorgonia.NewConstant(1.5) }
)

func sumOf(a *Node) *Node { return gorgonia.Must(gorgonia.Sum(a)) }

func same(a *Node) *Node { return a }

func constant3(*Node) *Node { return three() }

// whereHolds is a where a comparison of two functions of it holds, else 0.
func whereHolds(f func(a, b *Node, retSame bool) (*Node, error), left, right func(a *Node) *Node) nodeFunc {
	return func(a *Node) (*Node, error) {
		return gorgonia.HadamardProd(a, gorgonia.Must(f(left(a), right(a), true)))
	}
}

// withRow3 and alongRows take a matrix of 2×3 and a row.
func withRow3(f func(a, b *Node, left, right []byte) (*Node, error)) nodeFunc {
	return func(a *Node) (*Node, error) { return f(Part(a, 0, 2, 3), PartVec(a, 4, 3), nil, []byte{0}) }
}

func alongRows(f func(a, b *Node, retSame bool, left, right []byte) (*Node, error)) nodeFunc {
	return func(a *Node) (*Node, error) { return f(Part(a, 0, 2, 3), PartVec(a, 3, 3), true, nil, []byte{0}) }
}

// TestStockOps: Gorgonia's ops that have an equivalent have the value that Gorgonia gives them,
// and are right to second order; the others are refused with what to use instead.
func TestStockOps(t *testing.T) {
	for i, c := range stockUses {
		if testing.Short() && c.refused == "" && i%4 > 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if c.refused != "" {
				_, err := Differentiate(
					Loss{P: 1, Q: 16, Build: func(_, y *Node, _ []*Node) *Node { return gorgonia.Must(c.f(y)) }})
				wantError(t, err, ErrGraph, c.refused)
				return
			}
			l := stockLoss(c.f)
			d := testkit.Get(Differentiate(l))
			x, y := []float64{.3, -.2, .8},
				[]float64{.5, -1.1, .2, .9, -.4, 1.3, -.7, .1, .6, -.3, 1.2, -.9, .35, .75, -.15, 1.05}
			got := testkit.Get(d.Value(x, y))
			if same := untaped[c.name]; same != nil {
				within(t, "value", []float64{got},
					[]float64{testkit.Get(testkit.Get(Differentiate(stockLoss(same))).Value(x, y))}, 1e-13)
			} else {
				g := gorgonia.NewGraph()
				leaves := []*Node{leafVec(g, "x", len(x)), leafVec(g, "y", len(y))}
				within(t, "value", []float64{got},
					tapeValues(t, leaves, [][]float64{x, y}, []*Node{l.Build(leaves[0], leaves[1], nil)})[0], 1e-13)
			}
			adtest.Check(t, d, x, y)
		})
	}
}

// TestStockIsWhole: no function of Gorgonia that returns a node is left out, nor any advice.
func TestStockIsWhole(t *testing.T) {
	for key, advice := range replacements {
		if !slices.ContainsFunc(stockUses,
			func(u stockUse) bool { return u.refused != "" && strings.Contains(advice, u.refused) }) {
			t.Errorf("no case reaches the advice for %q", key)
		}
	}
	file, _ := runtime.FuncForPC(reflect.ValueOf(gorgonia.Add).Pointer()).FileLine(0)
	sources := testkit.Get(filepath.Glob(filepath.Join(filepath.Dir(file), "*.go")))
	if len(sources) == 0 {
		t.Skip("Gorgonia's sources are not here")
	}
	translated, refused := map[string]bool{}, map[string]bool{}
	for _, c := range stockUses {
		name, _, _ := strings.Cut(c.name, " ")
		if name = strings.TrimSuffix(name, ","); c.refused == "" {
			translated[name] = true
		} else {
			refused[name] = true
		}
	}
	functions := 0
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		for _, decl := range testkit.Get(
			parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)).Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil || !returnsNode(f) ||
				slices.Contains(notOps, f.Name.Name) {
				continue
			}
			functions++
			if name := f.Name.Name; !translated[name] && !refused[name] {
				t.Errorf("no use of gorgonia.%s is tested", name)
			}
		}
	}
	t.Logf("of %d functions that return nodes, %d have uses that are translated", functions, len(translated))
}

func returnsNode(f *ast.FuncDecl) bool {
	for _, r := range f.Type.Results.List {
		switch fmt.Sprintf("%v", r.Type) {
		case "Nodes":
			return true
		}
		if p, ok := r.Type.(*ast.StarExpr); ok && fmt.Sprint(p.X) == "Node" {
			return true
		}
	}
	return false
}

// TestStockComparesAll: comparisons are Go's, of infinities and NaN too.
func TestStockComparesAll(t *testing.T) {
	inf := math.Inf(1)
	a, b := []float64{inf, -inf, math.NaN(), 1, inf, 2}, []float64{inf, -inf, 1, 1, -inf, 3}
	for name, c := range map[string]struct {
		op    func(a, b *Node, same bool) (*Node, error)
		holds func(a, b float64) bool
	}{
		"Gt":  {gorgonia.Gt, func(a, b float64) bool { return a > b }},
		"Gte": {gorgonia.Gte, func(a, b float64) bool { return a >= b }},
		"Lt":  {gorgonia.Lt, func(a, b float64) bool { return a < b }},
		"Lte": {gorgonia.Lte, func(a, b float64) bool { return a <= b }},
		"Eq":  {gorgonia.Eq, func(a, b float64) bool { return a == b }},
		"Ne":  {gorgonia.Ne, func(a, b float64) bool { return a != b }},
	} {
		d := testkit.Get(Differentiate(Loss{P: 1, Q: 6, Build: func(x, y *Node, _ []*Node) *Node {
			others, bits := NewConst(x, "others", 6, 0, b), NewConst(x, "bits", 6, 0, []float64{1, 2, 4, 8, 16, 32})
			return Dot(bits, gorgonia.Must(c.op(y, others, true)))
		}}))
		want := 0.
		for i := range a {
			if c.holds(a[i], b[i]) {
				want += math.Ldexp(1, i)
			}
		}
		if got := testkit.Get(d.Value([]float64{0}, a)); got != want {
			t.Errorf("%s holds at %06b; it must be %06b", name, int(got), int(want))
		}
	}
}
