package ad

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo/internal/testkit"
)

// TestGorgonia: Gorgonia's TapeMachine finds the value, gradients and products of each op's loss to
// 1e-12 of the largest entry, to 2e-5 in float32, and the same bits when it is asked again after
// another point. None of the ops fails there.
func TestGorgonia(t *testing.T) {
	for turn, op := range ops {
		if turn%testkit.Sized(5, 5, 1) > 0 {
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			c := fixture{f: op.f, from: []source{free, batch, picked}[turn%3], rows: 5, float32: turn%4 == 3}
			n := draw(c.rows)
			l := c.loss(t, n)
			tolerance := 1e-12
			if c.float32 {
				tolerance = 2e-5
			}
			want := c.derivs(t)
			d := testkit.Get(Differentiate(l))
			d.UseGorgonia()
			if c.from >= batch {
				n.bind(t, d, c.from)
			}
			x, y := point(d.f.Q)
			v := slices.Clone(x)
			first := evaluate(d, x, y, v)
			for i, w := range evaluate(want, x, y, v) {
				within(t, fmt.Sprint("derivative ", i), first[i], w, tolerance)
			}
			evaluate(d, y, x, y)
			for i, w := range evaluate(d, x, y, v) {
				sameBits(t, fmt.Sprint("again ", i), w, first[i])
			}
		})
	}
}

// TestGorgoniaMatrices: whole Hessians and Jacobians, many products and Gauss-Newton's are columns
// that the TapeMachine finds.
func TestGorgoniaMatrices(t *testing.T) {
	const q = 5
	l := Loss{P: q, Q: q, Build: func(x, y *Node, _ []*Node) *Node {
		return Add(Mul(SumAll(Exp(Mul(x, y))), Dot(y, y)), SumAll(Square(Outputs(Sin(y)))))
	}}
	want, d := testkit.Get(Differentiate(l)), testkit.Get(Differentiate(l))
	d.UseGorgonia()
	d = d.Fork(nil)
	x, y := point(q)
	vs := make([]float64, 3*q)
	copy(vs[1:], x)
	for i, f := range []func(d *Derivs, dst []float64) error{
		func(d *Derivs, dst []float64) error { return d.Hessian(dst, x, y) },
		func(d *Derivs, dst []float64) error { return d.Jacobian(dst, x, y) },
		func(d *Derivs, dst []float64) error { return d.HVPs(dst[:3*q], x, y, vs) },
		func(d *Derivs, dst []float64) error { return d.GaussNewton(dst[:q], x, y, vs[:q]) },
	} {
		got, is := make([]float64, q*q), make([]float64, q*q)
		testkit.OK(f(d, got))
		testkit.OK(f(want, is))
		within(t, fmt.Sprint("matrix ", i), got, is, 1e-14)
		if slices.Max(is) == 0 {
			t.Errorf("matrix %d is 0", i)
		}
	}
	if len(d.tapes) != 3 {
		t.Errorf("the TapeMachine ran %d kinds of derivatives, want 3", len(d.tapes))
	}
}

// TestGorgoniaFails: an index out of range and a solver without an end are errors there too.
func TestGorgoniaFails(t *testing.T) {
	for want, f := range map[string]func(y *Node) *Node{
		"indices must be whole numbers from 0 to 1; entry 0 is 7": func(y *Node) *Node {
			return SumAll(Gather(Reshape(y, 2, 1), NewConst(y, "idx", 1, 0, []float64{7})))
		},
		"on Gorgonia's TapeMachine": func(y *Node) *Node {
			return SumAll(Root(func(z *Node, _ []*Node) *Node { return Offset(1, Square(z)) }, y, nil,
				Solver{Steps: 3}))
		},
	} {
		d := testkit.Get(Differentiate(Loss{Q: 2,
			Build: func(_, y *Node, _ []*Node) *Node { return f(y) }}))
		d.UseGorgonia()
		_, err := d.Value(nil, []float64{1, 2})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

// TestGorgoniaPage: gorgonia.md has what is taken, replaced and refused of Gorgonia's ops, and what
// its TapeMachine runs. DSBO_GOLDEN=write writes it anew.
func TestGorgoniaPage(t *testing.T) {
	a := newFamily().leaf("a", matShape(2, 3), tensor.Float64)
	var b strings.Builder
	b.WriteString(`# Gorgonia

Written by ` + "`ad.TestGorgoniaPage`" + `.
A loss is a graph of Gorgonia's nodes. The package reads it, differentiates it as often as is asked, and compiles a
program of its own: nothing of Gorgonia's runs.

**The TapeMachine.** ` + "`ad.Derivs.UseGorgonia`, `models.Config.Gorgonia` and `-engine gorgonia`" + ` run values,
gradients and products on Gorgonia's machine instead, the same to 1e-12, for each model of models (and λ of a run to
1e-9). Ops of the last table are Gorgonia's own there, others ops of this package that it calls. gorgonia.Grad has no
part in it: of its own result it gives the first gradient again. Closed forms and scores stay compiled. A product of
softmax takes some 15 times the processor time of the compiled program, of a network 9, on 1000 rows of 784 (` +
		"`go test -run '^$' -bench Gorgonia -benchtime 40x ./models`" + `).

## Taken

With derivatives of any order: abs and its kin below, arithmetic, comparisons that give numbers, and ops of the types
`)
	types := slices.DeleteFunc(slices.Sorted(maps.Keys(stockOps)), func(s string) bool { return s[:4] == "elem" })
	fmt.Fprintf(&b, "%s.\n\n| Gorgonia | here |\n|---|---|\n", strings.Join(types, ", "))
	for _, name := range slices.Sorted(maps.Keys(unaryStock)) {
		fmt.Fprintf(&b, "| %s | %v |\n", name, ruleOf(unaryStock[name](a)))
	}
	b.WriteString("\n## Refused, where it is not rebuilt\n\n| Gorgonia | why, and what to take |\n|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(replacements)) {
		fmt.Fprintf(&b, "| %s | %s |\n", key, replacements[key])
	}
	b.WriteString("\n## Gorgonia's own on the TapeMachine\n\n| here | Gorgonia |\n|---|---|\n" +
		"| MatMul, MatVec in float64 | Mul, Transpose |\n| Scale, Neg, Offset | HadamardProd, Add |\n")
	g := gorgonia.NewGraph()
	m := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithShape(2, 3), gorgonia.WithName("m"))
	for _, name := range slices.Sorted(maps.Keys(tapeOps)) {
		own := counterpart(name, nodes{m, gorgonia.Must(gorgonia.Neg(m))}[:max(1, len(definitions[name].op.Args))])
		text, _, _ := strings.Cut(own.Op().String(), " ")
		fmt.Fprintf(&b, "| %v | %s |\n", name, strings.TrimSuffix(text, "[0"))
	}
	if os.Getenv("DSBO_GOLDEN") == "write" {
		testkit.OK(os.WriteFile("gorgonia.md", []byte(b.String()), 0o644))
	}
	if string(testkit.Get(os.ReadFile("gorgonia.md"))) != b.String() {
		t.Error("gorgonia.md is not as the ops are: write it anew with DSBO_GOLDEN=write")
	}
}
