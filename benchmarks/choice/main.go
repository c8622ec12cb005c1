// Command choice measures what the choice of a method is worth: it runs newtoncg, madsbo_tuned, SPARKLE with its corrections ed and
// gt, and D-SOBA on three tasks, each method with parameters that the same number of trials chose. It prints a table for each task,
// and draws one figure: Φ − the best Φ known against bytes, oracle calls and seconds.
//
//	go run ./benchmarks/choice                      # some minutes on 2 cores
//	go run ./benchmarks/choice -figures benchmarks/figures
//	go run ./benchmarks/choice -quick
//
// The trials of a method climb from a stated start over a grid of its parameters, one parameter and one rung at a time, to a
// lower exact Φ at the end of the run. The search has ended inside of the grid when it has tried both neighbours of its
// best trial in every parameter. Every trial is a command line; those of the best ones stand below the tables.
//
// The other methods are given more than newtoncg: a start at the best constant λ, which newtoncg finds itself at its own expense,
// and four times its oracle calls, which is about its time.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs/report"
)

func main() { os.Exit(cli.Main("choice", command)) }

// A bench is where everything is run.
type bench struct {
	ctx            context.Context
	budget, trials int    // oracle calls of an agent in a run; trials of a method
	records        int    // evaluations of the runs that are shown
	dir            string // of the run folders
	stdout, stderr io.Writer
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	b := &bench{ctx: ctx, records: 24, stdout: stdout, stderr: stderr}
	f := cli.NewFlags("choice", "choice compares methods, each at its best, on three tasks.", "")
	f.IntVar(&b.budget, "calls", 300, "oracle `calls` of an agent in a run of newtoncg; the others have four times as many")
	f.IntVar(&b.trials, "trials", 12, "`trials` of each method on each task")
	only := f.String("only", "", "`tasks` to run, with commas between (default all): "+strings.Join(names(problems(false)), ", "))
	f.StringVar(&b.dir, "runs", "", "new `folder` for the best runs of each task, with a page of each task (default none)")
	figures := f.String("figures", "", "`folder` for the figure, as SVG and PNG; it must exist (default none)")
	quick := f.Bool("quick", false, "small tasks and few trials: they show that all works, not what holds")
	f.Group("Measurement", "calls", "trials", "only", "runs", "figures", "quick")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	if *quick {
		b.budget, b.trials, b.records = 100, 3, 3
	}
	if b.budget < 100 || b.trials < 1 {
		return dsbo.Errorf(dsbo.ErrConfig, "-calls must be at least 100 and -trials at least 1; they are %d and %d", b.budget, b.trials)
	}
	all := problems(*quick)
	chosen, err := cli.Choose("only", *only, names(all))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(p problem) bool { return !slices.Contains(chosen, p.name) })
	return testkit.Try(func() { b.run(all, *figures) })
}

// run compares the methods on the tasks, and draws the figure.
func (b *bench) run(all []problem, figures string) {
	began, keep := time.Now(), b.dir != ""
	if keep {
		testkit.OK(os.Mkdir(b.dir, 0o755))
	} else {
		b.dir = testkit.Get(os.MkdirTemp("", "choice"))
		defer os.RemoveAll(b.dir)
	}
	var rows []row
	for _, p := range all {
		r := b.compare(p)
		rows = append(rows, r)
		r.print(b)
		if keep {
			b.writePage(r)
		}
	}
	fmt.Fprintf(b.stderr, "all took %.0f s\n", time.Since(began).Seconds())
	if figures != "" {
		testkit.OK(saveFigure(rows, figures))
	}
}

// writePage writes a page of the best runs of a task.
func (b *bench) writePage(r row) {
	var shown []*report.Run
	for _, t := range r.best {
		shown = append(shown, testkit.Get(report.Load(t.folder)))
	}
	page := testkit.Get(report.Write(filepath.Join(b.dir, r.problem.name), shown, report.Options{Title: r.problem.title}))
	fmt.Fprintf(b.stdout, "page: %s\n\n", page)
}

// names returns the names of problems.
func names(all []problem) (list []string) {
	for _, p := range all {
		list = append(list, p.name)
	}
	return list
}
