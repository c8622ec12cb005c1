package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/report"
)

const reportIntro = `Writes report.html, a page that needs no other file, and the folder figures (SVG and
PNG) of one run, or of several runs of one task side by side. Runs that differ in their
seed alone are one line: their median, in a band from the least to the greatest. RUN is
a run folder.`

// reportOptions are the command line of report.
type reportOptions struct {
	out, title            string
	figures, only, prefix string
	runs                  []string
}

func (p *program) report(_ context.Context, args []string, stdout, _ io.Writer) error {
	o, err := p.parseReport(args, stdout)
	if err != nil {
		return err
	}
	var runs []*report.Run
	for _, dir := range o.runs {
		r, err := report.Load(dir)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	if o.figures != "" {
		var names []string
		if o.only != "" {
			names = strings.Split(o.only, ",")
		}
		return report.SaveFigures(o.figures, o.prefix, runs, report.Options{Title: o.title}, names...)
	}
	path, err := report.Write(o.folder(), runs, report.Options{Title: o.title})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, path)
	return err
}

func (p *program) parseReport(args []string, help io.Writer) (o reportOptions, err error) {
	f := cli.NewFlags(p.name+" report", reportIntro, "")
	f.Synopsis, f.Example = "[flags] RUN...", p.name+" report -out cmp runs/mnist-tuned-seed1 runs/mnist-paper-seed1"
	f.StringVar(&o.out, "out", "", "`folder` for the page (default: the run's own; \"report\" for several runs)")
	f.StringVar(&o.title, "title", "",
		"`text` above the page, or before the titles of figures (default: the task and its methods)")
	f.Group("Page", "out", "title")
	f.StringVar(&o.figures, "figures", "", "existing `folder` for figures alone, without a page")
	f.StringVar(&o.only, "only", "",
		"with -figures, the `names` of the figures, with commas between, such as phi_iterations,lambda (default: all)")
	f.StringVar(&o.prefix, "prefix", "", "with -figures, `text` before the names of their files")
	f.Group("Figures alone", "figures", "only", "prefix")
	if err := f.ParseOperands(args, help); err != nil {
		return o, err
	}
	o.runs = f.Args()
	switch {
	case len(o.runs) == 0:
		return o, dsbo.Errorf(dsbo.ErrConfig, "a run folder is required (-h explains the use)")
	case o.figures == "" && (o.only != "" || o.prefix != ""):
		return o, dsbo.Errorf(dsbo.ErrConfig, "-only and -prefix need -figures")
	case o.figures != "" && o.out != "":
		return o, dsbo.Errorf(dsbo.ErrConfig, "-out and -figures are mutually exclusive")
	}
	if o.figures != "" {
		if s, err := os.Stat(o.figures); err != nil || !s.IsDir() {
			return o, dsbo.Errorf(dsbo.ErrConfig, "-figures must be an existing folder; it is %s", o.figures)
		}
	}
	return o, nil
}

// folder returns where the page goes.
func (o *reportOptions) folder() string {
	switch {
	case o.out != "":
		return o.out
	case len(o.runs) == 1:
		return o.runs[0]
	}
	return "report"
}
