package cluster

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"dsbo"
	"dsbo/tasks"
)

func taskNames() string { return strings.Join(tasks.Names(), ", ") }

// elsewhere says of flags that a task's command has and a cluster file must not name where the same thing is said.
var elsewhere = map[string]string{
	"agents": `"agents" of the file says it`,
	"graph":  `"graph", "edges" or "W" of the file says it`,
	"w":      `"w" of the file says it`,
	"prob":   `"prob" of the file says it`,
	"seed":   `"seed" of the file says it`,
}

// alone are flags of a run on one machine.
var alone = []string{"out", "resume", "force", "report", "quiet", "transport"}

// checkFlags reports the first flag that cannot be one of the task, or has no place here.
func (c *Cluster) checkFlags() error {
	if !slices.Contains(tasks.Names(), c.Task) {
		return fmt.Errorf(`"task" %q is unknown, want one of %s`, c.Task, taskNames())
	}
	for _, f := range c.Flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(f, "-"), "-"), "=")
		switch {
		case !strings.HasPrefix(f, "-") || name == "":
			return fmt.Errorf(`"flags": %q, want -name=value`, f)
		case elsewhere[name] != "":
			return fmt.Errorf(`"flags": %q has no place here: %s`, f, elsewhere[name])
		case slices.Contains(alone, name):
			return fmt.Errorf(`"flags": %q has no place here: it is for a run on one machine`, f)
		}
	}
	j, err := tasks.Parse(c.Task, c.Flags, io.Discard)
	if errors.Is(err, flag.ErrHelp) {
		return fmt.Errorf(`"flags": help is not a setting, want flags of %s`, c.Task)
	}
	if err == nil {
		err = j.Check()
	}
	if err != nil {
		text := strings.TrimPrefix(err.Error(), dsbo.ErrConfig.Error()+": ")
		return fmt.Errorf(`"flags": %s`, text)
	}
	return nil
}
