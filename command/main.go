// Package command is the program dsbo, for any tasks: [Main] is all of a main function.
//
//	dsbo mnist                            a task, with all agents in this process
//	dsbo tune -cluster FILE -data OURS    one agent of a cluster file, with flags of its own
//	dsbo plan TASK                        the traffic and resources that a run of a task will take
//	dsbo report RUN...                    the page of a run, or of several side by side
//	dsbo compare SPEC.json                methods side by side, each at the best of its grid
//	dsbo predict -model RUN -data FILE    predictions for the rows of a table
//	dsbo run -cluster FILE -out DIR       all agents of a cluster file on this machine
//	dsbo agent -cluster FILE -out DIR     one agent of a cluster file
//	dsbo collect -out DIR RUN...          one run folder from the agents' folders
//	dsbo disclosure -certs DIR RUN...     check what sites have signed of what left them
//	dsbo audit RUN...                     check the chained logs of agents
//	dsbo network -cluster FILE -agent I   the connections of an agent, for a firewall
//	dsbo kit -cluster FILE -ca DIR        an archive for each site of what it needs
//	dsbo relay -certs DIR -listen ADDR    a relay between agents that can only dial out
//	dsbo pki -cluster FILE -out DIR       certificates for the agents, all at once
//	dsbo pki STEP                         certificates for sites that keep their keys
//	dsbo golden METHOD                    a method's trajectory on a small problem
//	dsbo version
//	dsbo help VERB
//
// Package cluster documents cluster files; deploy/ starts agents under Slurm, Kubernetes and
// systemd.
//
// # Why it is a package
//
// A program for tasks of one's own needs all verbs, not its task alone: agents, certificates,
// collecting, reports. A main of three lines has them by [Main]. A framework of commands would not
// make flags, help and refusals of what a task, a method and a preset declare.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/experiment"
	"dsbo/internal/cli"
)

// Main runs the command line of a program for some tasks, each of which is a verb, and ends the
// process. In a program for one task, a command line without a verb runs that task.
func Main(tasks ...experiment.Task) {
	p := newProgram(strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), tasks...)
	os.Exit(experiment.Abandon(os.Args[1:], cli.Main(p.name, p.run)))
}

// A program is a command line for some tasks.
type program struct {
	name  string
	tasks []experiment.Task
	verbs []verb
}

// A verb is what the first argument chooses.
type verb struct {
	name, about string
	run         action
}

// An action runs the command line after a verb.
type action func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// newProgram returns the program of the tasks, with a verb for each and the verbs that all programs
// have.
func newProgram(name string, tasks ...experiment.Task) *program {
	p := &program{name: name, tasks: tasks}
	for _, t := range tasks {
		about, _, _ := strings.Cut(t.About, "\n")
		p.verbs = append(p.verbs, verb{t.Name, about, p.taskVerb(t)})
	}
	p.verbs = append(p.verbs,
		verb{"init", "make a folder with a small example", p.initialize},
		verb{"plan", "say what a run will send and need, without running it", p.plan},
		verb{"report", "write the page and the figures of runs", p.report},
		verb{"compare", "compare methods on tasks, each at the best of its grid", p.compare},
		verb{"predict", "predict from a table with the model of a run", p.predict},
		verb{"run", "run all agents of a cluster file on this machine, each as a process", p.runAgents},
		verb{"agent", "run one agent of a cluster file", p.agent},
		verb{"collect", "make one run folder from the folders of all agents", p.collect},
		verb{"disclosure", "verify what sites have signed of what left them", p.disclosure},
		verb{"audit", "check what agents have logged of who connected and what they did", auditor(p.flags)},
		verb{"network", "print the connections of an agent, for a firewall", p.network},
		verb{"kit", "make an archive for each site of what it needs to take part", p.kit},
		verb{"relay", "connect agents of several sites that can only dial out", p.relay},
		verb{"pki", "make the certificates by which agents know each other", p.pki},
		verb{"golden", "write what a method does on a small problem, to check others by", goldenWriter(p.flags)},
		verb{"version", "print the version of this program and its kernels", p.version},
		verb{"help", "explain a verb: help VERB", p.help})
	return p
}

// run runs the verb that args begin with. A program of one task takes flags without a verb as that
// task's.
func (p *program) run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(p.tasks) == 1 && (len(args) == 0 || strings.HasPrefix(args[0], "-") &&
		!slices.Contains(versionFlags, args[0])) {
		args = append([]string{p.tasks[0].Name}, args...)
	}
	switch {
	case len(args) == 0:
		args = []string{""}
	case slices.Contains(versionFlags, args[0]):
		args = []string{"version"}
	case strings.HasPrefix(args[0], "-"):
		args = append([]string{"help"}, args...)
	}
	v, err := p.findVerb(args[0])
	if err != nil {
		return err
	}
	err = v.run(ctx, args[1:], stdout, stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return nil
	case v.name == p.name: // a program of its one task's name
		return err
	}
	return fmt.Errorf("%s: %w", v.name, err)
}

// flags returns the flags of a verb, with what it does, the rest of its usage line, and an example.
func (p *program) flags(verb, intro, synopsis, example string) *cli.Flags {
	name := p.name + " " + verb
	f := cli.NewFlags(name, intro, "")
	f.Synopsis, f.Example = synopsis, name+" "+example
	return f
}

// removed has the verbs and flags that the program had once, with what does their work now.
var removed = map[string]string{
	"export":     "MLflow refuses file stores; docs/result.md has ten lines that log a run by MLflow's own API",
	"plan -link": "a sum takes twice the hops that a plan prints, times the time of one way; the rest is bytes by rate",
}

var versionFlags = []string{"-version", "--version"}

// findVerb returns the verb called name. The error for a removed one names its replacement.
func (p *program) findVerb(name string) (verb, error) {
	var names []string
	for _, v := range p.verbs {
		if v.name == name {
			return v, nil
		}
		names = append(names, v.name)
	}
	if instead, ok := removed[name]; ok {
		return verb{}, dsbo.ConfigErrorf("there is no verb %s any more: %s", name, instead)
	}
	if name == "" {
		return verb{}, dsbo.ConfigErrorf(
			"a verb is required: %s (%s help explains them)", strings.Join(names, ", "), p.name)
	}
	return verb{}, dsbo.ConfigErrorf(
		"unknown verb %q%s (%s help lists the verbs)", name, cli.Suggest("", name, names), p.name)
}

const programIntro = `Decentralized stochastic bilevel optimization: agents, none of which shows its data to
another, tune the hyperparameters of a training problem by the validation loss of all.`

// help is the verb help: it lists the verbs, or explains the given one.
func (p *program) help(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	switch {
	case len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]):
	case strings.HasPrefix(args[0], "-"):
		return dsbo.ConfigErrorf("unknown flag %s: a verb comes first (%s help lists the verbs)", args[0], p.name)
	default:
		v, err := p.findVerb(args[0])
		if err != nil {
			return err
		}
		line, after := args[1:], []string{"-h"} // such as help pki renew
		if n := len(line) - 1; n >= 0 && line[n] == "all" {
			line, after = line[:n], append(after, "all")
		}
		return v.run(ctx, slices.Concat(line, after), stdout, stderr)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s VERB [flags]\n\n%s\n\nVerbs\n", p.name, programIntro)
	for _, v := range p.verbs {
		fmt.Fprintf(&b, "  %-10s %s\n", v.name, v.about)
	}
	fmt.Fprintf(&b, "\n%s help VERB, or %s VERB -h, explains a verb, and -h all each of its flags.\n", p.name, p.name)
	_, err := io.WriteString(stdout, b.String())
	return err
}

// taskVerb returns the action of a task's verb, which runs the task.
func (p *program) taskVerb(t experiment.Task) action {
	return func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
		if isSiteLine(args) {
			return p.site(ctx, t, args, stdout, stderr)
		}
		j, err := experiment.ParseAs(p.name+" "+t.Name, t, args, stdout)
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(stdout, "\n%s help lists the other verbs.\n", p.name)
		}
		if err != nil {
			return err
		}
		return j.Run(ctx, stdout, stderr)
	}
}

// findTask returns the task of a name that field has, a field of a file or an argument.
func (p *program) findTask(field, name string) (experiment.Task, error) {
	names := p.taskNames()
	if i := slices.Index(names, name); i >= 0 {
		return p.tasks[i], nil
	}
	return experiment.Task{}, dsbo.ConfigErrorf(
		"%s must be %s; it is %q%s", field, strings.Join(names, " or "), name, cli.Suggest("", name, names))
}

// clusterJob returns the job of a cluster's task with some flags.
func (p *program) clusterJob(c *cluster.Cluster, flags []string) (*experiment.Job, error) {
	t, err := p.findTask(`"task"`, c.Task)
	if err != nil {
		return nil, err
	}
	return experiment.Parse(t, flags, io.Discard)
}

// checkTask returns an error if a cluster's task is unknown or its flags cannot work, on its graph
// and with its quorum.
func (p *program) checkTask(c *cluster.Cluster) error {
	t, err := p.findTask(`"task"`, c.Task)
	if err != nil {
		return err
	}
	for _, f := range c.Flags {
		if name, _ := cli.FlagName(f); experiment.LocalOnly(name) {
			return dsbo.ConfigErrorf(`"flags": %q is not allowed: it is for a run in one process`, f)
		}
	}
	j, err := experiment.Parse(t, c.Flags, io.Discard)
	if err == nil {
		err = j.CheckOverMachines(c.Graph)
	}
	if errors.Is(err, flag.ErrHelp) {
		return dsbo.ConfigErrorf(`"flags": -h is not allowed`)
	}
	if err != nil {
		return fmt.Errorf(`"flags": %w`, err)
	}
	if c.Quorum > 0 && j.Settings.Privacy != nil {
		return dsbo.ConfigErrorf(
			`"quorum" and -dp-epsilon are mutually exclusive: the noise of a sum is dealt to agents that stay`)
	}
	return nil
}
