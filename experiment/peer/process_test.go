package peer

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/testkit"
	"dsbo/network/session"
	"dsbo/runs"
)

// simulated is the name of all runs, and port where their agents listen.
const simulated, port = "simulated", "7000"

// fixed are the flags of all simulated runs.
var fixed = []string{"-quiet", "-report=false", "-rivals=false", "-batch=0", "-dtype=float64"}

// A process is an agent's, from its start to its end.
type process struct {
	*machine
	life    int
	host    *testkit.Host
	running context.Context // ends when it is to stop, or is killed
	stop    context.CancelFunc
	killed  bool                          // guarded by the machine's lock
	opened  atomic.Pointer[session.Agent] // nil before it meets the others
}

// run does what the verb agent does, with the simulation's clock, wires and disk.
func (p *process) run() error {
	own := p.own()
	if final, err := runs.Folder(p.dir).IsFinal(own); err != nil || final {
		return err
	}
	j, err := experiment.Parse(p.task, slices.Concat(fixed, p.Flags, []string{"-out=" + p.dir}), io.Discard)
	if err != nil {
		return err
	}
	if j.Sent, err = site.OpenTally(runs.Folder(p.dir).Path(runs.SentFile)); err != nil {
		return err
	}
	j.View = viewer{p}
	c := p.Config
	c.Agent, c.Run, c.Hash, c.Addresses, c.Identity, c.Admission = p.agent, own.Run, own.Hash, p.addresses, p.identity,
		p.admission
	c.ComputeTimeout, c.FewMembers, c.Dial, c.Log = p.Limit, true, p.host.Dial, p.log.With("agent", p.agent)
	c.OnDiskHang = func(error) { p.crash(Killed, 0) } // as os.Exit does
	if p.wrap != nil {
		c.Wrap = func(to int, s session.Sender) session.Sender { return p.wrap(p.agent, to, s) }
	}
	if p.admission == "" { // else nobody connects to it
		if c.Listener, err = p.host.Listen(port); err != nil {
			return err
		}
	}
	err = Agent{
		Folder: runs.Folder(p.dir), Own: own, Identity: fmt.Sprint("simulated agent ", p.agent), Sessions: c,
		Open: func(c session.Config) (*session.Agent, error) {
			a, err := session.Open(c)
			p.opened.Store(a)
			return a, err
		},
	}.Run(p.running, j, nil, io.Discard)
	if err == nil {
		err = j.Sent.Finish()
	}
	return err
}

// spend has the process spend so much time, and stand still with its machine. It returns when it
// is killed.
func (p *process) spend(d time.Duration) {
	sleep(p.running, d)
	p.await(Frozen)
}

// await waits for the end of all faults of a kind. It returns when the process is killed.
func (p *process) await(k Kind) {
	for {
		all := p.present(k, p.agent)
		if all == nil || !sleep(p.running, time.Until(begin.Add(all[0].At+all[0].Lasts))) {
			return
		}
	}
}

// A viewer has a job take time where it would show how far it is.
type viewer struct{ *process }

// Show implements [experiment.Viewer], as do the methods after it.
func (v viewer) Show(experiment.Progress) {
	v.spend(v.draw.now("step", v.agent).between(v.Step/100, v.Step))
	v.await(Busy)
}

func (v viewer) Log(format string, args ...any) {
	v.log.Debug(fmt.Sprintf(format, args...), "agent", v.agent)
}
func (v viewer) Note(n experiment.Note)           { v.Log("%s", n.Name) }
func (v viewer) Record(r runs.Record, _ []string) { v.Log("record of iteration %d", r.Iteration) }
func (v viewer) Saved(iteration int)              { v.Log("checkpoint of iteration %d", iteration) }
func (viewer) Stop()                              {}
