package command

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/network/membership"
	"dsbo/network/pki"
	"dsbo/network/session"
	"dsbo/runs"
)

// numberVariables are the environment variables in which schedulers give a process its number.
var numberVariables = []string{"SLURM_PROCID", "JOB_COMPLETION_INDEX"}

// agentOptions are the flags of the verb agent.
type agentOptions struct {
	options
	number    string                // of the agent, as it is given
	agent     int                   // its number
	check     bool                  // whether it is only tried what the agent needs
	attached  bool                  // whether it ends as stdin does
	own       []string              // flags of the task that are this agent's own
	fewSites  bool                  // whether fewer than 3 sites are allowed
	listen    string                // address, if it is not the cluster file's
	connect   string                // program that makes connections; "": this one
	admission string                // what lets an agent in that the cluster file does not have
	result    string                // folder of an agent that has finished; "": this one runs
	logFile   string                // path; "": none
	progress  time.Duration         // time between lines of progress
	guard     *site.Guard           // the site's policies
	adjust    func(*session.Config) // changes the settings of sessions, for tests; may be nil
}

// agent returns the action that runs one agent of a cluster file: of the verb agent, a task without
// flags, or of a task's verb, whose command line may have flags of the task.
func (p *program) agent(t experiment.Task) action {
	return func(f *call) error {
		o, c, err := p.parseAgent(t, f)
		if err == nil {
			err = p.startAgent(f.ctx, o, c, f.stdout, f.stderr)
		}
		return o.passError(f.stdout, err)
	}
}

// verbAgent has the name of the verb agent.
var verbAgent = experiment.Task{Name: "agent", Flags: func(*flag.FlagSet) {}}

// parseAgent reads the command line of an agent and its cluster file. The verb agent requires -out;
// a task's verb also has the task's flags, which are merged with the file's, and a default for
// -out. The policy is read before the cluster file, which cannot widen it.
func (p *program) parseAgent(t experiment.Task, f *call) (o agentOptions, c *site.Cluster, err error) {
	o.addFlags(f)
	ofAgent := map[string]bool{}
	f.VisitAll(func(fl *flag.Flag) { ofAgent[fl.Name] = true })
	t.Flags(f.FlagSet)
	var ofTask []string
	f.VisitAll(func(fl *flag.Flag) {
		if !ofAgent[fl.Name] {
			ofTask = append(ofTask, fl.Name)
		}
	})
	required := []string{"cluster"}
	if ofTask != nil {
		f.Group("Task", ofTask...)
	} else {
		required = append(required, "out")
		f.Elsewhere = p.flagsOfTasks()
	}
	f.First = slices.Concat([]string{"cluster", "agent"}, t.LocalFlags,
		[]string{"out", "certs", "listen", "few-sites", "http", "log-file", "quiet"})
	if err = f.parse(required...); err != nil {
		return o, nil, err
	}
	given := map[string]string{} // copied now: checking the cluster file sets the task's flags anew
	f.Visit(func(fl *flag.Flag) {
		if !ofAgent[fl.Name] {
			given[fl.Name] = fl.Value.String()
		}
	})
	if err = o.loadPolicy(); err != nil {
		return o, nil, err
	}
	if c, err = site.LoadCluster(o.cluster, p.checkTask); err != nil {
		return o, nil, err
	}
	if ofTask != nil && c.Task != t.Name {
		return o, nil, dsbo.ConfigErrorf("-cluster %s is of the task %s, not of %s", o.cluster, c.Task, t.Name)
	}
	if o.out == "" {
		folder, err := runs.InResults(c.Run)
		if err != nil {
			return o, nil, err
		}
		o.out = string(folder)
	}
	return o, c, cmp.Or(o.mergeFlags(t, c, given), o.choose(c))
}

// flagsOfTasks returns, by the names of the flags that agents of a task may have of their own, the
// command line that takes them.
func (p *program) flagsOfTasks() map[string]string {
	all := map[string]string{}
	for _, t := range p.tasks {
		for _, name := range t.LocalFlags {
			all[name] = fmt.Sprintf("the verb of its task: %s %s -cluster FILE -agent NUMBER -%s ...", p.name,
				t.Name, name)
		}
	}
	return all
}

// choose sets the agent's number and checks the options against its role in the run. An agent
// beyond the cluster file, up to the largest possible roster, needs an admission.
func (o *agentOptions) choose(c *site.Cluster) (err error) {
	n, address := len(c.Addresses), ""
	if o.agent, err = agentNumber(o.number, max(n, membership.LargestRoster(c.Quorum))); err != nil {
		return err
	}
	if o.agent < n {
		address = c.Addresses[o.agent]
	} else if err := o.loadAdmission(c); err != nil {
		return err
	}
	if address == "" && o.listen != "" {
		return dsbo.ConfigErrorf(
			"-listen must be left out: agent %d has no address in %s, and nobody connects to it", o.agent, o.cluster)
	}
	return cmp.Or(o.validate(c), o.checkSites(n))
}

// loadAdmission reads what lets an agent into the run that the cluster file does not have.
func (o *agentOptions) loadAdmission(c *site.Cluster) (err error) {
	n := len(c.Addresses)
	if o.certs == "" {
		return dsbo.ConfigErrorf(
			"agent %d is not in the cluster file, which has agents 0 to %d: it must be admitted (pki admission), and "+
				"-certs is required", o.agent, n-1)
	}
	o.admission, err = pki.LoadAdmission(o.certs, o.agent, c.Run, c.Hash())
	return err
}

// addFlags adds the flags of an agent's command line.
func (o *agentOptions) addFlags(f *call) {
	o.options.addFlags(f, "text")
	o.progress = 10 * time.Second
	f.Vars(map[string]any{"agent": &o.number, "attached": &o.attached, "check": &o.check, "listen": &o.listen,
		"connect-by": &o.connect, "few-sites": &o.fewSites, "result": &o.result, "log-file": &o.logFile,
		"progress": &o.progress})
}

// leastSites is the number of agents from which on a sum hides each of its terms from the others.
const leastSites = 3

// checkSites returns an error if there are so few agents that sums hide nothing. Of agents that the
// verb run starts, all are on one machine.
func (o *agentOptions) checkSites(n int) error {
	if n == 1 || n >= leastSites || o.fewSites || o.attached || !o.mask {
		return nil
	}
	return dsbo.ConfigErrorf(
		"a run must have at least %d agents, or each can take its own terms off the sums and has the other's; "+
			"there are %d (-few-sites takes part all the same)", leastSites, n)
}

// validate returns an error for the first flag whose value cannot work.
func (o *agentOptions) validate(c *site.Cluster) error {
	if o.progress < 0 {
		return dsbo.ConfigErrorf("-progress must not be negative; it is %v", o.progress)
	}
	if o.listen != "" {
		if _, port, err := net.SplitHostPort(o.listen); err != nil || !isPort(port) {
			return dsbo.ConfigErrorf("-listen must be host:port or, for all interfaces, :port; it is %s", o.listen)
		}
	}
	_, err := o.httpAddress(o.agent)
	return cmp.Or(o.options.validate(c), err)
}

// agentNumber returns the number of this agent among n agents: -agent's if it is given, else
// the scheduler's.
func agentNumber(given string, n int) (int, error) {
	name, text := "-agent", given
	for _, v := range numberVariables {
		if text == "" {
			name, text = "$"+v, os.Getenv(v)
		}
	}
	if text == "" {
		return 0, dsbo.ConfigErrorf(
			"-agent is required, 0 to %d, as neither $%s nor $%s is set", n-1, numberVariables[0], numberVariables[1])
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= n {
		return 0, dsbo.ConfigErrorf("%s must be an agent of the cluster file, 0 to %d; it is %s", name, n-1, text)
	}
	return i, nil
}

// mergeFlags merges the task's flags on this command line (given) with the cluster file's. Flags
// that may differ between sites become the agent's own. Others are added to the file's, and must
// not contradict them: as part of the run's hash they must be the same for all agents.
func (o *agentOptions) mergeFlags(t experiment.Task, c *site.Cluster, given map[string]string) error {
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
func (p *program) startAgent(ctx context.Context, o agentOptions, c *site.Cluster, stdout, stderr io.Writer) error {
	if o.check {
		return p.checkAgent(ctx, o, c, stdout)
	}
	ignoreTerminal()
	if o.attached {
		var stop context.CancelFunc
		ctx, stop = cli.UntilStdinEnds(ctx)
		defer stop()
	}
	return p.runAgent(ctx, o, c, stdout, stderr)
}

// passError writes the error of an attached agent to stdout, for the program that started it.
func (o *agentOptions) passError(stdout io.Writer, err error) error {
	if !o.attached || err == nil {
		return err
	}
	fmt.Fprintln(stdout, cli.OneLine(err))
	return cli.Reported(err)
}
