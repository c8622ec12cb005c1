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
)

// compare runs the chosen parts and prints a table.
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

	rows := [][]string{{"", "ms/iteration", "peer", "ours/peer", "at most", "MiB", "peer", "ours/peer", "at most",
		"floats sent", "peer", "test loss", "peer"}}
	mnist := 0.0 // ms of an iteration in float32
	for _, t := range tasks() {
		if !slices.Contains(chosen, t.name) {
			continue
		}
		p := rounds(ctx, o, t, r)
		rows = append(rows, p.row(t))
		if t.name == "mnist-f32" {
			mnist = medianOf(p.ours, run.ms)
		}
	}
	if len(rows) > 1 {
		testkit.OK(cli.Table(out, rows))
	}
	compareDeep(ctx, o, chosen, r, out)
	if slices.Contains(chosen, outsidePart) {
		compareOutside(ctx, o, r, out)
	}
	if slices.Contains(chosen, trainingPart) {
		compareTraining(ctx, o, r, out)
	}
	if slices.Contains(chosen, productsPart) {
		child[products](ctx, productsPart, o).print(out)
	}
	if slices.Contains(chosen, limitPart) {
		l := child[limit](ctx, limitPart, o)
		l.print(out)
		if mnist > 0 {
			l.compare(out, mnist)
		}
	}
}

// A pair is the rounds of both sides; theirs is empty where the peer cannot run.
type pair struct{ ours, theirs []run }

// rounds runs a task on both sides in turn.
func rounds(ctx context.Context, o options, t task, r *rival) (p pair) {
	for range o.rounds {
		p.ours = append(p.ours, child[run](ctx, t.name, o))
		if r != nil {
			p.theirs = append(p.theirs, testkit.Get(r.run(ctx, t)))
		}
	}
	return p
}

// row returns the table's line of a task.
func (p pair) row(t task) []string {
	ms, mib := medianOf(p.ours, run.ms), medianOf(p.ours, run.mib)
	line := []string{t.title(), fmt.Sprintf("%.2f", ms), "", "", fmt.Sprint(t.most),
		fmt.Sprintf("%.0f", mib), "", "", "",
		fmt.Sprintf("%.0f", p.ours[0].Floats), "", fmt.Sprintf("%.4f", p.ours[0].Loss), ""}
	if p.theirs == nil {
		return line
	}
	peerMiB := medianOf(p.theirs, run.mib)
	var ratios []float64
	for i := range p.ours {
		ratios = append(ratios, p.ours[i].ms()/p.theirs[i].ms())
	}
	line[2], line[3] = fmt.Sprintf("%.2f", medianOf(p.theirs, run.ms)), fmt.Sprintf("%.3f", num.Median(ratios))
	line[6], line[7] = fmt.Sprintf("%.0f", peerMiB), fmt.Sprintf("%.2f", mib/peerMiB)
	if t.mnist() && t.network == "" {
		line[8] = fmt.Sprint(mnistMemory)
	}
	line[10], line[12] = fmt.Sprintf("%.0f", p.theirs[0].Floats), fmt.Sprintf("%.4f", p.theirs[0].Loss)
	return line
}

func (r run) ms() float64  { return num.Median(r.Ms) }
func (r run) mib() float64 { return float64(r.MiB) }

// medianOf returns the median of a number over rounds.
func medianOf(rs []run, number func(run) float64) float64 {
	var v []float64
	for _, r := range rs {
		v = append(v, number(r))
	}
	return num.Median(v)
}
