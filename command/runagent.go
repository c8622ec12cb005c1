package command

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/peer"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/network/pki"
	"dsbo/network/session"
	"dsbo/runs"
)

// runAgent runs an agent until all agents have finished. If the run is final already, it only
// completes the disclosure; with -result it takes over another agent's result. Otherwise it opens
// the pages, checks the site's policy, and takes part in sessions.
func (p *program) runAgent(ctx context.Context, o agentOptions, c *site.Cluster, stdout,
	stderr io.Writer) (err error) {
	m := newMonitor(c.Run, o.agent)
	s, err := newScreen(o, m, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(err)) }()
	final, err := o.folder().IsFinal(o.membership(c))
	if err != nil {
		return err
	}
	if final {
		s.log.Info("the run is finished", "run", c.Run, "folder", o.folder())
		return o.discloseLate(c)
	}
	if o.result != "" {
		return o.takeResult(c, s.log)
	}
	stop, err := o.servePages(m, s.log)
	if err != nil {
		return err
	}
	defer stop()
	s.events.Info("starting", "run", c.Run, "agents", len(c.Addresses), "process", os.Getpid(), "program",
		wording.Build().Version, "cluster", c.Hash())
	for path, digest := range o.guard.Policies() {
		s.events.Info("a policy", "file", path, "sha256", digest)
	}
	if o.insecure && (!o.attached || o.agent == 0) { // agents started by the verb run warn once, by agent 0
		s.events.Warn(
			"-insecure: connections are not protected, and whoever reaches this agent's port can take part in the run")
	}
	j, err := p.agentJob(&o, c)
	if err != nil {
		return err
	}
	j.View = s
	e := agentSessions{options: &o, config: o.sessionConfig(c, s),
		own: certificate{files: pki.Files{Folder: o.certs, Agent: o.agent}, run: c.Run, hash: c.Hash(), log: s.events,
			monitor: m}, screen: s, unfollow: func() {}}
	if o.certs != "" {
		if e.config.Identity, e.config.Removals, err = e.own.load(time.Now()); err != nil {
			return err
		}
	}
	if o.attached {
		stdout = nil // the verb run writes the page and the table once for all
	}
	if o.guard.IsSet() {
		if err := o.askSite(j, c, e.config.Identity); err != nil {
			return err
		}
	}
	err = e.run(ctx, j, c, stdout, stderr)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; the same command goes on", err)
	}
	return err
}

// takeResult ends the run of an agent that came too late with what another one has found.
func (o *agentOptions) takeResult(c *site.Cluster, log *slog.Logger) error {
	lock, err := o.folder().Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := runs.TakeResult(o.folder(), o.membership(c), o.identity(c), runs.Folder(o.result)); err != nil {
		return fmt.Errorf("-result: %w", err)
	}
	log.Info("the result is that of another agent", "run", c.Run, "from", o.result, "folder", o.folder())
	return nil
}

// identity identifies the run and the agent in its folder.
func (o *agentOptions) identity(c *site.Cluster) string { return c.Hash() + " " + pki.Name(o.agent) }

// servePages serves the monitor's pages at the address of -http, until stop is called.
func (o *agentOptions) servePages(m *monitor, log *slog.Logger) (stop func(), err error) {
	address, err := o.httpAddress(o.agent)
	if err != nil || address == "" {
		return func() {}, err
	}
	bound, stop, err := m.serve(address)
	if err == nil {
		log.Info("serving /livez, /readyz, /healthz and /metrics", "address", bound)
	}
	return stop, err
}

// agentSessions are an agent's part in the run.
type agentSessions struct {
	options  *agentOptions
	config   session.Config
	own      certificate
	screen   *screen // with the audit
	opened   bool    // whether the run folder is this process's
	unfollow func()  // ends the watch for a new certificate
}

// run runs a job in sessions, within the site's policies, and then writes the disclosure and closes
// the audit. It writes none if the agent was never opened: the files in the folder are then another
// process's.
func (e *agentSessions) run(ctx context.Context, j *experiment.Job, c *site.Cluster, stdout,
	stderr io.Writer) (err error) {
	o := e.options
	if o.guard.IsSet() {
		j.Site = o.guard.AddNeed
	}
	e.own.admits = func(id *pki.Identity) error {
		return o.guard.AddNeed(func(r *site.Request) { r.Admits = admitting(c, id) })
	}
	if j.Sent, err = site.OpenTally(o.folder().Path(runs.SentFile)); err != nil {
		return err
	}
	err = peer.Agent{Folder: o.folder(), Own: o.membership(c), Identity: o.identity(c), Sessions: e.config,
		Open: e.open}.Run(ctx, j, stdout, stderr)
	e.unfollow()
	if !e.opened {
		return err
	}
	o.logEnd(e.screen.events, err)
	if failed := o.disclose(c, j.Sent, e.screen.audit.Head(), e.own.identity, err); failed != nil {
		err = errors.Join(err, fmt.Errorf("disclosure: %w", failed))
	}
	if failed := e.screen.audit.Close(); failed != nil {
		err = errors.Join(err, fmt.Errorf("audit: %w", failed))
	}
	return err
}

// logEnd logs the state in which the process ends, its error, and the digest of SHA256SUMS, which
// lists the files of the run folder.
func (o *agentOptions) logEnd(log *slog.Logger, end error) {
	attributes := []any{"state", string(runs.StateOf(end))}
	if end != nil {
		attributes = append(attributes, "reason", cli.OneLine(end))
	}
	if text, err := o.folder().ReadFile(runs.SumsFile); err == nil {
		attributes = append(attributes, runs.SumsFile, fmt.Sprintf("%x", sha256.Sum256(text)))
	}
	log.Info("the process ends", attributes...)
}

// open starts the agent's end of the exchange, opens the audit, and begins to watch the files of
// certificates and removals.
func (e *agentSessions) open(config session.Config) (*session.Agent, error) {
	a, err := session.Open(config)
	if open, ok := errors.AsType[*session.UnprotectedError](err); ok {
		err = dsbo.ConfigErrorf("%s: -certs or -insecure is required", open.Reason)
	}
	if err != nil {
		return nil, err
	}
	e.opened = true
	if err := e.screen.audit.Open(e.options.folder().Path(runs.AuditFile)); err != nil {
		return nil, errors.Join(fmt.Errorf("audit: %w", err), a.Close())
	}
	e.own.monitor.update(func(p *position) { p.status = a.Status })
	if e.options.certs != "" {
		e.unfollow = e.own.watchFiles(a)
	}
	return a, nil
}

func (o *agentOptions) membership(c *site.Cluster) runs.Membership {
	return runs.Membership{Run: c.Run, Hash: c.Hash(), Agent: o.agent, Agents: len(c.Addresses)}
}

// folder returns the agent's own run folder.
func (o *agentOptions) folder() runs.Folder { return o.agentFolder(o.agent) }

// sessionConfig returns the settings of the agent's sessions, without its certificate.
func (o *agentOptions) sessionConfig(c *site.Cluster, s *screen) session.Config {
	config := session.Config{
		Agent: o.agent, Run: c.Run, Hash: c.Hash(), Settings: c.Settings(), Keys: c.Keys,
		Addresses: c.Addresses, Listen: o.listen, Relay: c.Relay, Dial: o.dial(), Insecure: o.insecure,
		Unmasked: !o.mask, SilentAfter: o.silentAfter,
		PeerTimeout: o.peerTimeout, ComputeTimeout: o.computeTimeout, OnDiskHang: s.hung, Admission: o.admission,
		Quorum: c.Quorum, AbsentAfter: c.AbsentAfter, StragglerDeadline: o.straggler,
		FewMembers: o.fewSites || o.attached, LeastMembers: o.guard.LeastSites(), Log: s.events,
	}
	if o.adjust != nil {
		o.adjust(&config)
	}
	return config
}

// agentJob makes the agent's job.
func (p *program) agentJob(o *agentOptions, c *site.Cluster) (*experiment.Job, error) {
	graph := filepath.Join(o.out, "graph.json")
	if data := c.GraphFile(); data != nil {
		if err := files.MkdirAll(o.out); err != nil {
			return nil, dsbo.ConfigErrorf("-out: %w", err)
		}
		if err := files.WriteBytes(graph, data); err != nil {
			return nil, fmt.Errorf("-out: %w", err)
		}
	}
	page := fmt.Sprintf("-report=%t", !o.attached) // which the verb run writes once for all
	args := slices.Concat(c.Args(graph), []string{"-out=" + string(o.folder()), page}, o.own)
	return p.clusterJob(c, args)
}
