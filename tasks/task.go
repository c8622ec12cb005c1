// Package tasks makes the jobs of the tasks that come with the engine, from command lines: what a task has of flags,
// presets and data stands here, so that it is the same in its own command and in a run over many machines.
package tasks

import (
	"fmt"
	"io"
	"strings"

	"dsbo"
	"dsbo/experiment"
)

// parsers are the tasks by name.
var parsers = []struct {
	name  string
	parse func(args []string, help io.Writer) (*experiment.Job, error)
}{{"mnist", MNIST}, {"synthetic", Synthetic}}

// Names returns the tasks that [Parse] knows.
func Names() []string {
	var names []string
	for _, p := range parsers {
		names = append(names, p.name)
	}
	return names
}

// Parse makes the job of a command line of the task of that name. With -h among the arguments it writes the help
// and returns flag.ErrHelp; all other errors match dsbo.ErrConfig.
func Parse(name string, args []string, help io.Writer) (*experiment.Job, error) {
	for _, p := range parsers {
		if p.name == name {
			return p.parse(args, help)
		}
	}
	return nil, bad("no task %q: want %s", name, strings.Join(Names(), " or "))
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", dsbo.ErrConfig, fmt.Sprintf(format, args...))
}
