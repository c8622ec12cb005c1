package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

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
	part  string                              // of -only, that the row belongs to
	title string                              // in the table, and of -worker
	ours  func(ctx context.Context) result    // in this process
	most  map[string]string                   // what ours/peer of a number may be at most
	more  func(mine result, l limit) []string // what follows from the numbers, under the table's more

	program []byte   // the peer's, in Python
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
	header    string // of the titles
	columns   []column
	more      []string // headers of what a row's function of that name adds
	rows      []row
	oneThread bool // ours too has one thread
}

func tables() []table {
	return []table{taskTable(), deepTable()}
}

// compare runs the chosen parts and prints their tables.
func compare(ctx context.Context, o options, out io.Writer) {
	chosen := testkit.Get(cli.Choose("only", o.only, parts()))
	dir := testkit.Get(os.MkdirTemp("", "dsbo-peer"))
	defer os.RemoveAll(dir)
	fmt.Fprintf(out, "%s/%s, %d processors, GOMAXPROCS %d, kernels %s; the peer: %d ranks\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.procs, kernel.Active(), o.ranks)
	r, err := newRival(ctx, dir, o)
	if err != nil {
		fmt.Fprintf(out, "the peer cannot run here, so this is ours alone: %v\n", err)
	}
	medians := map[string]result{} // of ours, by parts
	for _, t := range tables() {
		t.rows = slices.DeleteFunc(t.rows, func(w row) bool { return !slices.Contains(chosen, w.part) })
		if len(t.rows) > 0 {
			testkit.OK(cli.Table(out, t.measure(ctx, o, r, medians)))
		}
	}
	if slices.Contains(chosen, limitPart) {
		var l limit
		child(ctx, limitPart, o, &l)
		l.print(out)
		if mnist := float64(medians["mnist-f32"]["ms"]); mnist > 0 {
			l.compare(out, mnist)
		}
	}
}

// measure measures the rows on both sides in turn, ours alone where there is no rival, and returns
// the table's lines. It adds the medians of ours.
func (t table) measure(ctx context.Context, o options, r *rival, medians map[string]result) [][]string {
	if t.oneThread {
		o.procs = 1
	}
	var l limit
	if t.more != nil {
		child(ctx, limitPart, o, &l)
	}
	lines := [][]string{t.headers()}
	for _, w := range t.rows {
		var mine, theirs []result
		for range o.rounds {
			var m result
			child(ctx, w.title, o, &m)
			mine = append(mine, m)
			if r != nil {
				theirs = append(theirs, testkit.Get(r.measure(ctx, w, t.columns)))
			}
		}
		lines, medians[w.part] = append(lines, t.line(w, mine, theirs, l)), t.medians(mine)
	}
	return lines
}

func (t table) headers() []string {
	line := []string{t.header}
	for _, c := range t.columns {
		line = append(line, c.header, "peer")
		if c.ratio != "" {
			line = append(line, "ours/peer")
		}
		if c.most {
			line = append(line, "at most")
		}
	}
	return append(line, t.more...)
}

// line returns the table's line of what the rounds measured; theirs is empty where the peer
// cannot run.
func (t table) line(w row, mine, theirs []result, l limit) []string {
	line, own, peers := []string{w.title}, t.medians(mine), t.medians(theirs)
	for _, c := range t.columns {
		peer, ratio := "", ""
		if len(theirs) > 0 {
			var ratios []float64
			for i := range mine {
				ratios = append(ratios, float64(mine[i][c.name]/theirs[i][c.name]))
			}
			peer, ratio = fmt.Sprintf(c.format, peers[c.name]), fmt.Sprintf(c.ratio, num.Median(ratios))
		}
		line = append(line, fmt.Sprintf(c.format, own[c.name]), peer)
		if c.ratio != "" {
			line = append(line, ratio)
		}
		if c.most {
			line = append(line, w.most[c.name])
		}
	}
	if w.more != nil {
		line = append(line, w.more(own, l)...)
	}
	return line
}

// medians returns the median of each number over rounds.
func (t table) medians(rounds []result) result {
	medians := result{}
	for _, c := range t.columns {
		var v []float64
		for _, r := range rounds {
			v = append(v, float64(r[c.name]))
		}
		medians[c.name] = runs.Number(num.Median(v))
	}
	return medians
}
