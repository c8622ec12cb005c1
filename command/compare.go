package command

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"dsbo"
	"dsbo/experiment/compare"
	"dsbo/internal/cli"
	"dsbo/runs"
)

// compare runs the verb compare, which compares methods. Its folder is locked meanwhile. After an
// interrupt it still writes the page, of the runs that have ended; only without a result does it
// not.
func (p *program) compare(f *call) error {
	var paper, quick, force, quiet bool
	var out string
	var processes int
	f.Vars(map[string]any{"paper": &paper, "quick": &quick,
		"out": &out, "processes": &processes, "force": &force, "quiet": &quiet})
	if err := f.parseOperands(); err != nil {
		return err
	}
	spec, name, err := readComparison(f.Args(), paper, quick)
	if err != nil {
		return err
	}
	folder := runs.Folder(out)
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
	progress := cli.NewProgress(f.stderr, quiet)
	result, err := compare.Run(f.ctx, spec, compare.Options{
		Out: string(folder), Processes: processes, Force: force, Tasks: p.tasks,
		Log: func(share float64, line string) {
			progress.Log("%s", line)
			progress.Show(share, "")
		},
	})
	progress.Stop()
	if result == nil {
		return err
	}
	if paper && err == nil {
		err = result.AddPaper(f.ctx, quick)
	}
	return cmp.Or(err, writeComparison(f.stdout, result, string(folder)))
}

// readComparison returns the spec that a command line asks for, -paper or a file, and the name by
// which its folder is known where -out is left out.
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
		_ = cli.Printf(stdout, "%s\n%s\n\n", p.Title, p.Sentence)
		if err := cli.Table(stdout, p.Table); err != nil {
			return err
		}
		for _, a := range p.Answers {
			_ = cli.Printf(stdout, "  %-3s  %s\n", a.Word, a.Text)
		}
		fmt.Fprintln(stdout)
	}
	if err := cli.Printf(stdout, "%s\n", page); err != nil {
		return err
	}
	return result.Failure()
}
