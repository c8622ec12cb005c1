// Command report turns run folders into one page that shows them, and figures as SVG and PNG.
//
//	go run ./cmd/report runs/NAME          the page of a run, in its own folder
//	go run ./cmd/report -out cmp runs/*    runs of one task side by side
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

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

func run(_ context.Context, args []string, stdout, _ io.Writer) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, and the caller's
	out := flags.String("out", "", "`folder` to write to (default: the run's own; \"report\" for several runs)")
	title := flags.String("title", "", "`text` above the page (default: the task and its methods)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return err
	case err != nil:
		return fmt.Errorf("%w: %w (-h explains the flags)", dsbo.ErrConfig, err)
	case flags.NArg() == 0:
		return fmt.Errorf("%w: no run folder given (-h explains the use)", dsbo.ErrConfig)
	}
	path, err := write(*out, *title, flags.Args())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, path)
	return err
}

// write loads the runs and writes their report.
func write(out, title string, dirs []string) (path string, err error) {
	var runs []*report.Run
	for _, dir := range dirs {
		r, err := report.Load(dir)
		if err != nil {
			return "", err
		}
		runs = append(runs, r)
	}
	if out == "" {
		out = "report"
		if len(dirs) == 1 {
			out = dirs[0]
		}
	}
	return report.Write(out, runs, report.Options{Title: title})
}
