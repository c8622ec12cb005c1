package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"dsbo/internal/cli"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
)

// A deepRow is one agent's questions about a network, on one thread.
type deepRow struct {
	network           string // as the peer's program has it
	batch             int
	kind              dtype
	gradient, product float64 // ours/peer, at most
}

// part is the part that the row belongs to, and name what is measured in a process of its own.
func (d deepRow) part() string  { return "deep-" + d.network }
func (d deepRow) label() string { return fmt.Sprintf("%s-%d-%s", d.part(), d.batch, d.kind) }

func deepRows() (rows []deepRow) {
	for _, d := range []deepRow{
		{network: "784-256-128-10", gradient: .7, product: .6},
		{network: "784-1024-1024-10", gradient: .7, product: .6},
		{network: lenet, gradient: .8, product: .7},
		{network: colours, gradient: .8, product: .7},
		{network: recurrent, gradient: .8, product: .7},
		{network: transformer, gradient: .8, product: .7},
	} {
		for _, d.batch = range []int{64, 256} {
			for _, d.kind = range []dtype{f32, f64} {
				rows = append(rows, d)
			}
		}
	}
	return rows
}

// deepTimes are medians in ms. Cold is a product at a new point, Warm one more at the same point.
type deepTimes struct{ Gradient, Cold, Warm float64 }

func (t deepTimes) gradient() float64 { return t.Gradient }
func (t deepTimes) cold() float64     { return t.Cold }
func (t deepTimes) warm() float64     { return t.Warm }

// measure measures ours, each for a number of seconds, by vectors of the row's type, as the peer's
// are.
func (d deepRow) measure(seconds float64) deepTimes {
	m := newDeep(d.network)
	y, v := make([]float64, m.params.Len()), make([]float64, m.params.Len())
	m.params.Init(y, 1)
	m.params.Init(v, 2)
	return m.on(pictures(d.batch, m.inputs)).measure(d.kind, y, v, seconds)
}

// medianTime calls both for a number of seconds, and returns the median time in ms of f, of
// processors where the system tells it.
func medianTime(seconds float64, before, f func()) float64 {
	var times []float64
	f()
	for begin := time.Now(); time.Since(begin).Seconds() < seconds || len(times) < 3; {
		before()
		start := clock()
		f()
		times = append(times, ms(clock()-start))
	}
	return num.Median(times)
}

// deep runs the peer's program for one row.
func (r *rival) deep(ctx context.Context, d deepRow) (t deepTimes, err error) {
	if err = r.python3(ctx, &t, torchProducts, "--network", d.network, "--batch", fmt.Sprint(d.batch), "--dtype",
		string(d.kind)); err == nil && !(min(t.Gradient, t.Cold, t.Warm) > 0) {
		err = fmt.Errorf("there must be three times; they are %+v", t)
	}
	if err != nil {
		err = fmt.Errorf("the peer on %s: %w", d.label(), err)
	}
	return t, err
}

// python3 runs a program of the peer's on one thread, and reads the JSON that it writes.
func (r *rival) python3(ctx context.Context, result any, program []byte, args ...string) error {
	path, out := filepath.Join(r.dir, "program.py"), filepath.Join(r.dir, "program.json")
	if err := os.WriteFile(path, program, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, r.python, append(append([]string{path}, args...), "--out", out)...)
	cmd.Env = peerEnv()
	if err := cli.RunProgram(ctx, cmd); err != nil {
		return err
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// compareDeep runs the chosen rows on both sides in turn, on one thread each, and prints a table.
// By count is the quotient of the multiplications that an HVP and a gradient take at the least, and
// behind it the measured one over it; share is the part of a product's time that its matrix
// products would take at the machine's best rate.
func compareDeep(ctx context.Context, o options, chosen []string, r *rival, out io.Writer) {
	table := [][]string{{"", "gradient, ms", "peer", "ours/peer", "at most", "HVP, ms", "peer", "ours/peer", "at most",
		"HVP/gradient", "by count", "÷",
		"warm, ms", "peer", "ours/peer", "warm/gradient", "share"}}
	o.procs = 1
	var l limit
	for _, d := range deepRows() {
		if !slices.Contains(chosen, d.part()) {
			continue
		}
		if l == (limit{}) {
			l = child[limit](ctx, limitPart, o)
		}
		mine, theirs := inTurn(ctx, o, d.label(), r, func() (deepTimes, error) { return r.deep(ctx, d) })
		table = append(table, d.row(mine, theirs, l))
	}
	if len(table) > 1 {
		testkit.OK(cli.Table(out, table))
	}
}

// row returns the table's line of what the rounds measured; theirs is empty where the peer
// cannot run.
func (d deepRow) row(mine, theirs []deepTimes, l limit) []string {
	line := append([]string{fmt.Sprintf("%s, batch %d, %s", d.network, d.batch, d.kind)},
		compared(mine, theirs, deepTimes.gradient)...)
	line = append(append(line, fmt.Sprint(d.gradient)), compared(mine, theirs, deepTimes.cold)...)
	gradient, cold := medianOf(mine, deepTimes.gradient), medianOf(mine, deepTimes.cold)
	count, counted, share := newDeep(d.network).count, []string{"", ""}, ""
	if count != (productCount{}) {
		least := count.cold / count.gradient
		counted = []string{fmt.Sprintf("%.2f", least), fmt.Sprintf("%.2f", cold/gradient/least)}
		best := l.GFLOPS
		if d.kind == f64 {
			best = l.GFLOPS64
		}
		share = fmt.Sprintf("%.0f %%", 100*count.cold*float64(d.batch)/1e6/best/cold)
	}
	line = append(append(line, fmt.Sprint(d.product), fmt.Sprintf("%.2f", cold/gradient)), counted...)
	line = append(line, compared(mine, theirs, deepTimes.warm)...)
	return append(line, fmt.Sprintf("%.2f", medianOf(mine, deepTimes.warm)/gradient), share)
}
