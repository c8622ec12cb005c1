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
type fault struct {
	text  string
	begin func()
	end   func() // ends what lasts; nil: nothing does
}

// lasting returns a fault that begins and ends.
func lasting(text string, change func(begins bool)) fault {
	return fault{text, func() { change(true) }, func() { change(false) }}
}

// injectFaults has faults happen until the case's calm or the end of ctx, after which all that
// lasts has ended.
func (w *world) injectFaults(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	over := ctx
	ctx, cancel := context.WithDeadline(ctx, begin.Add(w.Calm))
	defer cancel()
	for i, n := range w.Newcomers {
		all.Go(func() {
			if n.lost >= 0 && sleep(ctx, n.at+n.after) {
				f := w.loss(n.lost, w.draw.of("newcomer", int64(i)).chance(0.5), false, n.down)
				w.trace.note("fault: %s", f.text)
				f.begin()
			}
		})
	}
	if w.Endless {
		all.Go(func() { w.lies.endless(ctx, over, w) })
	}
	for k := 0; ; k++ {
		d := w.draw.of("fault", int64(k))
		if !sleep(ctx, d.of("pause").exponential(w.Pause)) {
			return
		}
		f, lasts := w.choose(d), d.of("lasts").between(w.Latency, w.Calm/4)
		w.trace.note("fault: %s for %v", f.text, lasts)
		f.begin()
		all.Go(func() {
			if sleep(ctx, lasts); f.end != nil {
				f.end()
			}
			w.trace.note("end of: %s", f.text)
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
	other, m := (agent+1+d.of("other").below(n-1))%n, w.machines[agent]
	if len(w.Liars) > 0 && d.of("lie").chance(0.6) {
		return w.lies.fault(w, d)
	}
	if w.Quorum > 0 && d.of("absence").chance(0.3) {
		return w.absence(d, agent, other, down)
	}
	if w.StragglerDeadline > 0 && d.of("slowness").chance(0.4) {
		return m.slowness(min(d.of("computes").between(w.StragglerDeadline/2, 8*w.StragglerDeadline),
			time.Until(begin.Add(w.Calm))))
	}
	switch u := d.of("kind").uniform(); {
	case u < 0.3:
		return w.loss(agent, d.of("silent").chance(0.5), d.of("rot").chance(0.2) && w.forgets(agent), down)
	case u < 0.4:
		return w.blackout(d.of("downs"), down)
	case u < 0.5: // it stops in good order
		return fault{fmt.Sprintf("agent %d is interrupted and down for %v", agent, down),
			func() { m.interrupt(down) }, nil}
	case u < 0.6:
		return lasting(fmt.Sprintf("agent %d stands still", agent), m.freeze)
	case u < 0.65 && len(w.Liars) == 0: // else its error is not the liar's
		return lasting("the disk of "+m.name+" is full", m.drive.fill)
	case u < 0.7:
		return lasting("the disk of "+m.name+" is slow", m.drive.slowDown)
	case u < 0.8:
		return fault{fmt.Sprintf("connections of agents %d and %d are reset", agent, other),
			func() { w.network.Reset(m.name, w.machines[other].name) }, nil}
	case u < 0.87:
		return w.cut(fmt.Sprintf("nothing reaches agent %d from %d", other, agent),
			func(from, to int) bool { return from == agent && to == other })
	}
	return w.partition(1 + d.of("side").below(1<<n-2))
}

// loss is an agent that is killed, and started again after a time: if it is silent the machine
// loses its power too, and with rot the disk damages the newest checkpoint.
func (w *world) loss(agent int, silent, rot bool, down time.Duration) fault {
	return fault{fmt.Sprintf("agent %d is lost (silently: %v, with its newest checkpoint: %v) and down for %v", agent,
		silent, rot, down), func() {
		m := w.machines[agent]
		m.crash(silent, down)
		if rot {
			m.drive.rot(m.of("rot", m.agent, m.lives))
		}
	}, nil}
}

// absence is an agent that is lost for about as long as others wait for it, and may come back
// without its disk; with another one that is lost for a short time as they do, or as they leave it
// out.
func (w *world) absence(d draw, agent, other int, short time.Duration) fault {
	then := among(d.of("after"), 0, w.AbsentAfter) + d.of("then").between(w.Second, w.SilentAfter)
	down := d.of("absent").between(w.AbsentAfter/2, 4*w.AbsentAfter)
	withoutDisk := w.mayForget(agent) && d.of("disk").chance(0.5)
	return fault{fmt.Sprintf("agent %d is absent for %v (without its disk: %v), and after %v agent %d for %v", agent,
		down, withoutDisk, then, other, short), func() {
		m := w.machines[agent]
		m.crash(true, down)
		// else what is lost is the result, or the last state
		if w.ending.Lock(); withoutDisk && !w.safe && w.forgets(agent) {
			m.drive.erase()
		}
		w.ending.Unlock()
		time.AfterFunc(then, func() {
			if time.Since(begin) < w.Calm {
				w.trace.note("fault: agent %d is lost too", other)
				w.machines[other].crash(false, short)
			}
		})
	}, nil}
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
	f.agents[agent] = true
	return true
}

// blackout is the loss of all machines, for a time at most.
func (w *world) blackout(d draw, most time.Duration) fault {
	return fault{fmt.Sprintf("all agents are lost and down for up to %v", most), func() {
		for i, m := range w.machines {
			m.crash(true, d.of("down", int64(i)).between(w.Second, most))
		}
	}, nil}
}

// slowness has an agent compute for about as long as others wait for that. Its process is there
// meanwhile, and says so.
func (m *machine) slowness(takes time.Duration) fault {
	return fault{fmt.Sprintf("agent %d computes for %v", m.agent, takes), func() {
		m.slow(true)
		time.AfterFunc(takes, func() { m.slow(false) })
	}, nil}
}

// partition cuts some agents off from the others; side has a bit for each agent.
func (w *world) partition(side int) fault {
	return w.cut(fmt.Sprintf("a partition, %b", side),
		func(from, to int) bool { return side>>from&1 != side>>to&1 })
}

// A cut says which directions of links between agents are cut.
type cut func(from, to int) bool

// cuts are the present cuts.
type cuts struct {
	mu  sync.Mutex
	all map[*cut]bool
}

// cut is a fault that cuts directions of links. The network asks for them by names.
func (w *world) cut(text string, f cut) fault {
	number := map[string]int{}
	for i, m := range w.machines {
		number[m.name] = i
	}
	c := &w.cuts
	return lasting(text, func(begins bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.all, &f); begins {
			c.all[&f] = true
		}
		all := slices.Collect(maps.Keys(c.all))
		w.network.Cut(func(from, to string) bool {
			return slices.ContainsFunc(all, func(f *cut) bool { return (*f)(number[from], number[to]) })
		})
	})
}
