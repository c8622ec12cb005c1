package simulate

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"dsbo/experiment"
	"dsbo/experiment/peer"
	"dsbo/network/grpc"
	"dsbo/network/pki"
	"dsbo/runs"
)

// simulated is the name of all runs.
const simulated = "simulated"

// port is where all agents listen.
const port = "7000"

// run does what the verb agent does, with the simulation's clock, wires and disk.
func (p *process) run() error {
	own := runs.Membership{Run: simulated, Hash: p.hash(), Agent: p.agent, Agents: p.Agents}
	finished, told, err := runs.Folder(p.dir).AllFinished(own)
	if err != nil || told {
		return err
	}
	j, err := experiment.Parse(*p.task, slices.Concat(p.Flags, fixed, []string{"-out=" + p.dir}), io.Discard)
	if err != nil {
		return err
	}
	j.View = viewer{p}
	return peer.Agent{
		Folder: runs.Folder(p.dir), Own: own, Identity: fmt.Sprint("simulated agent ", p.agent),
		Exchange: grpc.Config{
			Agent: p.agent, Run: own.Run, Hash: own.Hash, Addresses: p.addresses,
			Dial:     func(ctx context.Context, address string) (net.Conn, error) { return p.host.Dial(ctx, address) },
			Identity: p.identity, Unmasked: p.Unmasked,
			KeepFrames: p.KeepFrames, Heartbeat: p.Heartbeat, SilentAfter: p.SilentAfter, PeerTimeout: p.Patience,
			ComputeTimeout: p.Limit,
			DelayBudget:    p.DelayBudget,
			OnDiskHang:     func(err error) { p.exit(err) },
			Membership:     p.council(),
			Admission:      p.admission,
			Finished:       finished,
			Log:            p.trace.logger(p.agent),
			Wrap:           p.sender,
		},
		Open: p.open,
		Known: func() {
			p.ending.Lock()
			defer p.ending.Unlock()
			p.safe = true
		},
	}.Run(p.running, j, nil, io.Discard)
}

// fixed are the flags of all simulated runs.
var fixed = []string{"-quiet", "-report=false", "-batch=0", "-dtype=float64"}

// hash stands for the run's settings.
func (w *world) hash() string { return fmt.Sprint(w.Seed) }

// open opens the agent's end of the exchange.
func (p *process) open(c grpc.Config) (m *grpc.Mixer, err error) {
	if p.admission == "" { // nobody connects to an agent that is admitted
		if c.Listener, err = p.host.Listen(port); err != nil {
			return nil, err
		}
	}
	if m, err = grpc.Open(c); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mixer = m
	return m, nil
}

// council returns what the agent needs to have members leave and come back, nil if all stay.
func (p *process) council() *grpc.Membership {
	if p.Quorum == 0 {
		return nil
	}
	drawn := 0
	return &grpc.Membership{Quorum: p.Quorum, AbsentAfter: p.AbsentAfter, StragglerDeadline: p.StragglerDeadline,
		FewMembers: true,
		Draw: func() uint64 {
			drawn++
			return uint64(p.of("council", p.agent, p.life, drawn))
		}}
}

// exit ends the process at once, as os.Exit does.
func (p *process) exit(err error) {
	if p.alive.Err() != nil {
		return
	}
	p.trace.note("agent %d: process %d exits: %v", p.agent, p.life, err)
	p.crash(false, 0)
}

// A viewer has a job take time where it would show how far it is.
type viewer struct{ *process }

// Show implements [experiment.Viewer].
func (v viewer) Show(experiment.Progress) {
	since := int64(time.Since(begin))
	v.spend(v.of("step", v.agent).of("moment", since).exponential(v.Step / 4))
	v.await(&v.busy)
}

// Log implements [experiment.Viewer].
func (v viewer) Log(format string, args ...any) {
	v.trace.note("agent %d: "+format, append([]any{v.agent}, args...)...)
}

// Note implements [experiment.Viewer].
func (v viewer) Note(n experiment.Note) { v.Log("%s", n.Name) }

// Record implements [experiment.Viewer].
func (v viewer) Record(r runs.Record, _ []string) { v.Log("record of iteration %d", r.Iteration) }

// Saved implements [experiment.Viewer].
func (v viewer) Saved(iteration int) { v.Log("checkpoint of iteration %d", iteration) }

// Stop implements [experiment.Viewer].
func (viewer) Stop() {}

// certificates are the certificates of all simulated agents, which are valid as long as any run may
// take, and the authority that has signed them.
type certificates struct {
	authority *pki.Authority
	of        []*pki.Identity
}

func newCertificates(n int) (c *certificates, err error) {
	from, until := begin.AddDate(-1, 0, 0), begin.AddDate(100, 0, 0)
	c = &certificates{of: make([]*pki.Identity, n)}
	if c.authority, err = pki.NewAuthority("simulation", from, until); err != nil {
		return nil, err
	}
	for i := range c.of {
		if c.of[i], err = c.authority.Issue(i, from, until, simulated); err != nil {
			return nil, err
		}
	}
	return c, nil
}
