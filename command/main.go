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
// Package dsbo/experiment/site documents cluster files; deploy/ starts agents under Slurm,
// Kubernetes and systemd.
//
// # Why it is a package
//
// A program for tasks of one's own needs all verbs, not its task alone: agents, certificates,
// collecting, reports. A main of three lines has them by [Main]. A framework of commands would not
// make flags, help and refusals of what a task, a method and a preset declare.
package command

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/compare"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
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

// An action runs a verb.
type action func(*call) error

// A call is a command line for a verb.
type call struct {
	*cli.Flags                     // that the verb adds, with its help text
	ctx            context.Context // ends with an interrupt
	args           []string        // after the verb
	stdout, stderr io.Writer
}

// parse reads flags alone, some of which are required.
func (f *call) parse(required ...string) error { return f.Parse(f.args, f.stdout, required...) }

// parseOperands reads flags and operands.
func (f *call) parseOperands(required ...string) error {
	return f.ParseOperands(f.args, f.stdout, required...)
}

// under returns the call of a verb, named by words, with other arguments.
func (f *call) under(p *program, words string, args []string) *call {
	return &call{p.flags(words), f.ctx, args, f.stdout, f.stderr}
}

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
		verb{"agent", "run one agent of a cluster file", p.agent(verbAgent)},
		verb{"collect", "make one run folder from the folders of all agents", p.collect},
		verb{"disclosure", "verify what sites have signed of what left them", p.disclosure},
		verb{"audit", "check what agents have logged of who connected and what they did", p.audit},
		verb{"network", "print the connections of an agent, for a firewall", p.network},
		verb{"kit", "make an archive for each site of what it needs to take part", p.kit},
		verb{"relay", "connect agents of several sites that can only dial out", p.relay},
		verb{"pki", "make the certificates by which agents know each other", p.pki},
		verb{"golden", "write what a method does on a small problem, to check others by", p.golden},
		verb{"version", "print the version of this program and its kernels", p.version},
		verb{"help", "explain a verb: help VERB", p.help})
	return p
}

// run runs the verb that args begin with. Without a verb, a program for one task runs that task; a
// program for several passes its flags to help, and returns an error for an empty command line.
// -version is a verb in both. An error is prefixed with the verb, unless the verb is the program's
// own name.
func (p *program) run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flagsAlone := len(args) > 0 && strings.HasPrefix(args[0], "-")
	switch {
	case len(args) > 0 && slices.Contains(versionFlags, args[0]):
		args = []string{"version"}
	case len(p.tasks) == 1 && (len(args) == 0 || flagsAlone):
		args = append([]string{p.tasks[0].Name}, args...)
	case len(args) == 0:
		args = []string{""} // findVerb's error lists the verbs
	case flagsAlone:
		args = append([]string{"help"}, args...)
	}
	v, err := p.findVerb(args[0])
	if err != nil {
		return err
	}
	err = v.run(&call{p.flags(v.name), ctx, args[1:], stdout, stderr})
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return nil
	case v.name == p.name:
		return err
	}
	return fmt.Errorf("%s: %w", v.name, err)
}

// helpFiles are the help texts of verbs: the rest of the usage line and an example, what the verb
// does, its flags as [cli.SetUsages] reads them, and what follows them, separated by lines of ---.
//
//go:embed help
var helpFiles embed.FS

// flags returns the flags of a verb with its help text, from the file of its name (pki-renew.txt
// for pki renew; site.txt for the verb of a task, whose agents are sites). The file has parts
// separated by lines of ---: usage line and example, description, flags, and what follows them;
// missing parts are empty.
func (p *program) flags(verb string) *cli.Flags {
	file := strings.ReplaceAll(verb, " ", "-")
	if slices.Contains(p.taskNames(), verb) {
		file = "site"
	}
	var text strings.Builder
	t := template.Must(template.ParseFS(helpFiles, "help/*.txt"))
	_ = t.ExecuteTemplate(&text, file+".txt", compare.Example)         // which a test executes
	parts := append(strings.Split(text.String(), "---\n"), "", "", "") // the text of help has the first alone
	name := p.name + " " + verb
	f := cli.NewFlags(name, strings.TrimSpace(parts[1]), strings.TrimSpace(parts[3]))
	f.Usages = parts[2]
	f.Synopsis, f.Example, _ = strings.Cut(strings.TrimSpace(parts[0]), "\n")
	if f.Example != "" {
		f.Example = name + " " + f.Example
	}
	return f
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
	if instead, ok := wording.Struck("verb " + name); ok {
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

// help runs the verb help: it lists the verbs, or, for a given verb, runs that with -h, or with -h
// all if the line ends with all.
func (p *program) help(f *call) error {
	switch {
	case len(f.args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, f.args[0]):
	case strings.HasPrefix(f.args[0], "-"):
		return dsbo.ConfigErrorf("unknown flag %s: a verb comes first (%s help lists the verbs)", f.args[0], p.name)
	default:
		v, err := p.findVerb(f.args[0])
		if err != nil {
			return err
		}
		line, after := f.args[1:], []string{"-h"} // such as help pki renew
		if n := len(line) - 1; n >= 0 && line[n] == "all" {
			line, after = line[:n], append(after, "all")
		}
		return v.run(f.under(p, v.name, slices.Concat(line, after)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s VERB [flags]\n\n%s\n\nVerbs\n", p.name, programIntro)
	for _, v := range p.verbs {
		fmt.Fprintf(&b, "  %-10s %s\n", v.name, v.about)
	}
	fmt.Fprintf(&b, "\n%s help VERB, or %s VERB -h, explains a verb, and -h all each of its flags.\n", p.name, p.name)
	_, err := io.WriteString(f.stdout, b.String())
	return err
}

// taskVerb returns the action of a task's verb, which runs the task or, with -cluster, one agent
// of it.
func (p *program) taskVerb(t experiment.Task) action {
	return func(f *call) error {
		if slices.ContainsFunc(f.args, func(a string) bool {
			name, is := cli.FlagName(a)
			return is && name == "cluster"
		}) {
			return p.agent(t)(f)
		}
		j, err := experiment.ParseAs(p.name+" "+t.Name, t, f.args, f.stdout)
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(f.stdout, "\n%s help lists the other verbs.\n", p.name)
		}
		if err != nil {
			return err
		}
		return j.Run(f.ctx, f.stdout, f.stderr)
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
func (p *program) clusterJob(c *site.Cluster, flags []string) (*experiment.Job, error) {
	t, err := p.findTask(`"task"`, c.Task)
	if err != nil {
		return nil, err
	}
	return experiment.Parse(t, flags, io.Discard)
}

// checkTask returns an error if a cluster's task is unknown, or its flags cannot work with its
// graph and quorum. It loads no data. [site.LoadCluster] calls it.
func (p *program) checkTask(c *site.Cluster) error {
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
