package command

import (
	"net"
	"path/filepath"
	"strconv"
	"time"

	"dsbo"
	"dsbo/experiment/site"
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

// addFlags adds the flags to f, with the default of -log.
func (o *options) addFlags(f *call, log string) {
	*o = options{mask: true, silentAfter: 5 * time.Second, peerTimeout: 10 * time.Minute,
		computeTimeout: 24 * time.Hour, log: log}
	f.Vars(map[string]any{"cluster": &o.cluster, "out": &o.out, "certs": &o.certs, "insecure": &o.insecure,
		"mask": &o.mask, "silent-after": &o.silentAfter, "peer-timeout": &o.peerTimeout,
		"compute-timeout": &o.computeTimeout, "straggler-deadline": &o.straggler, "log": &o.log, "quiet": &o.quiet,
		"http": &o.http})
}

// parseCluster reads a command line of flags, some of which are required, and the file of -cluster,
// which it adds.
func (p *program) parseCluster(f *call, required ...string) (*site.Cluster, error) {
	path := f.String("cluster", "", "")
	if err := f.parse(required...); err != nil {
		return nil, err
	}
	return site.LoadCluster(*path, p.checkTask)
}

// agentFolder returns the run folder of an agent.
func (o *options) agentFolder(agent int) runs.Folder {
	return runs.Folder(filepath.Join(o.out, pki.Name(agent)))
}

// minSilentAfter is the least -silent-after. The heartbeat is at most a quarter of it.
const minSilentAfter = 100 * time.Millisecond

// validate returns an error for the first option that cannot work, by itself or with the cluster
// file. The times must increase: a silent connection is renewed (-silent-after) before its agent
// counts as absent or ends the run (absent_after, -peer-timeout), and an agent that computes is
// waited for longer still (-compute-timeout).
func (o *options) validate(c *site.Cluster) error {
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
	case o.computeTimeout < 2*c.AbsentAfter: // a neighbour may itself wait for an absent agent
		return dsbo.ConfigErrorf(`-compute-timeout must be at least twice "absent_after", %v; it is %v`,
			c.AbsentAfter, o.computeTimeout)
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

// httpAddress returns the host:port of -http for an agent, or "" if it is not given. Without a
// host, or with a port alone, it is on loopback, so that the pages are not public by accident.
func (o *options) httpAddress(agent int) (string, error) {
	if o.http == "" {
		return "", nil
	}
	text, err := site.ExpandAddress(o.http, agent)
	if err != nil {
		return "", dsbo.ConfigErrorf("-http %s: %w", o.http, err)
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil { // a port alone
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
