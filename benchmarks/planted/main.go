// Command planted proves the tests: it plants bugs in the module, one after the other, and says
// which test finds each.
//
//	go run ./benchmarks/planted
//
// The bugs are patches in the folder bugs. A bug whose old lines are not in its file exactly once
// is an error, which TestPlanted finds: whoever changes that code says how the bug looks from then
// on. No file is changed: the go command builds and tests the module with the bug from an overlay.
//
// Each bug names a test of "go test ./..." that finds it, and the command runs that test; before,
// all of these tests have to pass without a bug. The results are lines of CSV. The exit code is 1
// if a bug is not found.
package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/internal/cli"
)

func main() { os.Exit(cli.Main("planted", command)) }

// command plants the chosen bugs and writes a line of CSV for each to stdout. It fails if a bug is
// not found. The limit ends a test that a bug makes hang, which counts as found.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := cli.NewFlags("planted", "planted plants bugs, and says which test finds each.", "")
	only := f.String("only", "", "`part` of the names of the bugs that are planted; \"\": all are")
	limit := f.Duration("limit", 3*time.Minute, "`time` that the tests of a package may take")
	f.Group("Bugs", "only", "limit")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	all, err := bugs()
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(all, func(b bug) bool { return !strings.Contains(b.name, *only) })
	if len(chosen) == 0 {
		return dsbo.ConfigErrorf("-only must be part of a bug's name; no name has %q", *only)
	}
	p, err := newPlanter(ctx, *limit)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.control(ctx, chosen); err != nil {
		return err
	}
	found, err := p.findAll(ctx, chosen, stdout)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%d of %d found\n", found, len(chosen))
	if found < len(chosen) {
		return fmt.Errorf("%d bugs are not found", len(chosen)-found)
	}
	return nil
}

// findAll plants bugs one after the other and runs the test of each. It writes a line of CSV for
// each bug and returns how many were found.
func (p *planter) findAll(ctx context.Context, all []bug, out io.Writer) (found int, err error) {
	table := csv.NewWriter(out)
	if err := table.Write([]string{"bug", "found by", "seconds to fail", "seconds"}); err != nil {
		return 0, err
	}
	for _, b := range all {
		began := time.Now()
		finding, err := p.failureOf(ctx, b)
		switch {
		case ctx.Err() != nil:
			return found, ctx.Err()
		case err != nil:
			finding.by = "not planted: " + cli.OneLine(err)
		case finding.by == "":
			finding.by = "NOT FOUND"
		default:
			found++
		}
		line := []string{b.name, finding.by, finding.took, fmt.Sprintf("%.0f", time.Since(began).Seconds())}
		if err := table.Write(line); err != nil {
			return found, err
		}
		table.Flush()
	}
	return found, table.Error()
}
