package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"dsbo"
	"dsbo/experiment/compare"
	"dsbo/internal/cli"
	"dsbo/runs"
)

const compareIntro = `Runs methods on tasks, each at the points of a grid of its parameters and with every
seed, as processes of this machine, and leaves one page, figures, and a table of all
runs as CSV, on an interrupt of the runs so far. Runs that the folder holds already are kept,
so that the same command goes on where it was stopped, and a longer spec runs what is
new. All methods start at the best constant λ and its solution, which each run finds first,
and which counts in its costs, unless the spec says otherwise. A run whose settings cannot
work is marked as refused, a method that is not made for a task as not applicable, with
the error.`

const compareOutro = `A spec is a JSON object. Five lines do:
` + compare.Example + `
Tasks are verbs of this program with their flags; methods are names with their flags. As an
object, a task has "task", "name", with which its files' names begin, and "target", the value to
which costs are counted; a method has "method", "name", "grid", "trials", which bounds the points
that a climb over the grid may try, and "tasks", the names of those that it is for. A parameter
of the grid takes the place of {NAME} in the flags, or is the flag -NAME, or the method's own as
by -set. Others: "title"; "start": constant, or given, where each method starts as its flags, its
preset or its own search say; "flags" of all runs, such as a start for all, -x0=3; and "choose", what
the best has the least of: phi, val_loss or holdout_loss.`

// compare is the verb compare: it sets methods side by side.
func (p *program) compare(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := cli.NewFlags(p.name+" compare", compareIntro, compareOutro)
	f.Synopsis, f.Example = "[flags] SPEC.json", p.name+" compare -out methods spec.json"
	paper := f.Bool("paper", false, "make the paper's figures 1 to 3 and Table 1, in place of a spec, and say of each "+
		"of its claims whether it holds")
	quick := f.Bool("quick", false, "with -paper, small and short runs: they show that all works, not what holds")
	f.Group("Spec", "paper", "quick")
	out := f.String("out", "", "`folder` for runs, page and tables (default: "+runs.Results+
		"/compare-NAME, NAME as the spec's file)")
	processes := f.Int("processes", 0, "`runs` at once (default: as many as there are processors, which they share)")
	force := f.Bool("force", false, "make the runs again that the folder holds")
	quiet := f.Bool("quiet", false, "write nothing to stderr but errors")
	f.Group("Runs", "out", "processes", "force", "quiet")
	if err := f.ParseOperands(args, stdout); err != nil {
		return err
	}
	spec, name, err := readComparison(f.Args(), *paper, *quick)
	if err != nil {
		return err
	}
	folder := runs.Folder(*out)
	if folder == "" {
		if folder, err = runs.InResults("compare-" + name); err != nil {
			return err
		}
	}
	lock, err := folder.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	progress := cli.NewProgress(stderr, *quiet)
	result, err := compare.Run(ctx, spec, compare.Options{
		Out: string(folder), Processes: *processes, Force: *force, Tasks: p.tasks,
		Log: func(share float64, line string) {
			progress.Log("%s", line)
			progress.Show(share, "")
		},
	})
	progress.Stop()
	if result == nil {
		return err
	}
	if *paper && err == nil {
		err = result.AddPaper(ctx, *quick)
	}
	return cmp.Or(err, writeComparison(stdout, result, string(folder)))
}

// readComparison returns the spec that a command line asks for, and its name.
func readComparison(args []string, paper, quick bool) (*compare.Spec, string, error) {
	switch {
	case quick && !paper:
		return nil, "", dsbo.ConfigErrorf("-quick is for -paper")
	case paper && len(args) > 0:
		return nil, "", dsbo.ConfigErrorf("-paper takes the place of a spec; there is %q too", args[0])
	case paper:
		return compare.Paper(quick), "paper", nil
	case len(args) != 1:
		return nil, "", dsbo.ConfigErrorf("one spec is required; there are %d (-h shows one)", len(args))
	}
	spec, err := compare.Read(args[0])
	return spec, strings.TrimSuffix(filepath.Base(args[0]), ".json"), err
}

// writeComparison writes the page of a comparison, and to stdout what it found and where the page
// is. It returns what failed among the runs.
func writeComparison(stdout io.Writer, result *compare.Result, folder string) error {
	parts, err := result.Parts()
	if err != nil {
		return err
	}
	page, err := result.Write(folder, parts)
	if err != nil {
		return err
	}
	for _, p := range parts {
		fmt.Fprintf(stdout, "%s\n%s\n\n", p.Title, p.Sentence)
		if err := cli.Table(stdout, p.Table); err != nil {
			return err
		}
		for _, a := range p.Answers {
			fmt.Fprintf(stdout, "  %-3s  %s\n", a.Word, a.Text)
		}
		fmt.Fprintln(stdout)
	}
	if _, err := fmt.Fprintln(stdout, page); err != nil {
		return err
	}
	return result.Failure()
}
