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
	"dsbo/network/session"
	"dsbo/runs"
)

// simulated is the name of all runs.
const simulated = "simulated"

// port is where all agents listen.
const port = "7000"

// fixed are the flags of all simulated runs.
var fixed = []string{"-quiet", "-report=false", "-batch=0", "-dtype=float64"}

// hash stands for the run's settings.
func (w *world) hash() string { return fmt.Sprint(w.Seed) }

// own names the run, and the machine's agent in it.
func (m *machine) own() runs.Membership {
	return runs.Membership{Run: simulated, Hash: m.hash(), Agent: m.agent, Agents: m.Agents}
}

// run does what the verb agent does, with the simulation's clock, wires and disk.
func (p *process) run() error {
	own := p.own()
	if final, err := runs.Folder(p.dir).IsFinal(own); err != nil || final {
		return err
	}
	j, err := experiment.Parse(*p.task, slices.Concat(p.Flags, fixed, []string{"-out=" + p.dir}), io.Discard)
	if err != nil {
		return err
	}
	j.View = viewer{p}
	return peer.Agent{
		Folder: runs.Folder(p.dir), Own: own, Identity: fmt.Sprint("simulated agent ", p.agent), Open: p.open,
		Sessions: session.Config{
			Agent: p.agent, Run: own.Run, Hash: own.Hash, Addresses: p.addresses, Dial: p.dial, Identity: p.identity,
			Unmasked: p.Unmasked, Heartbeat: p.Heartbeat, SilentAfter: p.SilentAfter, Grace: p.Grace,
			PeerTimeout: p.Patience, ComputeTimeout: p.Limit, OnDiskHang: p.exit, Quorum: p.Quorum,
			AbsentAfter: p.AbsentAfter, StragglerDeadline: p.StragglerDeadline, FewMembers: true,
			Admission: p.admission, Log: p.trace.logger(p.agent), Wrap: p.sender,
		},
	}.Run(p.running, j, nil, io.Discard)
}

// dial connects to another agent, wherever its machine is.
func (p *process) dial(ctx context.Context, address string) (net.Conn, error) {
	return p.host.Dial(ctx, p.addressNow(address))
}

// sender returns what sends the agent's frames to another one.
func (p *process) sender(to int, s session.Sender) session.Sender {
	if p.wrap == nil {
		return s
	}
	return p.wrap(p.agent, to, s)
}

// open has the agent meet the others.
func (p *process) open(c session.Config) (a *session.Agent, err error) {
	if p.admission == "" { // nobody connects to an agent that is admitted
		if c.Listener, err = p.host.Listen(port); err != nil {
			return nil, err
		}
	}
	if a, err = session.Open(c); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened = a
	return a, nil
}

// exit ends the process at once, as os.Exit does.
func (p *process) exit(err error) {
	if p.alive.Err() == nil {
		p.trace.note("agent %d: process %d exits: %v", p.agent, p.life, err)
		p.crash(false, 0)
	}
}

// A viewer has a job take time where it would show how far it is.
type viewer struct{ *process }

// Show implements [experiment.Viewer].
func (v viewer) Show(experiment.Progress) {
	since := int64(time.Since(begin))
	v.spend(v.of("step", v.agent).of("moment", since).exponential(v.Step / 4))
	v.await(busy)
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
