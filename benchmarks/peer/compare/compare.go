package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"dsbo/internal/cli"
	"dsbo/internal/kernel"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// A result is what a side has measured of a row, by the names of the numbers, which the peer's
// programs have too.
type result map[string]runs.Number

// A row is one comparison. Each side measures its numbers in processes of its own.
type row struct {
	part  string                           // of -only, that the row belongs to
	title string                           // in the table, and of -worker
	ours  func(ctx context.Context) result // in this process
	most  map[string]string                // what ours/peer of a number may be at most

	program []byte   // the peer's, in Python or C++
	args    []string // its arguments
	mpi     bool     // whether it is an MPI job, whose result is parsed by readJob
	mnist   bool     // whether it reads MNIST
}

// A column shows a number of both sides.
type column struct {
	name, header string
	format       string // of the number
	ratio        string // of ours/peer; "": it is not shown
	most         bool   // whether what ours/peer may be at most is shown
}

// A table is the comparisons of one kind.
type table struct {
	columns   []column
	rows      []row
	oneThread bool // ours too has one thread
	compiled  bool // the peer's program is in C++
}

func tables() []table { return []table{taskTable(), deepTable(), libtorchTable()} }

// compare runs the chosen parts and prints their tables.
func compare(ctx context.Context, o options, out io.Writer) {
	chosen := testkit.Get(cli.Choose("only", o.only, parts()))
	dir := testkit.Get(os.MkdirTemp("", "dsbo-peer"))
	defer os.RemoveAll(dir)
	fmt.Fprintf(out, "%s/%s, %d processors, GOMAXPROCS %d, kernels %s; the peer: %d ranks, OpenBLAS for %s\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.procs, kernel.Active(), o.ranks,
		cmp.Or(openBLAS(), "what it finds"))
	// once makes a rival at its first use; nil, with the reason printed, where it cannot run.
	once := func(newRival func() (*rival, error)) func() *rival {
		return sync.OnceValue(func() *rival {
			r, err := newRival()
			if err != nil {
				fmt.Fprintf(out, "the peer cannot run here, so this is ours alone: %v\n", err)
			}
			return r
		})
	}
	inPython := once(func() (*rival, error) { return newRival(ctx, dir, o) })
	inCPP := once(func() (*rival, error) { return newLibtorch(ctx, dir, o.cxx) })
	for _, t := range tables() {
		t.rows = slices.DeleteFunc(t.rows, func(w row) bool { return !slices.Contains(chosen, w.part) })
		if len(t.rows) == 0 {
			continue
		}
		r := inPython
		if t.compiled {
			r = inCPP
		}
		testkit.OK(cli.Table(out, t.measure(ctx, o, r())))
	}
}

// measure measures the rows on both sides in turn, ours alone where there is no rival, and returns
// the table's lines.
func (t table) measure(ctx context.Context, o options, r *rival) [][]string {
	if t.oneThread {
		o.procs = 1
	}
	lines := [][]string{t.headers()}
	for _, w := range t.rows {
		var mine, theirs []result
		for range o.rounds {
			mine = append(mine, child(ctx, w.title, o))
			if r != nil {
				theirs = append(theirs, testkit.Get(r.measure(ctx, w, t.columns)))
			}
		}
		lines = append(lines, t.line(w, mine, theirs))
	}
	return lines
}

// headers returns the first line: of each column ours, the peer's, and their ratio with its bound.
func (t table) headers() []string {
	line := []string{""}
	for _, c := range t.columns {
		line = append(line, c.header, "peer")
		if c.ratio != "" {
			line = append(line, "ours/peer")
		}
		if c.most {
			line = append(line, "at most")
		}
	}
	return line
}

// line returns the table's line of what the rounds measured: medians, and the median of the
// quotients. theirs is empty where the peer cannot run.
func (t table) line(w row, mine, theirs []result) []string {
	line := []string{w.title}
	for _, c := range t.columns {
		median := func(format string, of func(round int) runs.Number, rounds int) string {
			var v []float64
			for i := range rounds {
				v = append(v, float64(of(i)))
			}
			if rounds == 0 {
				return ""
			}
			return fmt.Sprintf(format, num.Median(v))
		}
		line = append(line, median(c.format, func(i int) runs.Number { return mine[i][c.name] }, len(mine)),
			median(c.format, func(i int) runs.Number { return theirs[i][c.name] }, len(theirs)))
		if c.ratio != "" {
			line = append(line,
				median(c.ratio, func(i int) runs.Number { return mine[i][c.name] / theirs[i][c.name] }, len(theirs)))
		}
		if c.most {
			line = append(line, w.most[c.name])
		}
	}
	return line
}
