package experiment

import (
	"cmp"
	"context"
	"flag"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"dsbo/internal/cli"
)

// Main runs the command line of a program for one task, and ends the process: it is all of a main
// function. The program has the task's flags and the flags of [Settings], and writes a run folder.
// -h explains the first of them, -h all the rest too, and -version prints the program's version.
func Main(t Task) {
	ctx, err := cli.Begin()
	if err == nil {
		err = Run(ctx, t, os.Args[1:], os.Stdout, os.Stderr)
	}
	os.Exit(Abandon(os.Args[1:], cli.End(t.Name, err)))
}

// Run runs a task's command line in this process, as [Main] does.
func Run(ctx context.Context, t Task, args []string, stdout, stderr io.Writer) error {
	j, err := Parse(t, args, stdout)
	if err != nil {
		return err
	}
	return j.Run(ctx, stdout, stderr)
}

// Parse makes the job of a task's command line. With -resume, omitted flags are the resumed run's.
// With -h it writes the help, and with -version alone the program's version, and returns
// flag.ErrHelp; other errors match dsbo.ErrConfig.
func Parse(t Task, args []string, help io.Writer) (*Job, error) {
	return ParseAs(t.Name, t, args, help)
}

// ParseAs is [Parse] for a command line that the help calls by another name than the task's. The
// task's flags are added first, so that Settings.taskFlags has their names alone.
func ParseAs(name string, t Task, args []string, help io.Writer) (*Job, error) {
	if len(args) == 1 && strings.TrimLeft(args[0], "-") == "version" {
		return nil, cmp.Or(cli.PrintVersion(help, name), flag.ErrHelp)
	}
	s := newSettings()
	s.Config.Task = t.Name
	j := &Job{Task: t, Settings: s, name: name, presets: presetsOf(t)}
	f := cli.NewFlags(name, capitalized(t.About), presetsHelp(j.presets))
	f.Example = name + " -K 20 -out results/first"
	if t.Example != "" {
		f.Example = name + " " + t.Example
	}
	t.Flags(f.FlagSet)
	f.VisitAll(func(fl *flag.Flag) { s.taskFlags[fl.Name] = nil })
	f.Group("Task", slices.Sorted(maps.Keys(s.taskFlags))...)
	s.addFlags(f, j.presets)
	f.First = slices.Concat(t.First, []string{"agents", "seed", "out", "resume", "K", "preset", "graph", "eval-every",
		"wire", "report"})[:10] // what a first user needs
	if err := j.parse(f, args, help); err != nil {
		return nil, err
	}
	if t.Check != nil {
		if err := t.Check(); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// capitalized returns a text with its first letter, which must be ASCII, as a capital.
func capitalized(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
