// Command default measures what the default settings find on problems that they were not chosen for: tasks, sizes, seeds, splits,
// graphs and numbers of agents. For each it prints the exact Φ beside that of the best constant λ, the test losses and accuracies of
// their models, and what was sent. The exit code is 1 if a run ends worse than the best constant.
//
//	go run ./benchmarks/default                    # all of it, some minutes on 2 cores
//	go run ./benchmarks/default -only synthetic,full
//	go run ./benchmarks/default -beside FOLDER     # and the programs mnist and synthetic of another revision, from a folder
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/cli"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func main() { os.Exit(cli.Main("default", command)) }

// A group is problems of one kind: command lines of a task, each run with the seeds from 1 on.
type group struct {
	name, task string
	lines      []string
	seeds      int
}

// groups returns all problems.
func groups() []group {
	small := func(more string) string { return "-train=250 -batch=0 " + more }
	var synthetic []string
	for _, p := range []int{20, 50, 100, 200} {
		for _, r := range []float64{0.5, 1, 1.5} {
			synthetic = append(synthetic, fmt.Sprintf("-p=%d -r=%g", p, r))
		}
	}
	return []group{
		{"synthetic", "synthetic", synthetic, 3},
		{"sizes", "mnist", []string{"-train=100 -batch=0", "-train=250 -batch=0", "-train=1000 -batch=0"}, 5},
		{"full", "mnist", []string{""}, 5},
		{"splits", "mnist", []string{small("-partition=dirichlet:0.3"), small("-partition=labels:2")}, 2},
		{"graphs", "mnist", []string{small("-graph=path"), small("-graph=star"), small("-graph=torus"), small("-graph=erdos-renyi")}, 1},
		{"agents", "mnist", []string{small("-agents=2"), small("-agents=32 -val=900")}, 1},
		{"short", "mnist", []string{small("-K=1"), small("-K=5"), "-K=5"}, 1},
	}
}

// A bench is where everything is run.
type bench struct {
	ctx    context.Context
	dir    string // of this measurement
	beside string // the folder of the other programs; "" if there are none
	stderr io.Writer
	worse  []string // the runs that ended worse than the best constant
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &bench{ctx: ctx, stderr: stderr}
	var names []string
	for _, g := range groups() {
		names = append(names, g.name)
	}
	f := cli.NewFlags("default", "default measures what the default settings find on many problems.", "")
	only := f.String("only", "", "groups of `problems` to run, with commas between (default all): "+strings.Join(names, ", "))
	f.StringVar(&b.beside, "beside", "", "`folder` with the programs mnist and synthetic of another revision, which are run too")
	f.Group("Measurement", "only", "beside")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	chosen, err := cli.Choose("only", *only, names)
	if err != nil {
		return err
	}
	err = testkit.Try(func() {
		b.dir = testkit.Get(os.MkdirTemp("", "default"))
		defer os.RemoveAll(b.dir)
		for _, g := range groups() {
			if slices.Contains(chosen, g.name) {
				b.run(g, stdout)
			}
		}
	})
	if err == nil && b.worse != nil {
		err = fmt.Errorf("%d runs ended worse than the best constant: %s", len(b.worse), strings.Join(b.worse, "; "))
	}
	return err
}

// run runs a group and prints its table: a row for each line, with medians over its seeds.
func (b *bench) run(g group, stdout io.Writer) {
	head := []string{g.task, "Φ", "tuned λ", "best constant", "test loss", "of the constant", "test accuracy", "of the constant", "MB sent", "s"}
	if b.beside != "" {
		head = append(head, "Φ beside", "test loss", "test accuracy", "MB sent", "s")
	}
	rows := [][]string{head}
	for _, line := range g.lines {
		var here, there []outcome
		for seed := 1; seed <= g.seeds; seed++ {
			args := append(strings.Fields(line), fmt.Sprintf("-seed=%d", seed))
			o := b.measure(g.task, args, "")
			fmt.Fprintf(b.stderr, "%s %s: Φ %.5f, best constant %.5f, kept %s\n", g.task, strings.Join(args, " "), o.phi, o.constant.phi, o.name)
			if !(o.phi <= o.constant.phi) {
				b.worse = append(b.worse, g.task+" "+strings.Join(args, " "))
			}
			here = append(here, o)
			if b.beside != "" {
				there = append(there, b.measure(g.task, args, filepath.Join(b.beside, g.task)))
			}
		}
		label := strings.ReplaceAll(strings.TrimSpace(line), "=", " ")
		if g.seeds > 1 {
			label = strings.TrimSpace(fmt.Sprintf("%s seeds 1-%d", label, g.seeds))
		}
		row := append([]string{label}, medians(here, "%.4f", func(o outcome) []float64 {
			return []float64{o.phi, o.tuned, o.constant.phi, o.loss, o.constant.loss, o.accuracy, o.constant.accuracy}
		})...)
		row = append(row, medians(here, "%.1f", cost)...)
		if b.beside != "" {
			row = append(row, medians(there, "%.4f", func(o outcome) []float64 { return []float64{o.phi, o.loss, o.accuracy} })...)
			row = append(row, medians(there, "%.1f", cost)...)
		}
		rows = append(rows, row)
	}
	testkit.OK(cli.Markdown(stdout, rows))
	fmt.Fprintln(stdout)
}

// cost returns the megabytes and seconds of a run.
func cost(o outcome) []float64 { return []float64{o.megabytes, o.seconds} }

// medians returns the medians of some numbers over outcomes.
func medians(of []outcome, format string, numbers func(outcome) []float64) (cells []string) {
	columns := make([][]float64, len(numbers(of[0])))
	for _, o := range of {
		for i, v := range numbers(o) {
			columns[i] = append(columns[i], v)
		}
	}
	for _, c := range columns {
		cells = append(cells, fmt.Sprintf(format, num.Median(c)))
	}
	return cells
}

// A result is what one λ gives: its exact Φ, and the test loss and accuracy of its model.
type result struct {
	name                string
	phi, loss, accuracy float64
}

// An outcome is what a run found and kept, and what it cost.
type outcome struct {
	result
	tuned              float64 // exact Φ of the tuned λ, whether it was kept or not
	constant           result  // the best constant λ
	megabytes, seconds float64
}

// measure runs a task with the default settings, here or by a program, and reads its summary.
func (b *bench) measure(task string, args []string, program string) (o outcome) {
	out := filepath.Join(b.dir, "run")
	testkit.OK(os.RemoveAll(out))
	args = append(args, "-quiet", "-report=false", "-out="+out)
	began := time.Now()
	if program != "" {
		testkit.OK(cli.RunProgram(b.ctx, exec.CommandContext(b.ctx, program, args...)))
	} else {
		t := tasks.MNIST()
		if task == "synthetic" {
			t = tasks.Synthetic()
		}
		testkit.OK(experiment.Run(b.ctx, t, args, io.Discard, io.Discard))
	}
	o.seconds = time.Since(began).Seconds()
	s := testkit.Get(runs.Folder(out).ReadSummary())
	o.constant.phi = math.Inf(1)
	for _, m := range s.Models {
		r := result{m.Name, float64(m.Phi), float64(m.TestLoss), float64(m.TestAccuracy)}
		if !m.Lambda.Known() { // not a constant
			o.tuned = r.phi
		} else if r.phi < o.constant.phi {
			o.constant = r
		}
		if m.Kept || o.name == "" && !m.Lambda.Known() { // earlier revisions keep the tuned one
			o.result = r
		}
	}
	o.megabytes = float64(max(s.Traffic.Total().Bytes, s.BytesSent)) / 1e6
	return o
}
