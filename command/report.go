package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"dsbo"
	"dsbo/internal/disk"
	"dsbo/runs"
	"dsbo/runs/report"
	_ "dsbo/runs/report/figures" // for all verbs
)

const reportIntro = `Writes report.html, a page that needs no other file, and the folder figures (SVG) of
one run, or of several runs of one task side by side. Runs that differ in their
seed alone are one line: their median, in a band from the least to the greatest. RUN is
a run folder.`

// report is the verb report: it writes the page and the figures of runs.
func (p *program) report(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("report", reportIntro, "[flags] RUN...",
		"-out cmp results/mnist-tuned-seed1 results/mnist-paper-seed1")
	out := f.String("out", "", "`folder` for the page (default: the run's own; \"report\" for several runs)")
	title := f.String("title", "",
		"`text` above the page, or before the titles of figures (default: the task and its methods)")
	f.Group("Page", "out", "title")
	figures := f.String("figures", "", "existing `folder` for figures alone, without a page")
	only := f.String("only", "",
		"with -figures, the `names` of the figures, with commas between, such as phi_iterations,lambda (default: all)")
	prefix := f.String("prefix", "", "with -figures, `text` before the names of their files")
	f.Group("Figures alone", "figures", "only", "prefix")
	if err := f.ParseOperands(args, stdout); err != nil {
		return err
	}
	switch {
	case f.NArg() == 0:
		return dsbo.ConfigErrorf("a run folder is required (-h explains the use)")
	case *figures == "" && (*only != "" || *prefix != ""):
		return dsbo.ConfigErrorf("-only and -prefix need -figures")
	case *figures != "" && *out != "":
		return dsbo.ConfigErrorf("-out and -figures are mutually exclusive")
	}
	if s, err := os.Stat(*figures); *figures != "" && (err != nil || !s.IsDir()) {
		return dsbo.ConfigErrorf("-figures must be an existing folder; it is %s", *figures)
	}
	var all []*report.Run
	for _, folder := range f.Args() {
		r, err := report.Load(folder)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	if *figures != "" {
		var names []string
		if *only != "" {
			names = strings.Split(*only, ",")
		}
		return report.SaveFigures(*figures, *prefix, *title, all, names...)
	}
	folder := cmp.Or(*out, "report")
	if *out == "" && f.NArg() == 1 {
		folder = f.Arg(0)
	}
	return writeReport(folder, *title, all, stdout)
}

// writeReport writes the page of runs, under a title or none, and its figures to a folder, and the
// page's path to stdout.
func writeReport(folder, title string, all []*report.Run, stdout io.Writer) error {
	lock, err := runs.Folder(folder).Lock() // a run that is still going writes its page itself
	if errors.Is(err, disk.ErrLocked) {
		err = fmt.Errorf("%w -out puts the page elsewhere", err)
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	path, err := report.Write(folder, all, title)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, path)
	return err
}
