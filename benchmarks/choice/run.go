package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// A trial is a run of a method.
type trial struct {
	method  string
	command string // its command line
	folder  string
	records []runs.Record
	end     float64 // exact Φ at the end; +Inf if it diverged
	agents  int
	open    []string // the parameters that more trials might better
}

// A row is what the methods found on one task.
type row struct {
	problem  problem
	constant float64 // exact Φ of the best constant λ
	known    float64 // the lowest exact Φ of all runs
	best     []trial // of each method
}

// common is the flags of every run: all examples, nothing held out, numbers of eight bytes on the wire, where every record has its exact Φ, the same data, and no parameter from a preset.
var common = []string{"-preset=paper", "-batch=0", "-holdout=0", "-wire=float64", "-seed=1", "-quiet", "-report=false", "-force"}

// compare lets each method choose its parameters on a task, and runs it with the best ones.
func (b *bench) compare(p problem) row {
	r := row{problem: p}
	constant := b.reference(&r)
	for _, c := range contenders(p) {
		flags := func(point []int) []string {
			values := make([]float64, len(point))
			for i, at := range point {
				values[i] = c.ladders[i].values[at]
			}
			start, each := c.calls(values)
			budget, list := float64(b.budget), c.flags(values)
			if c.others {
				budget *= 4
				list = append(list, fmt.Sprintf("-x0=%g", constant))
			}
			return append(list, fmt.Sprintf("-K=%.0f", max(1, math.Floor((budget-start)/each))))
		}
		search, found := c.search(b.trials), map[string]float64{}
		search.Try = func(points [][]int) {
			for _, point := range points {
				t := b.measure(p, filepath.Join(b.dir, "trial"), 1, flags(point))
				fmt.Fprintf(b.stderr, "%s: Φ %.5f %s\n", p.name, t.end, t.command)
				r.known = min(r.known, t.end)
				found[fmt.Sprint(point)] = t.end
			}
		}
		search.Value = func(point []int) float64 { return found[fmt.Sprint(point)] }
		search.Run()
		value := search.Value(search.Best)
		best := b.measure(p, filepath.Join(b.dir, p.name, c.name), b.records, flags(search.Best))
		// The same bits of λ, but another way to its exact Φ, which is known to some digits.
		if math.Abs(best.end-value) > 1e-3*math.Abs(best.end) {
			testkit.OK(fmt.Errorf("%s ends with Φ = %v, and ended with %v before it was evaluated more often", best.command, best.end, value))
		}
		best.method, best.open = c.name, c.open(search)
		for _, rec := range best.records {
			if rec.Phi.Known() {
				r.known = min(r.known, float64(rec.Phi))
			}
		}
		r.best = append(r.best, best)
	}
	testkit.OK(os.RemoveAll(filepath.Join(b.dir, "trial")))
	return r
}

// reference looks for the best Φ with three times the budget and a wide box, and finds the best constant λ, which it returns.
func (b *bench) reference(r *row) (constant float64) {
	c := newtoncg()
	values := []float64{0.8, 4, 0.3}
	start, each := c.calls(values)
	flags := append(c.flags(values), "-set=clip=[-20,20]", fmt.Sprintf("-K=%.0f", (3*float64(b.budget)-start)/each))
	t := b.measure(r.problem, filepath.Join(b.dir, "trial"), 1, flags)
	r.known, r.constant = t.end, math.Inf(1)
	for _, m := range testkit.Get(runs.Folder(t.folder).ReadSummary()).Models {
		if m.Lambda.Known() && float64(m.Phi) < r.constant {
			constant, r.constant = float64(m.Lambda), float64(m.Phi)
		}
	}
	fmt.Fprintf(b.stderr, "%s: best constant λ = %g, Φ %.5f; reference Φ %.5f %s\n", r.problem.name, constant, r.constant, r.known, t.command)
	return constant
}

// measure runs a command line on a problem, with so many evaluations after the first.
func (b *bench) measure(p problem, folder string, evaluations int, flags []string) trial {
	flags = slices.Concat(p.flags, flags)
	t := trial{command: p.task + " " + strings.Join(slices.Concat(common[:5], flags), " "), folder: folder, end: math.Inf(1)}
	task := tasks.MNIST()
	if p.task == "synthetic" {
		task = tasks.Synthetic()
	}
	args := slices.Concat(common, flags, []string{"-out=" + folder})
	job := testkit.Get(experiment.Parse(task, args, io.Discard))
	args = append(args, fmt.Sprintf("-eval-every=%d", max(1, job.Settings.Iterations/evaluations)))
	err := experiment.Run(b.ctx, task, args, io.Discard, io.Discard)
	if err != nil && !errors.Is(err, dsbo.ErrDiverged) {
		testkit.OK(fmt.Errorf("%s: %w", t.command, err))
	}
	t.records, t.agents = testkit.Get(runs.Folder(folder).Records()), job.Settings.Agents
	if last := t.records[len(t.records)-1]; err == nil && last.Phi.Known() {
		t.end = float64(last.Phi)
	}
	return t
}

// calls returns the oracle calls of an agent up to a record. None of these methods asks for whole matrices.
func (t trial) calls(r runs.Record) float64 {
	return float64(r.UpperGrad+r.LowerGrad+r.HVP+r.JVP+r.Diagonal+r.Value) / float64(t.agents)
}

// spent is what a run has spent up to a record: megabytes of all agents, oracle calls of an agent, and seconds.
func (t trial) spent(r runs.Record) [3]float64 {
	return [3]float64{float64(r.Bytes) / 1e6, t.calls(r), r.Seconds}
}

// print writes the table of a task, and the command lines of its best runs.
func (r row) print(b *bench) {
	fmt.Fprintf(b.stdout, "%s: best constant λ Φ = %.4f, best known Φ = %.4f; budget of %d oracle calls an agent (the others: 4 times that), %d trials of each method\n\n",
		r.problem.title, r.constant, r.known, b.budget, b.trials)
	target := math.Inf(1) // the best of the others than newtoncg
	for _, t := range r.best[1:] {
		target = min(target, t.end)
	}
	table := [][]string{{"method", "Φ at the end", "MB sent", "calls an agent", "s",
		fmt.Sprintf("first at Φ = %.4f: MB", target), "calls", "s", "grid"}}
	for _, t := range r.best {
		cells := []string{t.method, fmt.Sprintf("%.4f", t.end)}
		cells = append(cells, t.costOf(func(rec runs.Record) bool { return rec.Iteration == t.records[len(t.records)-1].Iteration })...)
		cells = append(cells, t.costOf(func(rec runs.Record) bool { return float64(rec.Phi) <= target*(1+1e-6) })...)
		inside := "inside"
		if t.open != nil {
			inside = "open: " + strings.Join(t.open, ", ")
		}
		table = append(table, append(cells, inside))
	}
	testkit.OK(cli.Markdown(b.stdout, table))
	fmt.Fprintln(b.stdout)
	for _, t := range r.best {
		fmt.Fprintf(b.stdout, "    %s\n", t.command)
	}
	fmt.Fprintln(b.stdout)
}

// costOf returns the cells of what was spent up to the first record of a kind; a dash where there is none.
func (t trial) costOf(kind func(runs.Record) bool) []string {
	i := slices.IndexFunc(t.records, kind)
	if i < 0 {
		return []string{"–", "–", "–"}
	}
	s := t.spent(t.records[i])
	return []string{fmt.Sprintf("%.3g", s[0]), fmt.Sprintf("%.0f", s[1]), fmt.Sprintf("%.2g", s[2])}
}
