package adtest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/ad/adtest"
	"dsbo/internal/testkit"
)

// hand is a loss with derivatives by hand, into which a test can put mistakes:
// L = Σ_j e^{x_j} y_j⁴ + sin(Σ_j a_j y_j), a_j = j+1.
type hand struct {
	dx, dy, hvp, jvp func(dst []float64) // applied to the right result
}

func (h hand) Value(x, y []float64) (float64, error) {
	s, t := 0., 0.
	for j := range y {
		s += math.Exp(x[j]) * math.Pow(y[j], 4)
		t += float64(j+1) * y[j]
	}
	return s + math.Sin(t), nil
}

func (h hand) Grad(dx, dy, x, y []float64) error {
	t := 0.
	for j := range y {
		t += float64(j+1) * y[j]
	}
	for j := range dx {
		dx[j] = math.Exp(x[j]) * math.Pow(y[j], 4)
	}
	for j := range dy {
		dy[j] = 4*math.Exp(x[j])*math.Pow(y[j], 3) + float64(j+1)*math.Cos(t)
	}
	spoil(h.dx, dx)
	spoil(h.dy, dy)
	return nil
}

func (h hand) HVP(dst, x, y, v []float64) error {
	t, u := 0., 0.
	for j := range y {
		t += float64(j+1) * y[j]
		u += float64(j+1) * v[j]
	}
	for j := range y {
		dst[j] = 12*math.Exp(x[j])*y[j]*y[j]*v[j] - float64(j+1)*math.Sin(t)*u
	}
	spoil(h.hvp, dst)
	return nil
}

func (h hand) JVP(dst, x, y, v []float64) error {
	for j := range x {
		dst[j] = 4 * math.Exp(x[j]) * math.Pow(y[j], 3) * v[j]
	}
	spoil(h.jvp, dst)
	return nil
}

func spoil(f func([]float64), dst []float64) {
	if f != nil && dst != nil {
		f(dst)
	}
}

var (
	x = []float64{.1, -.4, .7, 0}
	y = []float64{1.2, -.3, .5, 2}
)

// off makes a mistake of one part in ten thousand in entry i.
func off(i int) func([]float64) { return func(d []float64) { d[i] *= 1 + 1e-4 } }

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		name string
		l    adtest.Loss
		want string // in the error; empty: right
	}{
		{"right", hand{}, ""},
		{"gradient in x", hand{dx: off(0)}, "∇_x, entry 0"},
		{"gradient in y", hand{dy: off(3)}, "∇_y, entry 3"},
		{"HVP", hand{hvp: off(2)}, "HVP (∇²_yy)v, entry 2"},
		{"JVP", hand{jvp: off(1)}, "JVP (∇²_xy)v, entry 1"},
		{"HVP with NaN", hand{hvp: func(d []float64) { d[1] = math.NaN() }}, "entry 1: NaN should be"},
		{"HVP is 0", hand{hvp: func(d []float64) { clear(d) }}, "HVP (∇²_yy)v"},
		{"JVP is infinite", hand{jvp: func(d []float64) { d[3] = math.Inf(1) }}, "entry 3: +Inf should be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := testkit.Get(adtest.Measure(c.l, x, y))
			switch err := r.Err(); {
			case c.want == "" && err != nil:
				t.Errorf("%v\n%v", err, r)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want one with %q\n%v", err, c.want, r)
			case c.want != "" && !strings.Contains(r.String(), "✗"):
				t.Errorf("the table marks nothing:\n%v", r)
			}
		})
	}
}

// asymmetric is right as a derivative of its own gradient field, which is no gradient.
type asymmetric struct{ hand }

func (a asymmetric) Grad(dx, dy, x, y []float64) error {
	if err := a.hand.Grad(dx, dy, x, y); err != nil || dy == nil {
		return err
	}
	dy[0] += 1e-3 * y[1]
	return nil
}

func (a asymmetric) HVP(dst, x, y, v []float64) error {
	err := a.hand.HVP(dst, x, y, v)
	dst[0] += 1e-3 * v[1]
	return err
}

func TestAsymmetric(t *testing.T) {
	r := testkit.Get(adtest.Measure(asymmetric{}, x, y))
	wrong := func(i adtest.Item) bool { return i.Err() != nil && strings.HasPrefix(i.Name, "symmetry") }
	if !slices.ContainsFunc(r, wrong) {
		t.Errorf("the symmetry of the Hessian is not missed:\n%v", r)
	}
}

// absolute is |y_0| + y_0, whose gradient at 0 is said to be at.
type absolute struct{ at float64 }

func (absolute) Value(x, y []float64) (float64, error) { return math.Abs(y[0]) + y[0], nil }
func (absolute) HVP(dst, x, y, v []float64) error      { clear(dst); return nil }
func (absolute) JVP(dst, x, y, v []float64) error      { clear(dst); return nil }
func (a absolute) Grad(dx, dy, x, y []float64) error {
	clear(dx)
	for i := range dy {
		if dy[i] = a.at; y[i] != 0 {
			dy[i] = 1 + math.Copysign(1, y[i])
		}
	}
	return nil
}

// TestKink: at a kink the derivatives of either side are right, and others are not; those between
// have no second derivative.
func TestKink(t *testing.T) {
	for _, c := range []struct {
		at, y float64
		right bool
	}{{0, 0, true}, {2, 0, true}, {1, 0, false}, {2.1, 0, false}, {-.1, 0, false}, {7, 1e-4, true}} {
		r := testkit.Get(adtest.Measure(absolute{c.at}, []float64{0}, []float64{c.y}))
		kink := slices.ContainsFunc(r, func(i adtest.Item) bool { return i.Name == "∇_y" && i.Kink })
		if err := r.Err(); (err == nil) != c.right || c.right && kink != (c.y == 0) {
			t.Errorf("derivative %g at y=%g: error %v, kink %v; right is %v\n%v", c.at, c.y, err, kink, c.right, r)
		}
	}
}

// crowd is Σ_k |a_k'y|, with many kinks around any point. Its gradient is off by wrong.
type crowd struct {
	a     [][]float64
	wrong float64
}

func (c crowd) Value(x, y []float64) (float64, error) {
	s := math.Exp(x[0])
	for _, a := range c.a {
		s += math.Abs(dot(a, y))
	}
	return s + x[0]*dot(y, y), nil
}

func (c crowd) Grad(dx, dy, x, y []float64) error {
	if dx != nil {
		dx[0] = math.Exp(x[0]) + dot(y, y)
	}
	if dy == nil {
		return nil
	}
	for j := range dy {
		dy[j] = 2*x[0]*y[j] + c.wrong
	}
	for _, a := range c.a {
		sign := math.Copysign(1, dot(a, y))
		for j := range dy {
			dy[j] += sign * a[j]
		}
	}
	return nil
}

func (c crowd) HVP(dst, x, y, v []float64) error {
	for j := range dst {
		dst[j] = 2 * x[0] * v[j]
	}
	return nil
}

func (c crowd) JVP(dst, x, y, v []float64) error {
	dst[0] = 2 * dot(y, v)
	return nil
}

func dot(a, b []float64) float64 {
	s := 0.
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// TestCrowdOfKinks: where each step but the finest crosses some of 30,000 kinks, the derivatives
// between them are right, and mistakes seen.
func TestCrowdOfKinks(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	var c crowd
	for range 30000 {
		c.a = append(c.a, []float64{.01 * r.NormFloat64(), .01 * r.NormFloat64(), .01 * r.NormFloat64()})
	}
	x := []float64{.3}
	for range 5 {
		y := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		adtest.Check(t, c, x, y)
		wrong := c
		wrong.wrong = .01 // of a gradient of the order of 100
		if report := testkit.Get(adtest.Measure(wrong, x, y)); report.Err() == nil ||
			!strings.HasPrefix(report.Err().Error(), "∇_y") {
			t.Errorf("error %v, want one about ∇_y\n%v", report.Err(), report)
		}
	}
}

// failing reports an error of its own.
type failing struct{ hand }

func (failing) HVP(dst, x, y, v []float64) error { return fmt.Errorf("no products today") }

func TestErrorOfTheLoss(t *testing.T) {
	_, measure := adtest.Measure(failing{}, x, y)
	_, differences := adtest.Differences(failing{}, hand{}, x, y, 1e-4)
	for _, err := range []error{measure, differences} {
		if err == nil || err.Error() != "no products today" {
			t.Errorf("error %v, want the loss's own", err)
		}
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		want hand
		tol  float64
		says string
	}{
		{hand{hvp: off(2)}, 1e-3, "<nil>"},
		{hand{hvp: off(2)}, 1e-6, "entry 2"},
		{hand{jvp: func(d []float64) { d[3] = math.NaN() }}, 1e-6, "entry 3"},
	} {
		r, err := adtest.Differences(hand{}, c.want, x, y, c.tol)
		if err != nil || !strings.Contains(fmt.Sprint(r.Err()), c.says) {
			t.Errorf("%v, %v within %g, want %s:\n%v", err, r.Err(), c.tol, c.says, r)
		}
	}
}

// TestScales: a right loss passes at points and with sizes of many orders of magnitude.
func TestScales(t *testing.T) {
	for _, size := range []float64{1e-6, 1e-3, 1, 30, 1000} {
		for _, factor := range []float64{1e-8, 1, 1e8} {
			d := testkit.Get(ad.Differentiate(ad.Loss{P: 3, Q: 3, Build: func(x, y *ad.Node, _ []*ad.Node) *ad.Node {
				return ad.Scale(factor, ad.Add(ad.SumAll(ad.Softplus(ad.Mul(x, y))),
					ad.Dot(ad.Square(y), ad.Sigmoid(x))))
			}}))
			t.Run(fmt.Sprintf("y=%g times %g", size, factor), func(t *testing.T) {
				adtest.Check(t, d, []float64{.3, -.2, 1}, []float64{size, -.6 * size, .1 * size})
			})
		}
	}
}

// TestNoX: a loss may have no x.
func TestNoX(t *testing.T) {
	loss := ad.Loss{Q: 3, Build: func(_, y *ad.Node, _ []*ad.Node) *ad.Node { return ad.SumAll(ad.Sin(y)) }}
	exact := testkit.Get(ad.Differentiate(loss))
	loss.Float32 = true
	y := []float64{.5, -1, 2}
	adtest.Check(t, exact, nil, y)
	adtest.Compare(t, testkit.Get(ad.Differentiate(loss)), exact, nil, y, 1e-6)
}
