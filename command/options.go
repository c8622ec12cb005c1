package command

import (
	"io"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/internal/cli"
	"dsbo/network/pki"
	"dsbo/runs"
)

// options are the flags that the verbs run and agent have in common. The verb run passes them on to
// its agents.
type options struct {
	cluster        string        // path of the cluster file
	out            string        // run folder
	certs          string        // folder of certificates
	insecure       bool          // without certificates
	mask           bool          // whether sums are masked
	silentAfter    time.Duration // silence after which a connection is renewed
	peerTimeout    time.Duration // silence after which the run ends
	computeTimeout time.Duration // time that a neighbour may compute
	straggler      time.Duration // time after which who computes counts as absent; 0: none
	log            string        // level of the log
	quiet          bool          // no progress
	http           string        // address of the pages; "": none
}

// connectionFlags are the names of the options that are about connections, in the order of
// the help.
var connectionFlags = []string{"certs", "insecure", "mask", "silent-after", "peer-timeout", "compute-timeout",
	"straggler-deadline"}

// addFlags adds the flags to f. withoutCerts is the end of the help of -certs, what happens without
// it; log is the default of -log.
func (o *options) addFlags(f *cli.Flags, withoutCerts, log string) {
	f.StringVar(&o.cluster, "cluster", "", "cluster `file`")
	f.StringVar(&o.out, "out", "", "`folder` in which the agents' run folders lie")
	f.StringVar(&o.certs, "certs", "",
		"`folder` with ca.pem, agent-<i>.pem and agent-<i>-key.pem, made by the verb pki; without it "+withoutCerts)
	f.BoolVar(&o.insecure, "insecure", false,
		"connect without certificates: whoever reaches an agent's port can take part in the run")
	f.BoolVar(&o.mask, "mask", true,
		"mask the terms of sums, so that agents learn no other agent's; must be the same for all agents (default true)")
	f.DurationVar(&o.silentAfter, "silent-after", 5*time.Second,
		"reconnect to a neighbour, and log its number, after it has been silent for this `time`; must be the same "+
			"for all agents")
	f.DurationVar(&o.peerTimeout, "peer-timeout", 10*time.Minute,
		"give up after the agents have met for this `time` and no session can begin; without a quorum also the time "+
			"for which an exchange waits for an agent that does not compute; at least twice absent_after")
	f.DurationVar(&o.computeTimeout, "compute-timeout", 24*time.Hour,
		"end a session, and meet again, after an exchange has waited for this `time` for an agent that computes")
	f.DurationVar(&o.straggler, "straggler-deadline", 0,
		"with a quorum: go on without an agent for whose computation all its neighbours have waited for this `time`, "+
			"and twice as long after each time that it was left out (default: -compute-timeout)")
	f.StringVar(&o.log, "log", log, logForms)
	f.BoolVar(&o.quiet, "quiet", false, "log warnings and errors alone")
	f.StringVar(&o.http, "http", "",
		"`address` on which an agent serves /livez, /readyz, /healthz and, for Prometheus, /metrics; a port alone is "+
			"on loopback, and {9100+agent} stands for ports 9100, 9101, ... of agents 0, 1, ... (default: none)")
}

// parseCluster reads a command line with the flags -cluster and -out, and others that are required,
// and the cluster file.
func (p *program) parseCluster(f *cli.Flags, args []string, help io.Writer,
	required ...string) (*cluster.Cluster, error) {
	if err := f.Parse(args, help, append(required, "cluster", "out")...); err != nil {
		return nil, err
	}
	return cluster.Load(f.Lookup("cluster").Value.String(), p.checkTask)
}

// agentFolder returns the run folder of an agent.
func (o *options) agentFolder(agent int) runs.Folder {
	return runs.Folder(filepath.Join(o.out, pki.Name(agent)))
}

// minSilentAfter is the least -silent-after. The heartbeat is at most a quarter of it.
const minSilentAfter = 100 * time.Millisecond

// validate returns an error for the first option whose value cannot work, with the cluster file or
// at all.
func (o *options) validate(c *cluster.Cluster) error {
	switch {
	case o.certs != "" && o.insecure:
		return dsbo.ConfigErrorf("-certs and -insecure are mutually exclusive")
	case o.silentAfter < minSilentAfter:
		return dsbo.ConfigErrorf("-silent-after must be at least %v; it is %v", minSilentAfter, o.silentAfter)
	case c.Quorum > 0 && c.AbsentAfter <= o.silentAfter:
		return dsbo.ConfigErrorf(`cluster file: "absent_after" must be longer than -silent-after, %v; it is %v`,
			o.silentAfter, c.AbsentAfter)
	case o.peerTimeout < o.silentAfter:
		return dsbo.ConfigErrorf(
			"-peer-timeout must be at least -silent-after, %v; it is %v", o.silentAfter, o.peerTimeout)
	case o.computeTimeout < o.peerTimeout:
		return dsbo.ConfigErrorf("-compute-timeout must be at least -peer-timeout, %v; it is %v",
			o.peerTimeout, o.computeTimeout)
	case o.straggler != 0 && c.Quorum == 0:
		return dsbo.ConfigErrorf(
			`-straggler-deadline needs a "quorum" in the cluster file: ` +
				"without one all agents take part, also slow ones")
	case o.straggler != 0 && (o.straggler <= o.silentAfter || o.straggler > o.computeTimeout):
		return dsbo.ConfigErrorf(
			"-straggler-deadline must be longer than -silent-after, %v, and at most -compute-timeout, %v; it is %v",
			o.silentAfter, o.computeTimeout, o.straggler)
	}
	return checkLogForm(o.log)
}

// httpAddress returns the host:port of -http at an agent, "" if it is not given.
func (o *options) httpAddress(agent int) (string, error) {
	if o.http == "" {
		return "", nil
	}
	text, err := cluster.Expand(o.http, agent)
	if err != nil {
		return "", dsbo.ConfigErrorf("-http %s: %w", o.http, err)
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port, err = net.SplitHostPort(":" + text)
	}
	if err != nil || !isPort(port) {
		return "", dsbo.ConfigErrorf("-http must be host:port, or a port, which is then on loopback; it is %s", text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// isPort reports whether text is a port number; 0 means any free one.
func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}
