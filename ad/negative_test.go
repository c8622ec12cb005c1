package ad

import (
	"errors"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo/ad/adtest"
	"dsbo/internal/testkit"
)

// stockDerivs differentiates a loss of y with gorgonia.Grad, twice for products. It does not
// depend on x.
type stockDerivs struct {
	cost func(y *Node) *Node
}

// run builds the loss, applies gorgonia.Grad as often as order says, and returns the last result
// at y.
func (s stockDerivs) run(order int, y, v []float64) ([]float64, error) {
	vector := func(g *gorgonia.ExprGraph, name string, a []float64) *Node {
		t := tensor.New(tensor.WithShape(len(a)), tensor.WithBacking(append([]float64(nil), a...)))
		return gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(len(a)), gorgonia.WithName(name),
			gorgonia.WithValue(t))
	}
	g := gorgonia.NewGraph()
	yn := vector(g, "y", y)
	n := s.cost(yn)
	for i := range order {
		if i == 1 {
			n = gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(n, vector(g, "v", v)))))
		}
		gs, err := gorgonia.Grad(n, yn)
		if err != nil {
			return nil, err
		}
		n = gs[0]
	}
	var value gorgonia.Value
	gorgonia.Read(n, &value)
	vm := gorgonia.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	return valueData[float64](value)
}

func (s stockDerivs) Value(x, y []float64) (float64, error) {
	r, err := s.run(0, y, nil)
	if err != nil {
		return 0, err
	}
	return r[0], nil
}

func (s stockDerivs) Grad(dx, dy, x, y []float64) error {
	clear(dx)
	if dy == nil {
		return nil
	}
	r, err := s.run(1, y, nil)
	copy(dy, r)
	return err
}

func (s stockDerivs) HVP(dst, x, y, v []float64) error {
	r, err := s.run(2, y, v)
	copy(dst, r)
	return err
}

func (s stockDerivs) JVP(dst, x, y, v []float64) error {
	clear(dst)
	return nil
}

// TestNegativeControls: the harness finds what is known to be wrong in Gorgonia's own
// differentiation, and ad refuses it, or is right.
func TestNegativeControls(t *testing.T) {
	sum := func(a *Node) *Node { return gorgonia.Must(gorgonia.Sum(a)) }
	cube := func(y *Node) *Node { return sum(gorgonia.Must(gorgonia.Cube(y))) }
	slice := func(y *Node) *Node {
		return sum(gorgonia.Must(gorgonia.Cube(gorgonia.Must(gorgonia.Slice(y, gorgonia.S(1, 3))))))
	}
	invSqrt := func(y *Node) *Node { return sum(gorgonia.Must(gorgonia.InverseSqrt(y))) }
	for _, c := range []struct {
		name  string
		cost  func(y *Node) *Node
		wrong string // the derivative that is wrong
		ad    func(y *Node) *Node

		refused bool
	}{
		{"gorgonia.Grad twice", cube, "HVP", func(y *Node) *Node {
			cost := cube(y)
			testkit.Get(gorgonia.Grad(cost, y))
			return cost
		}, true},
		{"Slice", slice, "HVP", slice, false},
		{"InverseSqrt", invSqrt, "∇_y", invSqrt, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := []float64{1, 2, 3}
			r := testkit.Get(adtest.Measure(stockDerivs{c.cost}, []float64{0}, y))
			if err := r.Err(); err == nil || !strings.HasPrefix(err.Error(), c.wrong) {
				t.Errorf("the harness says %v, want a wrong %s\n%v", err, c.wrong, r)
			}
			d, err := Differentiate(Loss{P: 1, Q: 3, Build: func(_, y *Node, _ []*Node) *Node { return c.ad(y) }})
			if err == nil {
				err = d.Grad(nil, make([]float64, 3), []float64{0}, y)
			}
			switch {
			case c.refused && !errors.Is(err, ErrGraph):
				t.Errorf("ad says %v, want ErrGraph", err)
			case !c.refused:
				testkit.OK(err)
				adtest.Check(t, d, []float64{0}, y)
			}
		})
	}
	// The first of them in numbers.
	if h, err := (stockDerivs{cube}).run(2, []float64{1, 2, 3}, []float64{1, 1, 1}); err != nil ||
		h[0] == 6 && h[1] == 12 && h[2] == 18 {
		t.Errorf("gorgonia.Grad twice of y³ gives %v, %v: if that is right now, ad's own sweep can go", h, err)
	}
}
