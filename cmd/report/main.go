// Command report turns run folders into one page that shows them, and figures as SVG and PNG.
//
//	go run ./cmd/report runs/NAME          the page of a run, in its own folder
//	go run ./cmd/report -out cmp runs/*    runs of one task side by side
//	go run ./cmd/report -figures figures -only phi_iterations,lambda runs/NAME
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/report"
)

const usage = `usage: report [flags] RUN...

Writes report.html, a page that needs nothing but itself, and the folder figures (SVG and PNG) of
one run, or of several runs of one task side by side. Runs that differ in their seed alone are one
line: their median, in a band from the least to the greatest. RUN is a run folder.

flags:
`

func main() { os.Exit(cli.Main("report", run)) }

// options are the command line's.
type options struct {
	out, title            string
	figures, only, prefix string
	runs                  []string
}

func run(_ context.Context, args []string, stdout, _ io.Writer) error {
	o, err := parse(args, stdout)
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

// parse reads the command line. It prints the help that is asked for.
func parse(args []string, stdout io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, and the caller's
	flags.StringVar(&o.out, "out", "", "`folder` to write to (default: the run's own; \"report\" for several runs)")
	flags.StringVar(&o.title, "title", "", "`text` above the page (default: the task and its methods), or before the titles of figures")
	flags.StringVar(&o.figures, "figures", "", "write figures alone, without a page, to this `folder`, which must exist")
	flags.StringVar(&o.only, "only", "", "with -figures, the `names` of those to write, with commas between, such as phi_iterations,lambda (default all)")
	flags.StringVar(&o.prefix, "prefix", "", "with -figures, `text` before their names")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w: %w (-h explains the flags)", dsbo.ErrConfig, err)
	}
	o.runs = flags.Args()
	switch {
	case len(o.runs) == 0:
		return o, fmt.Errorf("%w: no run folder given (-h explains the use)", dsbo.ErrConfig)
	case o.figures == "" && (o.only != "" || o.prefix != ""):
		return o, fmt.Errorf("%w: -only and -prefix choose among what -figures writes: want it too", dsbo.ErrConfig)
	case o.figures != "" && o.out != "":
		return o, fmt.Errorf("%w: -out %s is for a page and -figures %s for figures without one: want one of them", dsbo.ErrConfig, o.out, o.figures)
	}
	if o.figures != "" {
		if s, err := os.Stat(o.figures); err != nil || !s.IsDir() {
			return o, fmt.Errorf("%w: -figures %s: want a folder that exists", dsbo.ErrConfig, o.figures)
		}
	}
	return o, nil
}

// folder is where the page goes.
func (o options) folder() string {
	switch {
	case o.out != "":
		return o.out
	case len(o.runs) == 1:
		return o.runs[0]
	}
	return "report"
}
