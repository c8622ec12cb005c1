package command

import (
	"cmp"
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/network/membership"
	"dsbo/network/pki"
	"dsbo/network/session"
)

const agentIntro = `Runs one agent of the run that the cluster file describes. Its run folder is
DIR/agent-<i>. After the agent was stopped or its machine was lost, the same command
resumes it; the others wait for it meanwhile. It ends when all agents have finished.

Between machines each agent needs its certificate, which the verb pki makes. Data stay
where they are: agents exchange vectors of the model's size, and no examples.`

// numberVariables are the environment variables in which schedulers give a process its number.
var numberVariables = []string{"SLURM_PROCID", "JOB_COMPLETION_INDEX"}

// agentOptions are the flags of the verb agent.
type agentOptions struct {
	options
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

// agent is the verb agent: it runs one agent of a cluster file.
func (p *program) agent(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, c, err := p.parseAgent(args, stdout)
	if err != nil {
		return o.passError(stdout, err)
	}
	return p.startAgent(ctx, o, c, stdout, stderr)
}

// parseAgent reads the command line of agent and its cluster file.
func (p *program) parseAgent(args []string, help io.Writer) (o agentOptions, c *cluster.Cluster, err error) {
	f := p.flags("agent", agentIntro, "-cluster FILE -out DIR [flags]",
		"-cluster cluster.json -out results/mnist-8 -agent 3 -certs certs")
	agent := o.addFlags(f)
	f.First = slices.Concat([]string{"cluster", "agent"}, siteFlags)
	if err = cmp.Or(f.Parse(args, help, "cluster", "out"), o.loadPolicy()); err != nil {
		return o, nil, err
	}
	if c, err = cluster.Load(o.cluster, p.checkTask); err != nil {
		return o, nil, err
	}
	return o, c, o.choose(*agent, c)
}

// choose sets the agent's number, and checks the options against its part in the run. Agents that
// the cluster file does not have, up to the largest roster, need an admission.
func (o *agentOptions) choose(number string, c *cluster.Cluster) (err error) {
	n, address := len(c.Addresses), ""
	if o.agent, err = agentNumber(number, max(n, membership.LargestRoster(c.Quorum)), os.Getenv); err != nil {
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
func (o *agentOptions) loadAdmission(c *cluster.Cluster) (err error) {
	n := len(c.Addresses)
	if o.certs == "" {
		return dsbo.ConfigErrorf(
			"agent %d is not in the cluster file, which has agents 0 to %d: it must be admitted (pki admission), and "+
				"-certs is required", o.agent, n-1)
	}
	o.admission, err = pki.LoadAdmission(o.certs, o.agent, c.Run, c.Hash())
	return err
}

// siteFlags are the flags of an agent that a first user of one needs, beside which it is.
var siteFlags = []string{"out", "certs", "listen", "few-sites", "http", "log-file", "quiet"}

// addFlags adds the flags of an agent's command line, and returns the value of -agent.
func (o *agentOptions) addFlags(f *cli.Flags) (agent *string) {
	o.options.addFlags(f, "connections are not protected, and only those within this machine are allowed", "text")
	agent = f.String("agent", "", "the agent's `number` (default: $SLURM_PROCID, else $JOB_COMPLETION_INDEX)")
	f.BoolVar(&o.attached, "attached", false,
		"for a program that starts agents: stop when stdin ends, as on an interrupt, and write an error to stdout "+
			"instead of stderr")
	f.BoolVar(&o.check, "check", false,
		"read the files of the agent and connect to its neighbours once, print each step, and end")
	f.StringVar(&o.listen, "listen", "",
		"`address` to listen on, for instance :7000 (default: the agent's own in the cluster file)")
	f.StringVar(&o.connect, "connect-by", "",
		"`program` that makes connections, with %h and %p for host and port: its stdin and stdout are the stream, as "+
			"of ProxyCommand of ssh")
	f.BoolVar(&o.fewSites, "few-sites", false,
		"take part in a run of two agents, or stay as one of two when others leave: each learns the other's terms "+
			"of all sums")
	f.StringVar(&o.result, "result", "",
		"run `folder` of an agent that has finished, for one that was left out and comes too late: it ends with that "+
			"result")
	f.StringVar(&o.logFile, "log-file", "", "`file` to which to append the whole log, as JSON lines, beside stderr")
	f.DurationVar(&o.progress, "progress", 10*time.Second,
		"`time` between log lines about the agent's progress, if stderr is no terminal; 0: none")
	f.Group("Run", "cluster", "agent", "out", "result", "few-sites", "check", "attached")
	f.Group("Connections", slices.Insert(slices.Clone(connectionFlags), 1, "listen")...)
	f.Group("Output", "log", "log-file", "quiet", "progress", "http")
	return agent
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
func (o *agentOptions) validate(c *cluster.Cluster) error {
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
func agentNumber(given string, n int, getenv func(string) string) (int, error) {
	name, text := "-agent", given
	for _, v := range numberVariables {
		if text == "" {
			name, text = "$"+v, getenv(v)
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
