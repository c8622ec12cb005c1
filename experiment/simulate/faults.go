package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// A fault is something that happens to a run, for a time or at a moment.
type fault interface {
	begin(w *world)
	end(w *world) // ends what lasts
	String() string
}

// injectFaults has faults happen until the case's calm or the end of ctx, after which all that
// lasts has ended.
func (w *world) injectFaults(ctx context.Context) {
	var lasting sync.WaitGroup
	defer lasting.Wait()
	over := ctx
	ctx, cancel := context.WithDeadline(ctx, begin.Add(w.Calm))
	defer cancel()
	for i, n := range w.Newcomers {
		lasting.Go(func() {
			if n.lost >= 0 && sleep(ctx, n.at+n.after) {
				f := loss{agent: n.lost, silent: w.draw.of("newcomer", int64(i)).chance(0.5), down: n.down}
				w.trace.note("fault: %v", f)
				f.begin(w)
			}
		})
	}
	if w.Endless {
		lasting.Go(func() { w.lies.endless(ctx, over, w) })
	}
	for k := 0; ; k++ {
		d := w.draw.of("fault", int64(k))
		if !sleep(ctx, d.of("pause").exponential(w.Pause)) {
			return
		}
		f, lasts := w.choose(d), d.of("lasts").between(w.Latency, w.Calm/4)
		w.trace.note("fault: %v for %v", f, lasts)
		f.begin(w)
		lasting.Go(func() {
			sleep(ctx, lasts)
			f.end(w)
			w.trace.note("end of: %v", f)
		})
	}
}

// sleep waits, and reports whether ctx lasts longer.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// choose draws a fault.
func (w *world) choose(d draw) fault {
	n := len(w.machines)
	agent, down := d.of("agent").below(n), d.of("down").between(w.Second, max(60*w.Second, w.Calm/10))
	other := (agent + 1 + d.of("other").below(n-1)) % n
	if len(w.Liars) > 0 && d.of("lie").chance(0.6) {
		return w.lies.fault(w, d)
	}
	if w.Quorum > 0 && d.of("absence").chance(0.3) {
		return absence{agent, other,
			among(d.of("after"), 0, w.AbsentAfter) + d.of("then").between(w.Second, w.SilentAfter),
			d.of("absent").between(w.AbsentAfter/2, 4*w.AbsentAfter), down, w.mayForget(agent) &&
				d.of("disk").chance(0.5)}
	}
	if w.StragglerDeadline > 0 && d.of("slowness").chance(0.4) {
		return slowness{agent, min(d.of("computes").between(w.StragglerDeadline/2, 8*w.StragglerDeadline),
			time.Until(begin.Add(w.Calm)))}
	}
	switch u := d.of("kind").uniform(); {
	case u < 0.3:
		return loss{agent, d.of("silent").chance(0.5), d.of("rot").chance(0.2) && w.forgets(agent), down}
	case u < 0.4:
		return blackout{d.of("downs"), down}
	case u < 0.5:
		return interruption{agent, down}
	case u < 0.6:
		return stall{agent}
	case u < 0.65 && len(w.Liars) == 0: // else its error is not the liar's
		return fullDisk{agent}
	case u < 0.7:
		return slowDisk{agent}
	case u < 0.8:
		return reset{agent, other}
	case u < 0.87:
		return &oneWay{agent, other}
	default:
		return &partition{1 + d.of("side").below(1<<n-2)}
	}
}

// A loss is an agent that is killed, and started again after a time.
type loss struct {
	agent  int
	silent bool // the machine loses its power too
	rot    bool // the disk damages the newest checkpoint
	down   time.Duration
}

func (f loss) begin(w *world) {
	m := w.machines[f.agent]
	m.crash(f.silent, f.down)
	if f.rot {
		m.drive.rot(m.of("rot", m.agent, m.lives))
	}
}
func (loss) end(*world) {}
func (f loss) String() string {
	return fmt.Sprintf("agent %d is lost (silently: %v, with its newest checkpoint: %v) and down for %v", f.agent,
		f.silent, f.rot, f.down)
}

// An absence is an agent that is lost for about as long as others wait for it, with another one
// that is lost as they do, or as they leave it out.
type absence struct {
	agent, other int
	then         time.Duration // from one loss to the other
	down, short  time.Duration
	disk         bool // the agent comes back without its disk
}

func (f absence) begin(w *world) {
	m := w.machines[f.agent]
	m.crash(true, f.down)
	if w.ending.Lock(); f.disk && !w.safe && w.forgets(f.agent) { // else what is lost is the result, or the last state
		m.drive.erase()
	}
	w.ending.Unlock()
	time.AfterFunc(f.then, func() {
		if time.Since(begin) < w.Calm {
			w.trace.note("fault: agent %d is lost too", f.other)
			w.machines[f.other].crash(false, f.short)
		}
	})
}
func (absence) end(*world) {}
func (f absence) String() string {
	return fmt.Sprintf("agent %d is absent for %v (without its disk: %v), and after %v agent %d for %v", f.agent,
		f.down, f.disk, f.then, f.other, f.short)
}

// mayForget reports whether an agent may lose its disk, and with it its votes: one agent where any
// two quorums share two.
func (w *world) mayForget(agent int) bool {
	n := len(w.machines)
	return 2*w.Quorum-n >= 2 && agent == w.draw.of("forgets").below(n)
}

// forgetful are the agents that lose checkpoints in a run.
type forgetful struct {
	mu     sync.Mutex
	agents map[int]bool
}

// forgets notes that an agent loses a checkpoint, unless the last copy could be lost then of the
// state with which an epoch begins: where members change, a quorum stays, and one of these must be
// an agent that loses nothing.
func (w *world) forgets(agent int) bool {
	f := &w.forgetful
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.Quorum > 0 && !f.agents[agent] && len(f.agents) == w.Quorum-1 {
		return false
	}
	if f.agents == nil {
		f.agents = map[int]bool{}
	}
	f.agents[agent] = true
	return true
}

// A blackout is the loss of all machines.
type blackout struct {
	draw draw
	down time.Duration // at most
}

func (f blackout) begin(w *world) {
	for i, m := range w.machines {
		m.crash(true, f.draw.of("down", int64(i)).between(w.Second, f.down))
	}
}
func (blackout) end(*world) {}
func (f blackout) String() string {
	return fmt.Sprintf("all agents are lost and down for up to %v", f.down)
}

// An interruption has an agent stop in good order.
type interruption struct {
	agent int
	down  time.Duration
}

func (f interruption) begin(w *world) { w.machines[f.agent].interrupt(f.down) }
func (interruption) end(*world)       {}
func (f interruption) String() string {
	return fmt.Sprintf("agent %d is interrupted and down for %v", f.agent, f.down)
}

// A stall has a machine stand still for a time.
type stall struct{ agent int }

func (f stall) begin(w *world) { w.machines[f.agent].freeze(true) }
func (f stall) end(w *world)   { w.machines[f.agent].freeze(false) }
func (f stall) String() string { return fmt.Sprintf("agent %d stands still", f.agent) }

// A slowness has an agent compute for about as long as others wait for that. Its process is there
// meanwhile, and says so.
type slowness struct {
	agent int
	takes time.Duration
}

func (f slowness) begin(w *world) {
	m := w.machines[f.agent]
	m.slow(true)
	time.AfterFunc(f.takes, func() { m.slow(false) })
}
func (slowness) end(*world)       {}
func (f slowness) String() string { return fmt.Sprintf("agent %d computes for %v", f.agent, f.takes) }

// A reset breaks the connections of two agents.
type reset struct{ a, b int }

func (f reset) begin(w *world) { w.network.Reset(w.machines[f.a].name, w.machines[f.b].name) }
func (reset) end(*world)       {}
func (f reset) String() string {
	return fmt.Sprintf("connections of agents %d and %d are reset", f.a, f.b)
}

// A cut is a fault that cuts directions of links.
type cut interface {
	fault
	cuts(from, to int) bool
}

// A oneWay cuts what one agent sends to another one.
type oneWay struct{ from, to int }

func (f *oneWay) begin(w *world)         { w.cuts.add(w, f) }
func (f *oneWay) end(w *world)           { w.cuts.remove(w, f) }
func (f *oneWay) cuts(from, to int) bool { return from == f.from && to == f.to }
func (f *oneWay) String() string {
	return fmt.Sprintf("nothing reaches agent %d from %d", f.to, f.from)
}

// A partition cuts some agents off from the others.
type partition struct {
	side int // a bit for each agent
}

func (f *partition) begin(w *world)         { w.cuts.add(w, f) }
func (f *partition) end(w *world)           { w.cuts.remove(w, f) }
func (f *partition) cuts(from, to int) bool { return f.side>>from&1 != f.side>>to&1 }
func (f *partition) String() string         { return fmt.Sprintf("a partition, %b", f.side) }

// cuts are the present cuts.
type cuts struct {
	mu  sync.Mutex
	all map[cut]bool
}

func (c *cuts) add(w *world, f cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[cut]bool{}
	}
	c.all[f] = true
	c.cutLinks(w)
}

func (c *cuts) remove(w *world, f cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, f)
	c.cutLinks(w)
}

// cutLinks gives the network the cuts of the moment, of which it asks by names.
func (c *cuts) cutLinks(w *world) {
	all, number := slices.Collect(maps.Keys(c.all)), map[string]int{}
	for i, m := range w.machines {
		number[m.name] = i
	}
	w.network.Cut(func(from, to string) bool {
		return slices.ContainsFunc(all, func(f cut) bool { return f.cuts(number[from], number[to]) })
	})
}
