package ad

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// An infoCase is a case of PyTorch's test database, see testdata/opinfo.py.
type infoCase struct {
	Op, Variant string
	Args        []any
	Kw          map[string]any
	Y           [][]*float64
	Out         [][]int
	O, G, H, T  []*float64

	one *Node   // a scalar, for constants
	in  []*Node // the inputs, flat
	ids int     // of constants
}

// notHere is the panic for an argument that a counterpart does not take.
type notHere string

// infoOther are the ops some of whose cases have other numbers here, on purpose or by PyTorch's
// fault.
var infoOther = map[string]string{
	"__rpow__":                   "PyTorch takes the base for a constant",
	"cholesky_inverse":           "PyTorch has derivatives by the triangle that is not read",
	"cholesky_solve":             "PyTorch has derivatives by the triangle that is not read",
	"linalg.det":                 "PyTorch's third derivatives at singular matrices are wrong",
	"linalg.eigvalsh":            "PyTorch reads a triangle of matrices that are not symmetric",
	"linalg.norm":                "derivatives of norms at 0 are 0 here, NaN in PyTorch from the second on",
	"logcumsumexp":               "PyTorch's third derivatives are NaN",
	"masked.logaddexp":           "PyTorch's derivatives beside what is masked are NaN",
	"masked.softmax":             "rows that are all masked are 0 here, NaN in PyTorch",
	"masked.softmin":             "rows that are all masked are 0 here, NaN in PyTorch",
	"native_layer_norm":          "PyTorch takes statistics for constants",
	"nn.functional.batch_norm":   "PyTorch's third derivatives are not those of its parts",
	"nn.functional.layer_norm":   "PyTorch's third derivatives are not those of its parts",
	"nn.functional.max_unpool1d": "places that several entries go to",
	"nn.functional.max_unpool2d": "places that several entries go to",
	"nn.functional.max_unpool3d": "places that several entries go to",
	"nn.functional.normalize":    "a root of 0 in roundings",
	"nn.functional.pad":          "circular padding that takes entries away",
	"nn.functional.softplus":     "PyTorch's threshold",
	"polygamma":                  "the sine of 1e10 in roundings",
	"special.erfcx":              "is a product here, which overflows",
	"special.polygamma":          "the sine of 1e10 in roundings",

	"nn.functional.instance_norm": "PyTorch's third derivatives are not those of its parts",
}

// rightCases is how many cases were right in PyTorch 1.13.
const rightCases = 3053

// TestOpInfo: values and three orders of derivatives of PyTorch's own test database, at most 30
// cases of an op, are as PyTorch's, for each case with a counterpart here and but for a list of
// ops; DSBO_OPINFO names a Python that has PyTorch.
func TestOpInfo(t *testing.T) {
	python := os.Getenv("DSBO_OPINFO")
	if python == "" {
		t.Skip("PyTorch's test database: DSBO_OPINFO must name a Python with PyTorch")
	}
	all := testkit.Get(exec.CommandContext(t.Context(), python, "testdata/opinfo.py", "30").Output())
	right, wrong, left := map[string]int{}, map[string]int{}, map[string]int{}
	count := 0
	lines := bufio.NewScanner(strings.NewReader(string(all)))
	lines.Buffer(nil, 1<<24)
	for ; lines.Scan(); count++ {
		var c infoCase
		testkit.OK(json.Unmarshal(lines.Bytes(), &c))
		switch err := c.check(); {
		case err == nil:
			right[c.Op]++
		case strings.HasPrefix(err.Error(), "left: "):
			left[c.Op]++
			if os.Getenv("DSBO_OPINFO_LEFT") != "" {
				t.Logf("%s %s: %v", c.Op, c.Variant, err)
			}
		default:
			wrong[c.Op]++
			if infoOther[c.Op] == "" {
				t.Errorf("%s is on no list of ops with other numbers", c.Op)
			}
			t.Logf("%s %s %v %v: %v", c.Op, c.Variant, short(c.Args), short(c.Kw), err)
		}
	}
	sum := func(of map[string]int) (n int) {
		for _, k := range of {
			n += k
		}
		return n
	}
	t.Logf("%d cases: %d right of %d ops, %d other, %d left out",
		count, sum(right), len(right), sum(wrong), sum(left))
	for op, n := range wrong {
		t.Logf("%d other of %s: %s", n, op, infoOther[op])
	}
	if sum(right) < rightCases {
		t.Errorf("%d cases are right; there must be at least %d", sum(right), rightCases)
	}
	t.Logf("left out: %v", slices.Sorted(maps.Keys(left)))
}

func short(v any) string {
	text := fmt.Sprint(v)
	return text[:min(len(text), 120)]
}

// check returns where a case differs.
func (c *infoCase) check() (err error) {
	f := infoOps[c.Op]
	if f == nil {
		return fmt.Errorf("left: no counterpart")
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case notHere:
			err = fmt.Errorf("left: %s", string(r))
		default:
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	var y []float64
	for _, part := range c.Y {
		y = append(y, nullable(part)...)
	}
	n := len(c.O)
	var reason any
	p, err := Compile(Func{Q: len(y), Build: func(_, z *Node, _ []*Node) (list []*Node) {
		defer func() {
			if reason = recover(); reason != nil {
				list = []*Node{z}
			}
		}()
		return c.build(f, z)
	}})
	switch r := reason.(type) {
	case nil:
	case notHere, misuse:
		return fmt.Errorf("left: %v", r)
	default:
		panic(r)
	}
	if err != nil {
		return err
	}
	got := make([]float64, p.size)
	if err := p.Eval(got, nil, y); err != nil {
		return err
	}
	if len(got) != n+3*len(y) {
		return fmt.Errorf("%d outputs, want %d", len(got)-3*len(y), n)
	}
	for i, want := range [][]*float64{c.O, c.G, c.H, c.T} {
		if err := alikeNumbers(got[:len(want)], nullable(want)); err != nil {
			return fmt.Errorf("%s: %w", []string{"value", "gradient", "product", "third order"}[i], err)
		}
		got = got[len(want):]
	}
	return nil
}

// build returns the outputs, the gradient, the product and the third derivative.
func (c *infoCase) build(f func(c *infoCase) []Tensor, z *Node) []*Node {
	off := 0
	c.one = Item(z, 0)
	for _, part := range c.Y {
		c.in = append(c.in, PartVec(z, off, max(len(part), 1)))
		off += len(part)
	}
	var parts []*Node
	for i, t := range f(c) {
		if i < len(c.Out) && !slices.Equal(t.Shape, c.Out[i]) {
			panic(notHere(fmt.Sprintf("output %d has shape %v, not %v", i, t.Shape, c.Out[i])))
		}
		if i < len(c.Out) {
			parts = append(parts, Flatten(t.Node))
		}
	}
	o := ConcatRows(parts...)
	w, v := make([]float64, o.Shape()[0]), make([]float64, off)
	for i := range w {
		w[i] = 1 + .1*float64(i%7)
	}
	for i := range v {
		v[i] = math.Cos(float64(i))
	}
	along := NewConst(z, "along", off, 0, v)
	list := []*Node{o}
	cost := Dot(NewConst(z, "weights", len(w), 0, w), Add(Sin(o), Square(o)))
	for range 3 {
		by := orZero(testkit.Get(Grad(cost, z))[0], z)
		list = append(list, by)
		cost = Dot(by, along)
	}
	return list
}

// nullable has NaN for null.
func nullable(list []*float64) []float64 {
	all := make([]float64, len(list))
	for i, v := range list {
		all[i] = math.NaN()
		if v != nil {
			all[i] = *v
		}
	}
	return all
}

// alikeNumbers allows 1e-6 of the largest entry, for third orders of ill-conditioned systems.
func alikeNumbers(got, want []float64) error {
	scale := 1e-3
	for _, w := range want {
		if !math.IsNaN(w) {
			scale = max(scale, math.Abs(w))
		}
	}
	for i, w := range want {
		finite := !math.IsNaN(got[i]) && !math.IsInf(got[i], 0)
		if finite == math.IsNaN(w) || finite && math.Abs(got[i]-w) > 1e-6*scale {
			return fmt.Errorf("entry %d is %v, want %v (largest %v)", i, got[i], w, scale)
		}
	}
	return nil
}
