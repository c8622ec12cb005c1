package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/runs"
)

const siteIntro = `Runs this site's agent of the run that the cluster file describes, as the verb agent does.
Flags of the task that are this site's own, such as the file of its data, stand here and not
in the cluster file; others may stand here too, if all sites have the same ones.`

// isSiteLine reports whether a task's command line belongs to one agent of a cluster file.
func isSiteLine(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name, is := cli.FlagName(a)
		return is && name == "cluster"
	})
}

// site runs one agent of a cluster file by the verb of its task.
func (p *program) site(ctx context.Context, t experiment.Task, args []string, stdout, stderr io.Writer) error {
	o, c, err := p.parseSite(t, args, stdout)
	if err != nil {
		return o.passError(stdout, err)
	}
	return p.startAgent(ctx, o, c, stdout, stderr)
}

// parseSite reads the command line of a task's verb for one agent, and its cluster file.
func (p *program) parseSite(t experiment.Task, args []string,
	help io.Writer) (o agentOptions, c *cluster.Cluster, err error) {
	f := p.flags(t.Name, siteIntro, "-cluster FILE [flags]", "-cluster cluster.json -agent 2 -certs certs")
	agent := o.addFlags(f)
	ofAgent := map[string]bool{}
	f.VisitAll(func(fl *flag.Flag) { ofAgent[fl.Name] = true })
	t.Flags(f.FlagSet)
	var ofTask []string
	f.VisitAll(func(fl *flag.Flag) {
		if !ofAgent[fl.Name] {
			ofTask = append(ofTask, fl.Name)
		}
	})
	f.Group("Task", ofTask...)
	f.First = slices.Concat([]string{"cluster", "agent"}, t.LocalFlags, siteFlags)
	if err := f.Parse(args, help, "cluster"); err != nil {
		return o, nil, err
	}
	given := map[string]string{} // before the check of the file sets the task's flags to others
	f.Visit(func(fl *flag.Flag) {
		if slices.Contains(ofTask, fl.Name) {
			given[fl.Name] = fl.Value.String()
		}
	})
	if err := o.loadPolicy(); err != nil {
		return o, nil, err
	}
	if c, err = cluster.Load(o.cluster, p.checkTask); err != nil {
		return o, nil, err
	}
	if c.Task != t.Name {
		return o, nil, dsbo.ConfigErrorf("-cluster %s is of the task %s, not of %s", o.cluster,
			c.Task, t.Name)
	}
	if o.out == "" {
		folder, err := runs.InResults(c.Run)
		if err != nil {
			return o, nil, err
		}
		o.out = string(folder)
	}
	if err := o.mergeFlags(t, c, given); err != nil {
		return o, nil, err
	}
	return o, c, o.choose(*agent, c)
}

// mergeFlags adds the task's flags of this command line to the run's, or keeps them as the site's
// own. The flags of the run are part of its hash: an agent that has others is refused.
func (o *agentOptions) mergeFlags(t experiment.Task, c *cluster.Cluster, given map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text := "-" + name + "=" + given[name]
		if slices.Contains(t.LocalFlags, name) {
			o.own = append(o.own, text)
			continue
		}
		k := slices.IndexFunc(c.Flags, func(f string) bool {
			known, _ := cli.FlagName(f)
			return known == name
		})
		if k < 0 {
			c.Flags = append(c.Flags, text)
		} else if strings.TrimLeft(c.Flags[k], "-") != text[1:] {
			return dsbo.ConfigErrorf("%s must be what the cluster file says, %s, or be left out",
				text, c.Flags[k])
		}
	}
	return nil
}

// startAgent runs an agent whose command line has been read.
func (p *program) startAgent(ctx context.Context, o agentOptions, c *cluster.Cluster, stdout, stderr io.Writer) error {
	if o.check {
		return p.checkAgent(ctx, o, c, stdout)
	}
	ignoreTerminal()
	if o.attached {
		var stop context.CancelFunc
		ctx, stop = cli.UntilStdinEnds(ctx)
		defer stop()
	}
	return o.passError(stdout, p.runAgent(ctx, o, c, stdout, stderr))
}

// passError writes the error of an attached agent to stdout, for the program that started it.
func (o *agentOptions) passError(stdout io.Writer, err error) error {
	if !o.attached || err == nil {
		return err
	}
	fmt.Fprintln(stdout, cli.OneLine(err))
	return cli.Reported(err)
}
