package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"dsbo/internal/cli"
	"dsbo/internal/kernel"
	"dsbo/internal/stat"
)

// compare runs the chosen parts and prints a table.
func compare(ctx context.Context, o options, out io.Writer) error {
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "dsbo-peer")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(out, "%s/%s, %d processors, GOMAXPROCS %d, kernels %s; the peer: %d ranks\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.procs, kernel.Active(), o.ranks)
	r, err := newRival(ctx, dir, o)
	if err != nil {
		fmt.Fprintf(out, "the peer cannot run here, so this is ours alone: %v\n", err)
	}

	rows := [][]string{{"", "ms/iteration", "peer", "ours/peer", "at most", "MiB", "peer", "ours/peer", "at most", "floats sent", "peer", "test loss", "peer"}}
	measured := map[string]pair{}
	for _, t := range tasks() {
		if !chosen[t.name] {
			continue
		}
		p, err := rounds(ctx, o, t, r)
		if err != nil {
			return err
		}
		rows = append(rows, p.row(t))
		measured[t.name] = p
	}
	if len(measured) > 0 {
		if err := cli.Table(out, rows); err != nil {
			return err
		}
	}
	return machine(ctx, o, chosen, measured, out)
}

// machine prints the parts that are not tasks.
func machine(ctx context.Context, o options, chosen map[string]bool, measured map[string]pair, out io.Writer) error {
	if chosen[productsPart] {
		var p products
		if err := child(ctx, productsPart, o, &p); err != nil {
			return err
		}
		p.print(out)
	}
	if !chosen[limitPart] {
		return nil
	}
	var l limit
	if err := child(ctx, limitPart, o, &l); err != nil {
		return err
	}
	l.print(out)
	if p, ok := measured["mnist-f32"]; ok {
		l.compare(out, medianOf(p.ours, run.ms))
	}
	return nil
}

// A pair is the rounds of both sides; theirs is empty where the peer cannot run.
type pair struct{ ours, theirs []run }

// rounds runs a task on both sides in turn.
func rounds(ctx context.Context, o options, t task, r *rival) (p pair, err error) {
	for range o.rounds {
		var mine run
		if err := child(ctx, t.name, o, &mine); err != nil {
			return p, err
		}
		p.ours = append(p.ours, mine)
		if r == nil {
			continue
		}
		other, err := r.run(ctx, t)
		if err != nil {
			return p, err
		}
		p.theirs = append(p.theirs, other)
	}
	return p, nil
}

// row returns the table's line of a task.
func (p pair) row(t task) []string {
	ms, mib := medianOf(p.ours, run.ms), medianOf(p.ours, run.mib)
	line := []string{t.title(), fmt.Sprintf("%.2f", ms), "", "", fmt.Sprint(t.most), fmt.Sprintf("%.0f", mib), "", "", "",
		fmt.Sprintf("%.0f", p.ours[0].Floats), "", fmt.Sprintf("%.4f", p.ours[0].Loss), ""}
	if p.theirs == nil {
		return line
	}
	peerMiB := medianOf(p.theirs, run.mib)
	var ratios []float64
	for i := range p.ours {
		ratios = append(ratios, p.ours[i].ms()/p.theirs[i].ms())
	}
	line[2], line[3] = fmt.Sprintf("%.2f", medianOf(p.theirs, run.ms)), fmt.Sprintf("%.3f", stat.Median(ratios))
	line[6], line[7] = fmt.Sprintf("%.0f", peerMiB), fmt.Sprintf("%.2f", mib/peerMiB)
	if t.mnist() {
		line[8] = fmt.Sprint(mnistMemory)
	}
	line[10], line[12] = fmt.Sprintf("%.0f", p.theirs[0].Floats), fmt.Sprintf("%.4f", p.theirs[0].Loss)
	return line
}

func (r run) ms() float64  { return stat.Median(r.Ms) }
func (r run) mib() float64 { return float64(r.MiB) }

// medianOf returns the median of a number over rounds.
func medianOf(rs []run, number func(run) float64) float64 {
	var v []float64
	for _, r := range rs {
		v = append(v, number(r))
	}
	return stat.Median(v)
}
