package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"

	"dsbo/internal/kernel"
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

	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tms/iteration\tpeer\tours/peer\tat most\tMiB\tpeer\tours/peer\tat most\tfloats sent\tpeer\ttest loss\tpeer\t")
	measured := map[string]pair{}
	for _, t := range tasks() {
		if !chosen[t.name] {
			continue
		}
		p, err := rounds(ctx, o, t, r)
		if err != nil {
			return err
		}
		p.row(w, t)
		measured[t.name] = p
	}
	if len(measured) > 0 {
		if err := w.Flush(); err != nil {
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
		l.compare(out, over(p.ours, run.ms))
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

// row writes a line of the table.
func (p pair) row(w io.Writer, t task) {
	a := p.ours[0]
	aMs, aMiB := over(p.ours, run.ms), over(p.ours, run.mib)
	if p.theirs == nil {
		fmt.Fprintf(w, "%s\t%.2f\t\t\t%g\t%.0f\t\t\t\t%.0f\t\t%.4f\t\t\n", t.title(), aMs, t.most, aMiB, a.Floats, a.Loss)
		return
	}
	b := p.theirs[0]
	bMs, bMiB := over(p.theirs, run.ms), over(p.theirs, run.mib)
	var ratios []float64
	for i := range p.ours {
		ratios = append(ratios, p.ours[i].ms()/p.theirs[i].ms())
	}
	memory := ""
	if t.mnist() {
		memory = fmt.Sprint(mnistMemory)
	}
	fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.3f\t%g\t%.0f\t%.0f\t%.2f\t%s\t%.0f\t%.0f\t%.4f\t%.4f\t\n", t.title(),
		aMs, bMs, median(ratios), t.most, aMiB, bMiB, aMiB/bMiB, memory, a.Floats, b.Floats, a.Loss, b.Loss)
}

func (r run) ms() float64  { return median(r.Ms) }
func (r run) mib() float64 { return float64(r.MiB) }

// over is the median of a number over rounds.
func over(rs []run, f func(run) float64) float64 {
	var v []float64
	for _, r := range rs {
		v = append(v, f(r))
	}
	return median(v)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
