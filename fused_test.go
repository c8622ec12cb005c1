package dsbo_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// Agents on unlike machines come to the same bits only if every operation rounds the same on all of
// them. The tests here hold the two rules that this takes: no product is fused with the sum that
// follows, and no function is called whose bits are the machine's.

// free are folders on whose bits no result of a run depends: pictures, programs for the lab book,
// and checks that compare with tolerances.
var free = []string{"runs/report", "benchmarks", "examples", "cmd", "internal/testkit", "network/networktest",
	"models/modeltest", "ad/adtest",
	"algo/algotest", "experiment/experimenttest", "internal/kernel/gen", "tools"}

func isFree(dir string) bool {
	return slices.ContainsFunc(free, func(f string) bool { return dir == f || strings.HasPrefix(dir, f+"/") })
}

var otherMachine = flag.Bool("fused", false, "whether TestNothingFused compiles, which takes minutes")

// TestNothingFused compiles for arm64, where the compiler fuses each product that is not rounded by
// a conversion, as it does with GOAMD64=v3, and has it say what it fuses. It is not asked about
// math.FMA, which rounds once everywhere.
func TestNothingFused(t *testing.T) {
	if !*otherMachine {
		t.Skip("compiles all for another architecture; .ci/run sets -fused")
	}
	// the places in a folder's packages, each after those that its function is inlined in
	said := regexp.MustCompile(`(?m)^fmahash triggered (.*) [01]+$`)
	fused := func(dir string, packages ...string) (places []string) {
		args := []string{"build", "-gcflags=dsbo/...=-d=fmahash=vy"}
		for _, f := range free { // on which others depend; the last flag counts
			args = append(args, "-gcflags=dsbo/"+f+"/...=")
		}
		build := exec.Command("go", append(args, packages...)...)
		build.Dir, build.Env = dir, append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
		out, err := build.CombinedOutput()
		if err != nil {
			t.Fatalf("go build for arm64: %v\n%s", err, out)
		}
		for _, m := range said.FindAllStringSubmatch(string(out), -1) {
			places = append(places, m[1])
		}
		return places
	}
	var packages []string
	for dir := range imports(t) {
		if !isFree(dir) {
			packages = append(packages, "./"+dir)
		}
	}
	for _, place := range fused(".", packages...) {
		t.Errorf("%s: the compiler fuses a product with a sum; write float64(a*b) + c", place)
	}

	probe := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module dsbo/probe", "probe.go": `package probe

func Fused(a, b, c float64) float64   { return a*b + c }
func Rounded(a, b, c float64) float64 { return float64(a*b) + c }
`} {
		testkit.OK(os.WriteFile(filepath.Join(probe, name), []byte(text), 0o644))
	}
	if got := fused(probe); len(got) != 1 || !strings.HasPrefix(got[0], "./probe.go:3:") {
		t.Errorf("of two sums of a product and a number, one fused, the compiler says that it fuses %q", got)
	}
}

// ownBits are the functions of package math that have other bits on other machines, by assembly or
// by fusing.
var ownBits = strings.Fields(`
	Acos Acosh Asin Asinh Atan Atan2 Atanh Cbrt Cos Cosh Erf Erfc Erfcinv Erfinv Exp Exp2
	Expm1 Gamma Hypot J0 J1 Jn Lgamma Log Log10 Log1p Log2 Pow Sin Sincos Sinh Tan Tanh Y0 Y1
	Yn`)

// TestFunctionsOfEveryMachine: exponentials and their like, and normal numbers, come
// from internal/num.
func TestFunctionsOfEveryMachine(t *testing.T) {
	for dir := range imports(t) {
		if isFree(dir) || dir == "internal/num" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		testkit.OK(err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			positions := token.NewFileSet()
			f, err := parser.ParseFile(positions, file, nil, parser.SkipObjectResolution)
			testkit.OK(err)
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				from, _ := s.X.(*ast.Ident)
				switch {
				case from != nil && from.Name == "math" && slices.Contains(ownBits, s.Sel.Name):
					t.Errorf("%s: math.%s has other bits on other machines; internal/num has functions that have not",
						positions.Position(s.Pos()), s.Sel.Name)
				case s.Sel.Name == "NormFloat64" || s.Sel.Name == "ExpFloat64":
					t.Errorf("%s: %s has other bits on other machines; internal/num has numbers that have not",
						positions.Position(s.Pos()), s.Sel.Name)
				}
				return true
			})
		}
	}
}
