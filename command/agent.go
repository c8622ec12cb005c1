package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"dsbo"
	"dsbo/cluster"
	"dsbo/internal/cli"
	dsbogrpc "dsbo/network/grpc"
)

const agentIntro = `Runs one agent of the run that the cluster file describes. Its run folder is
DIR/agent-<i>. After the agent was stopped or its machine was lost, the same command
resumes it; the others wait for it meanwhile. It ends when all agents have finished.

Between machines each agent needs its certificate, which the verb pki makes. Data stay
where they are: what travels are vectors of the model's size.`

// numberVariables are environment variables by which schedulers tell a process its number.
var numberVariables = []string{"SLURM_PROCID", "JOB_COMPLETION_INDEX"}

// agentOptions are the command line of agent.
type agentOptions struct {
	linkOptions
	cluster  string
	agent    int
	out      string
	attached bool
	certs    string
	listen   string
	log      string
	logFile  string
	quiet    bool
	progress time.Duration
	http     string
	adjust   func(*dsbogrpc.Config) // changes the settings of the exchange, for tests; may be nil
}

// linkOptions are the flags about the connections of an agent.
type linkOptions struct {
	insecure    bool
	silentAfter time.Duration
	peerTimeout time.Duration
	keepFrames  int
	keepMiB     int
}

// addFlags adds the flags to f and returns their names.
func (o *linkOptions) addFlags(f *cli.Flags) []string {
	f.BoolVar(&o.insecure, "insecure", false,
		"connect without certificates: whoever reaches an agent's port can take part in the run")
	f.DurationVar(&o.silentAfter, "silent-after", 5*time.Second,
		"reconnect to a neighbour, and log its number, after it has been silent for this `time`; must be the same for all agents")
	f.DurationVar(&o.peerTimeout, "peer-timeout", 10*time.Minute,
		"give up after a neighbour has been silent for this `time`")
	f.IntVar(&o.keepFrames, "keep-frames", 1024,
		"`exchanges` kept for neighbours that come back; if one needs older ones, this agent goes back to an earlier checkpoint as well")
	f.IntVar(&o.keepMiB, "keep-mib", 16, "memory for kept exchanges, in `MiB`")
	return []string{"insecure", "silent-after", "peer-timeout", "keep-frames", "keep-mib"}
}

// minSilentAfter is the least -silent-after. The heartbeat is at most a quarter of it.
const minSilentAfter = 100 * time.Millisecond

func (o *linkOptions) validate() error {
	switch {
	case o.silentAfter < minSilentAfter:
		return dsbo.Errorf(dsbo.ErrConfig, "-silent-after must be at least %v; it is %v", minSilentAfter, o.silentAfter)
	case o.peerTimeout < o.silentAfter:
		return dsbo.Errorf(dsbo.ErrConfig,
			"-peer-timeout must be at least -silent-after, %v; it is %v", o.silentAfter, o.peerTimeout)
	case o.keepFrames < 2:
		return dsbo.Errorf(dsbo.ErrConfig, "-keep-frames must be at least 2; it is %d", o.keepFrames)
	case o.keepMiB < 1 || o.keepMiB > 1<<20:
		return dsbo.Errorf(dsbo.ErrConfig, "-keep-mib must be 1 to %d; it is %d", 1<<20, o.keepMiB)
	}
	return nil
}

func (p *program) agent(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, c, err := p.parseAgent(args, stdout)
	if err != nil {
		return o.passError(stdout, err)
	}
	ignoreTerminal()
	if o.attached {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it
			stop()
		}()
	}
	return o.passError(stdout, p.runAgent(ctx, o, c, stdout, stderr))
}

// passError writes the error of an attached agent to stdout, for the program that started it.
func (o *agentOptions) passError(stdout io.Writer, err error) error {
	if !o.attached || err == nil {
		return err
	}
	fmt.Fprintln(stdout, cli.OneLine(err))
	return fmt.Errorf("%w: %w", cli.ErrReported, err)
}

// parseAgent reads the command line of agent and its cluster file.
func (p *program) parseAgent(args []string, help io.Writer) (o agentOptions, c *cluster.Cluster, err error) {
	f := cli.NewFlags(p.name+" agent", agentIntro, "")
	f.Synopsis, f.Example = "-cluster FILE -out DIR [flags]", p.name+" agent -cluster cluster.json -out runs/mnist-8 -agent 3 -certs certs"
	f.StringVar(&o.cluster, "cluster", "", "cluster `file`")
	f.IntVar(&o.agent, "agent", -1, "the agent's `number` (default: $SLURM_PROCID, else $JOB_COMPLETION_INDEX)")
	f.StringVar(&o.out, "out", "", "`folder` in which the agent's run folder lies")
	f.BoolVar(&o.attached, "attached", false,
		"for a program that starts agents: stop, as on an interrupt, when stdin ends, and write the error, if any, to stdout instead of stderr")
	f.Group("Run", "cluster", "agent", "out", "attached")
	f.StringVar(&o.certs, "certs", "",
		"`folder` with ca.pem, agent-<i>.pem and agent-<i>-key.pem; without it connections are not protected, and only those within this machine are allowed")
	f.StringVar(&o.listen, "listen", "",
		"`address` to listen on, for instance :7000 (default: the agent's own in the cluster file)")
	link := o.addFlags(f)
	f.Group("Connections", append([]string{"certs", "listen"}, link...)...)
	f.StringVar(&o.log, "log", "text", logForms)
	f.StringVar(&o.logFile, "log-file", "", "`file` to which to append the whole log, as JSON lines, beside stderr")
	f.BoolVar(&o.quiet, "quiet", false, "log warnings and errors alone")
	f.DurationVar(&o.progress, "progress", 10*time.Second,
		"`time` between log lines about the agent's progress, if stderr is no terminal; 0: none")
	f.StringVar(&o.http, "http", "",
		"`address` on which to serve /healthz and, for Prometheus, /metrics; a port alone is on loopback (default: none)")
	f.Group("Output", "log", "log-file", "quiet", "progress", "http")
	if err := f.Parse(args, help); err != nil {
		return o, nil, err
	}
	if err := f.Required("cluster", "out"); err != nil {
		return o, nil, err
	}
	if c, err = cluster.Load(o.cluster, p.checkTask); err != nil {
		return o, nil, err
	}
	if o.agent, err = number(o.agent, f.Given()["agent"], len(c.Addresses), os.Getenv); err != nil {
		return o, nil, err
	}
	return o, c, o.validate()
}

func (o *agentOptions) validate() error {
	switch {
	case o.progress < 0:
		return dsbo.Errorf(dsbo.ErrConfig, "-progress must not be negative; it is %v", o.progress)
	case o.certs != "" && o.insecure:
		return dsbo.Errorf(dsbo.ErrConfig, "-certs and -insecure are mutually exclusive")
	}
	if o.listen != "" {
		if _, port, err := net.SplitHostPort(o.listen); err != nil || !isPort(port) {
			return dsbo.Errorf(dsbo.ErrConfig,
				"-listen must be host:port or, for all interfaces, :port; it is %s", o.listen)
		}
	}
	if o.http != "" {
		if _, err := httpAddress(o.http); err != nil {
			return err
		}
	}
	return cmp.Or(checkLog(o.log), o.linkOptions.validate())
}

const logForms = "`form` of log lines on stderr: plain, for people; text, key=value pairs; or json"

func checkLog(form string) error {
	if form != "plain" && form != "text" && form != "json" {
		return dsbo.Errorf(dsbo.ErrConfig, "-log must be plain, text or json; it is %s", form)
	}
	return nil
}

// isPort reports whether text is the number of a port, where 0 stands for any free one.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// number returns the number of this agent among n: that of -agent if it is given, else that of the scheduler.
func number(given int, isGiven bool, n int, getenv func(string) string) (int, error) {
	name, text := "-agent", strconv.Itoa(given)
	if !isGiven {
		name, text = "", ""
		for _, v := range numberVariables {
			if text = getenv(v); text != "" {
				name = "$" + v
				break
			}
		}
	}
	if text == "" {
		return 0, dsbo.Errorf(dsbo.ErrConfig,
			"-agent is required, 0 to %d, as neither $%s nor $%s is set", n-1, numberVariables[0], numberVariables[1])
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= n {
		return 0, dsbo.Errorf(dsbo.ErrConfig,
			"%s must be an agent of the cluster file, 0 to %d; it is %s", name, n-1, text)
	}
	return i, nil
}
