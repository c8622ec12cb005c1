package experiment

import (
	"context"
	"flag"
	"io"
	"os"

	"dsbo/internal/cli"
)

// Main runs the command line of a program for one task, and ends the process: it is all of a main function. The program has the
// task's flags and those of [Settings], and writes a run folder. -h explains them.
func Main(t Task) {
	os.Exit(cli.Main(t.Name(), func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		j, err := Parse(t, args, stdout)
		if err != nil {
			return err
		}
		return j.Run(ctx, stdout, stderr)
	}))
}

// Parse makes the job of a task's command line. With -resume, the flags that it leaves out are those of the run that goes on. With
// -h it writes the help and returns flag.ErrHelp; other errors match dsbo.ErrConfig.
func Parse(t Task, args []string, help io.Writer) (*Job, error) {
	return ParseAs(t.Name(), t, args, help)
}

// ParseAs is [Parse] for a command line that the help calls by another name than the task's.
func ParseAs(name string, t Task, args []string, help io.Writer) (*Job, error) {
	presets := t.Presets()
	j := &Job{Task: t, Settings: &Settings{DType: presets[0].DType}, presets: map[string]Preset{}}
	var order []string
	for _, p := range presets {
		j.presets[p.Name] = p
		order = append(order, p.Name)
	}
	f := cli.NewFlags(name, t.About(), Explain(j.presets, order))
	f.Example = name + " -K 20 -out runs/first"
	t.Flags(f.FlagSet)
	f.VisitAll(func(fl *flag.Flag) { j.own = append(j.own, fl.Name) })
	f.Group("Task", j.own...)
	j.Settings.Flags(f, order)
	if err := j.parse(f, args, help); err != nil {
		return nil, err
	}
	if c, ok := t.(Checker); ok {
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	return j, nil
}
