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
		mine, theirs := inTurn(ctx, o, t.name, r, func() (run, error) { return r.run(ctx, t) })
		rows = append(rows, t.row(mine, theirs))
		if t.name == "mnist-f32" {
			mnist = medianOf(mine, run.ms)
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
	if slices.Contains(chosen, limitPart) {
		l := child[limit](ctx, limitPart, o)
		l.print(out)
		if mnist > 0 {
			l.compare(out, mnist)
		}
	}
}

// inTurn measures a part on both sides in turn; theirs is empty where the peer cannot run.
func inTurn[T any](ctx context.Context, o options, part string, r *rival,
	peer func() (T, error)) (mine, theirs []T) {
	for range o.rounds {
		mine = append(mine, child[T](ctx, part, o))
		if r != nil {
			theirs = append(theirs, testkit.Get(peer()))
		}
	}
	return mine, theirs
}

// compared returns the median of a number over the rounds of ours, and with the peer its median and
// the median of the quotients.
func compared[T any](mine, theirs []T, number func(T) float64) []string {
	line := []string{fmt.Sprintf("%.2f", medianOf(mine, number)), "", ""}
	if len(theirs) > 0 {
		var ratios []float64
		for i := range mine {
			ratios = append(ratios, number(mine[i])/number(theirs[i]))
		}
		line[1], line[2] = fmt.Sprintf("%.2f", medianOf(theirs, number)), fmt.Sprintf("%.3f", num.Median(ratios))
	}
	return line
}

// row returns the table's line of a task.
func (t task) row(mine, theirs []run) []string {
	mib := medianOf(mine, run.mib)
	line := append(append([]string{t.title()}, compared(mine, theirs, run.ms)...), fmt.Sprint(t.most),
		fmt.Sprintf("%.0f", mib), "", "", "",
		fmt.Sprintf("%.0f", mine[0].Floats), "", fmt.Sprintf("%.4f", mine[0].Loss), "")
	if len(theirs) == 0 {
		return line
	}
	peerMiB := medianOf(theirs, run.mib)
	line[6], line[7] = fmt.Sprintf("%.0f", peerMiB), fmt.Sprintf("%.2f", mib/peerMiB)
	if t.mnist() && t.network == "" {
		line[8] = fmt.Sprint(mnistMemory)
	}
	line[10], line[12] = fmt.Sprintf("%.0f", theirs[0].Floats), fmt.Sprintf("%.4f", theirs[0].Loss)
	return line
}

func (r run) ms() float64  { return num.Median(r.Ms) }
func (r run) mib() float64 { return float64(r.MiB) }

// medianOf returns the median of a number over rounds.
func medianOf[T any](rounds []T, number func(T) float64) float64 {
	var v []float64
	for _, r := range rounds {
		v = append(v, number(r))
	}
	return num.Median(v)
}
