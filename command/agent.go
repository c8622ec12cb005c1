package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"dsbo/cluster"
	"dsbo/internal/cli"
	dsbogrpc "dsbo/network/grpc"
)

const agentIntro = `usage: dsbo agent -cluster FILE -out DIR [-agent i] [flags]

Runs one agent of the run that the cluster file describes. Its run folder is DIR/agent-<i>, where the same command goes on
after the agent was stopped or its machine was lost; the others wait for it meanwhile. It ends when all agents are done.

Between machines each agent needs its certificate, which dsbo pki makes. Data stay where they are: what travels
are vectors of the model's size.`

// numberVariables are where the agent's number comes from without -agent.
var numberVariables = []string{"SLURM_PROCID", "JOB_COMPLETION_INDEX"}

// agentOptions are an agent's command line.
type agentOptions struct {
	linkOptions
	cluster  string
	agent    int
	out      string
	attached bool
	certs    string
	listen   string
	log      string
	quiet    bool
	progress time.Duration
	http     string
	adjust   func(*dsbogrpc.Config) // changes the settings of the exchange, for tests; nil: not
}

// linkOptions are about the connections of an agent.
type linkOptions struct {
	insecure    bool
	silentAfter time.Duration
	peerTimeout time.Duration
	keepFrames  int
	keepMiB     int
}

// add adds the flags and returns their names.
func (o *linkOptions) add(f *cli.Flags) []string {
	f.BoolVar(&o.insecure, "insecure", false, "connect without certificates: whoever reaches an agent's port can take part")
	f.DurationVar(&o.silentAfter, "silent-after", 5*time.Second, "`time` after which a neighbour that says nothing is named and connected to anew; the same for all agents")
	f.DurationVar(&o.peerTimeout, "peer-timeout", 10*time.Minute, "`time` after which it ends the run")
	f.IntVar(&o.keepFrames, "keep-frames", 1024, "`exchanges` that are kept for neighbours that come back; for older ones this agent goes back too")
	f.IntVar(&o.keepMiB, "keep-mib", 16, "`MiB` that they may take")
	return []string{"insecure", "silent-after", "peer-timeout", "keep-frames", "keep-mib"}
}

// args returns the flags as they were given.
func (o *linkOptions) args() []string {
	return []string{
		fmt.Sprintf("-insecure=%t", o.insecure), "-silent-after=" + o.silentAfter.String(), "-peer-timeout=" + o.peerTimeout.String(),
		fmt.Sprintf("-keep-frames=%d", o.keepFrames), fmt.Sprintf("-keep-mib=%d", o.keepMiB),
	}
}

// shortest is the least -silent-after, of which an agent's heartbeat is a quarter at most.
const shortest = 100 * time.Millisecond

func (o *linkOptions) validate() error {
	switch {
	case o.silentAfter < shortest:
		return bad("-silent-after %v: want at least %v", o.silentAfter, shortest)
	case o.peerTimeout < o.silentAfter:
		return bad("-peer-timeout %v: want at least %v, which is -silent-after", o.peerTimeout, o.silentAfter)
	case o.keepFrames < 2:
		return bad("-keep-frames %d: want at least 2", o.keepFrames)
	case o.keepMiB < 1 || o.keepMiB > 1<<20:
		return bad("-keep-mib %d: want 1 to %d", o.keepMiB, 1<<20)
	}
	return nil
}

func agentCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, c, err := parseAgent(args, stdout)
	if err != nil {
		return err
	}
	// An agent whose stderr nobody reads any more goes on, and when it is stopped then writes its checkpoint.
	signal.Ignore(syscall.SIGPIPE)
	if o.attached {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // whatever ends it
			stop()
		}()
	}
	return runAgent(ctx, o, c, stdout, stderr)
}

// parseAgent reads the command line and the cluster file.
func parseAgent(args []string, help io.Writer) (o agentOptions, c *cluster.Cluster, err error) {
	f := cli.NewFlags("dsbo agent", agentIntro, "")
	f.StringVar(&o.cluster, "cluster", "", "cluster `file`")
	f.IntVar(&o.agent, "agent", -1, "the agent's `number` (default: $SLURM_PROCID, else $JOB_COMPLETION_INDEX)")
	f.StringVar(&o.out, "out", "", "`folder` in which the agent's run folder lies")
	f.BoolVar(&o.attached, "attached", false, "stop, as on an interrupt, when stdin ends: for a program that starts agents and leaves none behind")
	f.Group("Run", "cluster", "agent", "out", "attached")
	f.StringVar(&o.certs, "certs", "", "`folder` with ca.pem, agent-<i>.pem and agent-<i>-key.pem; without it connections are not protected, and stay on this machine")
	f.StringVar(&o.listen, "listen", "", "`address` to listen on, for instance :7000 (default: the agent's own in the cluster file)")
	link := o.add(f)
	f.Group("Connections", append([]string{"certs", "listen"}, link...)...)
	f.StringVar(&o.log, "log", "text", "`form` of what is said on stderr: text or json")
	f.BoolVar(&o.quiet, "quiet", false, "say nothing but warnings and errors")
	f.DurationVar(&o.progress, "progress", 10*time.Second, "`time` between lines that say how far the agent is, where stderr is no terminal; 0: none")
	f.StringVar(&o.http, "http", "", "`address` on which to serve /healthz and, for Prometheus, /metrics; a port alone is on loopback (default: none)")
	f.Group("Output", "log", "quiet", "progress", "http")
	if err := f.Parse(args, help); err != nil {
		return o, nil, err
	}
	if err := required(f, "cluster", "out"); err != nil {
		return o, nil, err
	}
	if c, err = cluster.Load(o.cluster); err != nil {
		return o, nil, err
	}
	if o.agent, err = number(o.agent, f.Given()["agent"], len(c.Addresses), os.Getenv); err != nil {
		return o, nil, err
	}
	return o, c, o.validate()
}

func (o *agentOptions) validate() error {
	switch {
	case o.log != "text" && o.log != "json":
		return bad("-log %s: want text or json", o.log)
	case o.progress < 0:
		return bad("-progress %v: want 0 or more", o.progress)
	case o.certs != "" && o.insecure:
		return bad("-certs %s and -insecure: want one of them", o.certs)
	}
	if o.listen != "" {
		if _, port, err := net.SplitHostPort(o.listen); err != nil || !isPort(port) {
			return bad("-listen %s: want host:port or, on all interfaces, :port", o.listen)
		}
	}
	if o.http != "" {
		if _, err := httpAddress(o.http); err != nil {
			return err
		}
	}
	return o.linkOptions.validate()
}

// isPort reports whether text is the number of a port; 0 stands for any that is free.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// number returns which of n agents this is: what was given, or what the machine's scheduler says.
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
		return 0, bad("no -agent, and neither $%s nor $%s is set: want the agent's number, 0 to %d", numberVariables[0], numberVariables[1], n-1)
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= n {
		return 0, bad("%s %s: want an agent of the cluster file, 0 to %d", cmp.Or(name, "-agent"), text, n-1)
	}
	return i, nil
}
