package dsbo_test

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
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

// isFusedOnPurpose reports whether a line of a source asks for it by math.FMA, which rounds once
// everywhere.
func isFusedOnPurpose(source string, line int) bool {
	text, err := os.ReadFile(strings.TrimPrefix(source, "dsbo/")) // which -trimpath leaves of the root
	testkit.OK(err)
	return strings.Contains(strings.Split(string(text), "\n")[line-1], "math.FMA(")
}

// TestNothingFused compiles the program for arm64, where the compiler fuses each product that is
// not rounded by a conversion, as it does with GOAMD64=v3 (whose instructions are harder to tell
// apart), and looks for what it fused.
func TestNothingFused(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for another architecture")
	}
	program := filepath.Join(t.TempDir(), "dsbo")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./cmd/dsbo") // the table of functions stays
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build for arm64: %v\n%s", err, out)
	}
	file, err := elf.Open(program)
	testkit.OK(err)
	defer file.Close()
	text := file.Section(".text")
	code, err := text.Data()
	testkit.OK(err)
	lines, err := file.Section(".gopclntab").Data()
	testkit.OK(err)
	table, err := gosym.NewTable(nil, gosym.NewLineTable(lines, text.Addr))
	testkit.OK(err)
	seen, std := map[string]bool{}, 0
	for at := 0; at+4 <= len(code); at += 4 {
		if !isFused(binary.LittleEndian.Uint32(code[at:])) {
			continue
		}
		source, line, f := table.PCToLine(text.Addr + uint64(at))
		if f == nil {
			continue
		}
		dir, ours := strings.CutPrefix(f.PackageName(), "dsbo/")
		if !ours {
			std++
			continue
		}
		if place := fmt.Sprintf("%s, %s:%d", f.Name, source, line); !isFree(dir) && !seen[place] &&
			!isFusedOnPurpose(source, line) {
			seen[place] = true
			t.Errorf("%s: the compiler fuses a product with a sum; write float64(a*b) + c", place)
		}
	}
	if std == 0 { // such as package math
		t.Error("other packages must have fused instructions; none was found, so the test does not know them")
	}
}

// isFused reports whether a word is one of arm64's instructions FMADD, FMSUB, FNMADD and FNMSUB.
func isFused(word uint32) bool { return word>>24 == 0x1f }

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
