package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/experiment"
	"dsbo/experiment/peer"
	"dsbo/internal/disk"
	"dsbo/internal/wording"
	dsbogrpc "dsbo/network/grpc"
	"dsbo/network/membership"
	"dsbo/network/pki"
	"dsbo/runs"
)

// runAgent runs an agent until all agents have finished.
func (p *program) runAgent(ctx context.Context, o agentOptions, c *cluster.Cluster, stdout,
	stderr io.Writer) (err error) {
	m := newMonitor(c.Run, o.agent)
	s, err := newScreen(o, m, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(err)) }()
	finished, all, err := o.folder().AllFinished(o.membership(c))
	if err != nil {
		return err
	}
	if all {
		s.log.Info("all agents have finished", "run", c.Run, "folder", o.folder())
		return nil
	}
	if o.result != "" {
		return o.takeResult(c, s.log)
	}
	stop, err := o.servePages(m, s.log)
	if err != nil {
		return err
	}
	defer stop()
	s.log.Info("starting", "run", c.Run, "agents", len(c.Addresses), "process", os.Getpid())
	if o.insecure && (!o.attached || o.agent == 0) { // of those that the verb run starts one speaks for all
		s.log.Warn(
			"-insecure: connections are not protected, and whoever reaches this agent's port can take part in the run")
	}
	j, err := p.agentJob(&o, c)
	if err != nil {
		return err
	}
	j.View = s
	noisy := j.Settings.Privacy != nil
	e := agentExchange{options: &o, config: o.exchangeConfig(c, s), noisy: noisy,
		own: certificate{files: pki.Files{Folder: o.certs, Agent: o.agent}, log: s.log, monitor: m}}
	e.config.Finished = finished
	if o.certs != "" {
		if e.config.Identity, err = e.own.load(time.Now()); err != nil {
			return err
		}
	}
	if o.attached {
		stdout = nil // the verb run writes the page and the table once for all
	}
	err = e.run(ctx, j, c, stdout, stderr)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; the same command goes on", err)
	}
	return err
}

// takeResult ends the run of an agent that was left out with what another one has found.
func (o *agentOptions) takeResult(c *cluster.Cluster, log *slog.Logger) error {
	verify := membership.VerifyKey
	if o.certs != "" {
		id, err := pki.Load(o.certs, o.agent, time.Now())
		if err == nil {
			id, err = id.InRun(c.Run, c.Keys)
		}
		if err != nil {
			return fmt.Errorf("-certs: %w", err)
		}
		verify = func(text []byte, s membership.Signature, at time.Time) error {
			_, err := id.Verify(s.Agent, s.Certificate, text, s.Signature, at)
			return err
		}
	}
	lock, err := o.folder().Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	own := o.membership(c)
	council := membership.Council{Run: own.Run, Settings: own.Hash, Quorum: c.Quorum}
	if err := o.folder().TakeResult(own, council, verify, o.identity(c), runs.Folder(o.result)); err != nil {
		return fmt.Errorf("-result: %w", err)
	}
	log.Info("the result is that of another agent", "run", c.Run, "from", o.result, "folder", o.folder())
	return nil
}

// identity stands for the run and the agent in its folder.
func (o *agentOptions) identity(c *cluster.Cluster) string { return c.Hash() + " " + pki.Name(o.agent) }

// servePages serves the monitor's pages where -http says, until stop is called.
func (o *agentOptions) servePages(m *monitor, log *slog.Logger) (stop func(), err error) {
	address, err := o.httpAddress(o.agent)
	if err != nil || address == "" {
		return func() {}, err
	}
	bound, stop, err := m.serve(address)
	if err == nil {
		log.Info("serving /healthz and /metrics", "address", bound)
	}
	return stop, err
}

// An agentExchange is an agent's end of the exchange.
type agentExchange struct {
	options  *agentOptions
	config   dsbogrpc.Config
	own      certificate
	noisy    bool   // what the agent sends is another in each run
	unfollow func() // ends the watch for a new certificate; nil: there is none
}

// run runs a job over the exchange.
func (e *agentExchange) run(ctx context.Context, j *experiment.Job, c *cluster.Cluster, stdout,
	stderr io.Writer) (err error) {
	if e.config.Fingerprint, err = wording.BuildDigest(); err != nil {
		return err
	}
	if c.Quorum > 0 {
		e.config.Membership = &dsbogrpc.Membership{Quorum: c.Quorum, AbsentAfter: c.AbsentAfter,
			StragglerDeadline: e.options.straggler, FewMembers: e.options.fewSites || e.options.attached}
	}
	o := e.options
	err = peer.Agent{
		Folder: o.folder(), Own: o.membership(c), Identity: o.identity(c),
		Exchange: e.config, Open: e.open,
	}.Run(ctx, j, stdout, stderr)
	if e.unfollow != nil {
		e.unfollow()
	}
	return err
}

// open opens the agent's end of the exchange, and renews its certificate when the file changes.
func (e *agentExchange) open(config dsbogrpc.Config) (*dsbogrpc.Mixer, error) {
	m, err := e.options.openExchange(config, e.noisy)
	if err != nil {
		return nil, err
	}
	e.own.monitor.update(func(p *position) { p.status = m.Status })
	if e.options.certs != "" {
		e.unfollow = e.own.watchFiles(m.Renew)
	}
	return m, nil
}

// openExchange opens the agent's end of the exchange, where -listen says if it is given. Without
// certificates, masks need a secret, and so they do where noise makes what the agent sends another
// in each run.
func (o *agentOptions) openExchange(config dsbogrpc.Config, noisy bool) (_ *dsbogrpc.Mixer, err error) {
	if o.listen != "" {
		if config.Listener, err = net.Listen("tcp", o.listen); err != nil {
			return nil, fmt.Errorf("-listen: %w", err)
		}
	}
	if (o.certs == "" || noisy) && o.mask && config.Validate() == nil { // else Open fails, and no file is left
		if config.Secret, err = o.maskSecret(noisy); err != nil {
			if config.Listener != nil {
				err = errors.Join(err, config.Listener.Close())
			}
			return nil, err
		}
	}
	mixer, err := dsbogrpc.Open(config)
	if open, ok := errors.AsType[*dsbogrpc.UnprotectedError](err); ok {
		err = dsbo.ConfigErrorf("%s: -certs or -insecure is required", open.Reason)
	}
	return mixer, err
}

// maskSecret returns the random bytes of the agent's masks, which an agent that comes back has
// again. The bytes of noisy numbers belong to the run folder, in which the noise is: without one,
// what is there was of another run.
func (o *agentOptions) maskSecret(noisy bool) ([]byte, error) {
	path := string(o.folder()) + secretSuffix
	if noisy {
		state, err := o.folder().State()
		if err != nil {
			return nil, err
		}
		if state == runs.Absent {
			if err := os.RemoveAll(path); err != nil {
				return nil, err
			}
		}
	}
	return readSecret(path)
}

func (o *agentOptions) membership(c *cluster.Cluster) runs.Membership {
	return runs.Membership{Run: c.Run, Hash: c.Hash(), Agent: o.agent, Agents: len(c.Addresses)}
}

// folder returns the agent's own run folder.
func (o *agentOptions) folder() runs.Folder { return o.agentFolder(o.agent) }

// exchangeConfig returns the settings of the agent's end of the exchange, without its certificate.
func (o *agentOptions) exchangeConfig(c *cluster.Cluster, s *screen) dsbogrpc.Config {
	config := dsbogrpc.Config{
		Agent: o.agent, Run: c.Run, Hash: c.Hash(), Settings: c.Settings(), Keys: c.Keys,
		Addresses: c.Addresses, Relay: c.Relay, Insecure: o.insecure, Unmasked: !o.mask,
		KeepFrames: o.keepFrames, KeepBytes: int64(o.keepMiB) << 20, SilentAfter: o.silentAfter,
		PeerTimeout:    o.peerTimeout,
		ComputeTimeout: o.computeTimeout, DelayBudget: o.delayBudget, OnDiskHang: s.hung, Admission: o.admission,
		Log: s.log,
	}
	if o.adjust != nil {
		o.adjust(&config)
	}
	return config
}

// agentJob makes the agent's job.
func (p *program) agentJob(o *agentOptions, c *cluster.Cluster) (*experiment.Job, error) {
	graph := filepath.Join(o.out, "graph.json")
	if data := c.GraphFile(); data != nil {
		if err := disk.MkdirAll(o.out); err != nil {
			return nil, dsbo.ConfigErrorf("-out: %w", err)
		}
		if err := disk.WriteBytes(graph, data); err != nil {
			return nil, fmt.Errorf("-out: %w", err)
		}
	}
	page := fmt.Sprintf("-report=%t", !o.attached) // which the verb run writes once for all
	args := slices.Concat(c.Args(graph), []string{"-out=" + string(o.folder()), page}, o.own)
	return p.clusterJob(c, args)
}
