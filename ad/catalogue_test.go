package ad

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
	"dsbo/internal/testkit"
)

// alone are the cases of ops whose derivative is 0, and of ops that others have cases of.
var alone = []opCase{
	{"ArgMax itself", func(k *kit) *Node { return ArgMax(k.rowsMat(3)) }},
	{"ArgSort itself", func(k *kit) *Node { return ArgSort(k.rowsMat(3)) }},
	{"Detached itself", func(k *kit) *Node { return Detached(k.rowsMat(2)) }},
	{"Equal itself", func(k *kit) *Node { return Equal(k.rowsMat(2), k.rowsMat(2)) }},
	{"Floor itself", func(k *kit) *Node { return Floor(k.rowsMat(2)) }},
	{"Greater itself", func(k *kit) *Node { return Greater(k.rowsMat(2), k.rowsMat(2)) }},
	{"GreaterEqual itself", func(k *kit) *Node { return GreaterEqual(k.rowsMat(2), k.rowsMat(2)) }},
	{"Less itself", func(k *kit) *Node { return Less(k.rowsMat(2), k.rowsMat(2)) }},
	{"LessEqual itself", func(k *kit) *Node { return LessEqual(k.rowsMat(2), k.rowsMat(2)) }},
	{"NotEqual itself", func(k *kit) *Node { return NotEqual(k.rowsMat(2), k.rowsMat(2)) }},
	{"RowHit itself", func(k *kit) *Node { return RowHit(k.rowsMat(3), k.hot) }},
	{"Sign itself", func(k *kit) *Node { return Sign(k.rowsMat(2)) }},
	{"SignOfDet itself", func(k *kit) *Node { return SignOfDet(k.mat(3, 3)) }},
	{"Step itself", func(k *kit) *Node { return Step(k.rowsMat(2)) }},
	{"StopGradient itself", func(k *kit) *Node { return StopGradient(k.rowsMat(2)) }},
	{"Uniform itself", func(k *kit) *Node { return Uniform(2, k.rowsMat(2)) }},
	{"LogAddExp itself", func(k *kit) *Node { return LogAddExp(k.rowsMat(2), k.rowsMat(2)) }},
	{"RowProd itself", func(k *kit) *Node { return RowProd(k.rowsMat(3)) }},
	{"Square itself", func(k *kit) *Node { return Square(k.rowsMat(2)) }},
	{"Reshape itself", func(k *kit) *Node { return Reshape(k.rowsMat(4), 2*k.rows, 2) }},
	{"ResizeBy itself", func(k *kit) *Node { return k.cube().ResizeBy(1, 1.7, Cubic).Node }},
	{"Remat itself", func(k *kit) *Node {
		return Remat(func(in ...*Node) *Node { return Sin(in[0]) }, k.rowsMat(2))
	}},
}

// broadcasting are the ops that broadcast two inputs.
var broadcasting = map[string]func(a, b *Node) *Node{"Add": Add, "Sub": Sub, "Mul": Mul, "Div": Div, "Power": Power,
	"Atan2": Atan2, "Max": Max, "Min": Min, "Mod": Mod, "LogAddExp": LogAddExp, "Greater": Greater,
	"GreaterEqual": GreaterEqual, "Less": Less, "LessEqual": LessEqual, "Equal": Equal, "NotEqual": NotEqual,
	"Sum":   func(a, b *Node) *Node { return Sum(a, b) },
	"Where": func(a, b *Node) *Node { return Where(a, b, b) }}

// TestCatalogue: ops.md has what the rules say of each op that the package exports.
// DSBO_GOLDEN=write writes it anew.
func TestCatalogue(t *testing.T) {
	exported := exportedOps()
	known := strings.ReplaceAll(strings.Join(exported, " "), ".", " ") + " Window H "
	for _, name := range testkit.Get(filepath.Glob("../models/nn/*.go")) {
		known += string(testkit.Get(os.ReadFile(name)))
	}
	capitals := regexp.MustCompile(`\b[A-Z]\w*`)
	var b strings.Builder
	b.WriteString("# Ops\n\nWritten by `ad.TestCatalogue`. Derivatives: of any order, or 0. Tiles: how a batch goes " +
		"through the op, in rows, as a sum over rows, or whole. Gauss-Newton: products are those of the Jacobian.\n\n" +
		fmt.Sprintf("`DSBO_OPINFO=python3 go test -v -run TestOpInfo ./ad` holds them against PyTorch's own test "+
			"database, to third order: %d cases must be right.\n\n", rightCases) +
		"| op | derivatives | types | tiles | broadcast | Gauss-Newton | PyTorch | NumPy |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for line := range strings.Lines(string(testkit.Get(os.ReadFile("testdata/ops.txt")))) {
		f := strings.Split(strings.TrimSpace(line), "|")
		i := slices.Index(exported, f[0])
		if i < 0 {
			t.Errorf("testdata/ops.txt has %q, which is not exported, or there twice", f[0])
			continue
		}
		exported = slices.Delete(exported, i, i+1)
		facts := factsOf(t, f[0], f[1])
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f[0], strings.Join(facts, " | "), f[2], f[3])
	}
	for _, name := range exported {
		t.Errorf("testdata/ops.txt has no line for %s", name)
	}
	b.WriteString("\n## Names that are not here\n\n| PyTorch | write |\n|---|---|\n")
	for line := range strings.Lines(string(testkit.Get(os.ReadFile("testdata/instead.txt")))) {
		name, instead, _ := strings.Cut(strings.TrimSpace(line), "|")
		fmt.Fprintf(&b, "| %s | %s |\n", name, instead)
		for _, word := range capitals.FindAllString(strings.ReplaceAll(instead, "math.", "math"), -1) {
			if !strings.Contains(known, word) {
				t.Errorf("testdata/instead.txt: there is no %s", word)
			}
		}
	}
	if os.Getenv("DSBO_GOLDEN") == "write" {
		testkit.OK(os.WriteFile("ops.md", []byte(b.String()), 0o644))
	}
	if string(testkit.Get(os.ReadFile("ops.md"))) != b.String() {
		t.Error("ops.md is not as the ops are: write it anew with DSBO_GOLDEN=write")
	}
}

// exportedOps are the exported functions and methods whose results are nodes or tensors, but those
// that are about graphs.
func exportedOps() (names []string) {
	for _, path := range testkit.Get(filepath.Glob("*.go")) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := testkit.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			result, name := fmt.Sprint(f.Type.Results.List[0].Type), f.Name.Name
			if star, pointer := f.Type.Results.List[0].Type.(*ast.StarExpr); pointer {
				result = fmt.Sprint(star.X)
			}
			if f.Recv != nil {
				name = fmt.Sprint(f.Recv.List[0].Type) + "." + name
			}
			if (result == "Node" || result == "Tensor") &&
				!slices.Contains([]string{"NewConst", "JVP", "Jacobian", "Hessian"}, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// factsOf returns what is so of an op, by a case of it: orders of derivatives, types, tiles,
// broadcasting and Gauss-Newton products.
func factsOf(t *testing.T, name, title string) []string {
	all := slices.Concat(ops, alone)
	i := slices.IndexFunc(all, func(c opCase) bool { return c.name == title })
	if i < 0 {
		t.Errorf("testdata/ops.txt: there is no case %q", title)
		return nil
	}
	facts := []string{"any", "float32, float64", "rows", "", "yes"}
	q := 0
	build := func(y *Node) *Node {
		k := &kit{z: y, rows: 4, idx: NewConst(y, "idx", 4, 0, []float64{0, 1, 2, 3}),
			hot: NewConst(y, "hot", 4, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0})}
		out := all[i].f(k)
		q = k.next
		return out
	}
	leaf := newFamily().leaf("z", vecShape(300), tensor.Float64)
	out := build(leaf)
	for _, n := range topological(out) {
		if isLeaf(n) {
			continue
		}
		o := ruleOf(n).lower(children(n))
		switch _, solves := ruleOf(n).(implicitRule); {
		case solves:
			facts[1], facts[2] = "float64 within", "whole"
		case o.F32 == nil || o.F64 == nil:
			t.Errorf("%s: %v has no kernel for each type", name, ruleOf(n))
		case o.Sum && facts[2] == "rows" && shapeOf(children(n)[0]).TotalSize() > 1:
			facts[2] = "sums"
		case !o.Sum && o.Args == "" && o.Kind == engine.Other:
			facts[2] = "whole"
		}
	}
	if f := broadcasting[name]; f != nil {
		facts[3] = "yes"
		if s := f(Part(leaf, 0, 3, 1), PartVec(leaf, 0, 4)).Shape(); !equal(s, matShape(3, 4)) {
			t.Errorf("%s: shapes 3×1 and 4 are broadcast to %v", name, s)
		}
	}
	if testkit.Get(Grad(SumAll(out), leaf))[0] == nil {
		facts[0], facts[4] = "0", "0"
		return facts
	}
	n := SumAll(out)
	for order := 1; order <= 3; order++ {
		by := testkit.Get(Grad(n, leaf))[0]
		if by == nil {
			break // a linear op
		}
		n = SumAll(Sin(by))
	}
	checkGaussNewton(t, name, q, build)
	return facts
}

// checkGaussNewton compares a Gauss-Newton product of Σ wᵢ(sin oᵢ + oᵢ²) of an op's outputs o with
// Jᵀ diag(wᵢ(2 − sin oᵢ)) J v.
func checkGaussNewton(t *testing.T, name string, q int, build func(y *Node) *Node) {
	x, y := point(q)
	direction := func(like *Node) *Node { return NewConst(like, "direction", q, 0, x) }
	d := testkit.Get(Differentiate(Loss{Q: q, Build: func(_, y *Node, _ []*Node) *Node {
		return new(kit).total(Outputs(build(y)))
	}}))
	got, want := make([]float64, q), make([]float64, q)
	testkit.OK(d.GaussNewton(got, nil, y, x))
	testkit.OK(testkit.Get(Compile(Func{Q: q, Build: func(_, y *Node, _ []*Node) []*Node {
		o := Flatten(build(y))
		w := make([]float64, o.Shape()[0])
		for i := range w {
			w[i] = 1 + .1*float64(i%7)
		}
		h := Mul(NewConst(y, "w", len(w), 0, w), Offset(2, Neg(Sin(o))))
		return testkit.Get(VJP(o, Mul(h, testkit.Get(JVP(o, y, direction(y)))), y))
	}})).Eval(want, nil, y))
	within(t, name, got, want, 1e-9)
}
