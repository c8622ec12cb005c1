// Command gen writes the assembly of package kernel and its Go declarations to the folder that is
// its argument.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// files are the parts of the package, each written once for an instruction set.
var files = []struct {
	name string
	emit func(*emitter)
}{
	{"gemm", func(e *emitter) {
		e.both(func() {
			e.dot()
			e.outer()
			e.packRows()
			e.packColumns()
			e.addRuns()
			e.tapSums()
		})
	}},
	{"bytes", func(e *emitter) {
		e.both(func() { e.bytesDot(); e.bytesOuter() })
	}},
	{"math", func(e *emitter) {
		m := e.constants()
		e.both(func() { m.functions(); e.rowShift(); e.rowSum(); e.rowNormalize(); e.rowNumbers() })
	}},
	{"elem", func(e *emitter) {
		e.both(func() { e.elementwise(); e.sums(); e.fromBytes(); e.conversions(); e.pooling() })
	}},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: gen FOLDER")
	}
	for _, f := range files {
		var functions []function
		for _, wide := range []bool{false, true} { // AVX2, then AVX-512
			if err := write(os.Args[1], f.name, wide, f.emit, &functions); err != nil {
				log.Fatal(err)
			}
		}
		if err := writeDispatch(os.Args[1], f.name, functions); err != nil {
			log.Fatal(err)
		}
	}
}

// write emits one part and prints the assembly and the declarations.
func write(folder, name string, wide bool, emit func(*emitter), functions *[]function) error {
	ctx := build.NewContext()
	ctx.ConstraintExpr("amd64,!noasm")
	e := &emitter{Context: ctx, set: "AVX512", width: 64, wide: wide, functions: functions}
	if !wide {
		e.set, e.width = "AVX2", 32
		e.tail = ctx.StaticGlobal("tail")
		ctx.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 16 {
			ones := operand.U64(0)
			if i < 8 {
				ones = ^ones
			}
			ctx.AppendDatum(ones)
		}
	}
	emit(e)
	f, err := ctx.Result()
	if err == nil {
		err = pass.Compile.Execute(f)
	}
	if err != nil {
		return fmt.Errorf("%s for %s: %w", name, e.set, err)
	}
	cfg := printer.Config{Name: "gen", Argv: []string{"go", "generate"}, Pkg: "kernel"}
	base := filepath.Join(folder, strings.Join([]string{name, strings.ToLower(e.set), "amd64"}, "_"))
	for ext, p := range map[string]printer.Printer{".s": printer.NewGoAsm(cfg), ".go": printer.NewStubs(cfg)} {
		text, err := p.Print(f)
		if err != nil {
			return fmt.Errorf("%s%s: %w", base, ext, err)
		}
		if ext == ".go" {
			text = wrapped(text)
		}
		if err := os.WriteFile(base+ext, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
