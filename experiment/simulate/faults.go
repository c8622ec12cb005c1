package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"dsbo/runs"
)

// A fault is something that happens to a run, for a time or at a moment.
type fault struct {
	text  string
	begin func()
	end   func() // ends what lasts; nil: nothing does
}

// injectFaults has faults happen until the case's calm or the end of ctx, after which all that
// lasts has ended.
func (w *world) injectFaults(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithDeadline(ctx, begin.Add(w.Calm))
	defer cancel()
	for i, n := range w.Newcomers {
		w.trouble(n.at)
		all.Go(func() {
			if n.lost >= 0 && sleep(ctx, n.at+n.after) {
				w.happen(w.loss(n.lost, w.draw.of("newcomer", int64(i)).chance(0.5), n.down))
			}
		})
	}
	for k := 0; ; k++ {
		d := w.draw.of("fault", int64(k))
		if !sleep(ctx, d.of("pause").exponential(w.Pause)) {
			return
		}
		f, lasts := w.choose(d), d.of("lasts").between(w.Latency, w.Calm/4)
		w.happen(f)
		all.Go(func() {
			if sleep(ctx, lasts); f.end != nil {
				f.end()
				w.trouble(0)
				w.trace.note("end of: %s", f.text)
			}
		})
	}
}

func (w *world) happen(f fault) {
	w.trace.note("fault: %s", f.text)
	f.begin()
	w.trouble(0)
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
	if w.Quorum > 0 && d.of("absence").chance(0.3) {
		return w.absence(d, agent, other, down)
	}
	if w.StragglerDeadline > 0 && d.of("slowness").chance(0.4) {
		return m.slowness(min(d.of("computes").between(w.StragglerDeadline/2, 8*w.StragglerDeadline),
			time.Until(begin.Add(w.Calm))))
	}
	switch u := d.of("kind").uniform(); {
	case u < 0.3:
		return w.loss(agent, d.of("silent").chance(0.5), down).withDisk(m, d)
	case u < 0.4:
		return w.blackout(d.of("downs"), down)
	case u < 0.5: // it stops in good order
		return fault{fmt.Sprintf("agent %d is interrupted and down for %v", agent, down),
			func() { m.interrupt(down) }, nil}
	case u < 0.6:
		return m.lasting(frozen, "stands still")
	case u < 0.65:
		return m.lasting(fullDisk, "has a full disk")
	case u < 0.7:
		return m.lasting(slowDisk, "has a slow disk")
	case u < 0.8:
		return fault{fmt.Sprintf("connections of agents %d and %d are reset", agent, other),
			func() { w.network.Reset(m.name, w.machines[other].name) }, nil}
	case u < 0.87:
		return w.cut(fmt.Sprintf("nothing reaches agent %d from %d", other, agent),
			func(from, to int) bool { return from == agent && to == other })
	}
	return w.partition(1 + d.of("side").below(1<<n-2))
}

// lasting is a fault of a machine that begins and ends.
func (m *machine) lasting(k kind, text string) fault {
	return fault{fmt.Sprintf("agent %d %s", m.agent, text), func() { m.setFault(k, true) },
		func() { m.setFault(k, false) }}
}

// loss is an agent that is killed, and started again after a time: if it is silent the machine
// loses its power too.
func (w *world) loss(agent int, silent bool, down time.Duration) fault {
	return fault{fmt.Sprintf("agent %d is lost (silently: %v) and down for %v", agent, silent, down),
		func() { w.machines[agent].crash(silent, down) }, nil}
}

// withDisk has the machine of a loss also lose its disk, or the newest checkpoint on it, as
// it is drawn.
func (f fault) withDisk(m *machine, d draw) fault {
	how := d.of("disk").uniform()
	if how >= 0.3 {
		return f
	}
	what := "newest checkpoint"
	if how < 0.15 {
		what = "disk"
	}
	before := f.begin
	f.text += ", with its " + what
	f.begin = func() {
		before()
		switch {
		case !m.mayForget(m.agent):
			m.trace.note("agent %d has its %s still", m.agent, what)
		case how < 0.15:
			m.erase()
		default:
			m.rot(d.of("rot"))
		}
	}
	return f
}

// mayForget notes that an agent loses a checkpoint, unless the run would then wait for ever: where
// more agents have lost theirs than a quorum can do without or, where members stay, all have. There
// each is needed that has the result.
func (w *world) mayForget(agent int) bool {
	most := len(w.machines) - w.Quorum
	if w.Quorum == 0 {
		most = w.Agents - 1
		for _, m := range w.machines {
			if m.has(runs.LambdaFile) {
				return false
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.forgetful[agent] && len(w.forgetful) >= most-len(w.Newcomers) {
		return false
	}
	w.forgetful[agent] = true
	return true
}

// absence is an agent that is lost for about as long as others wait for it, and may come back
// without its disk; with another one that is lost for a short time as they do, or as they leave it
// out.
func (w *world) absence(d draw, agent, other int, short time.Duration) fault {
	then := among(d.of("after"), 0, w.AbsentAfter) + d.of("then").between(w.Second, w.SilentAfter)
	down := d.of("absent").between(w.AbsentAfter/2, 4*w.AbsentAfter)
	f := w.loss(agent, true, down).withDisk(w.machines[agent], d)
	first := f.begin
	f.text += fmt.Sprintf("; after %v agent %d for %v", then, other, short)
	f.begin = func() {
		first()
		time.AfterFunc(then, func() {
			if time.Since(begin) < w.Calm {
				w.happen(w.loss(other, false, short))
			}
		})
	}
	return f
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
// meanwhile, and tells so.
func (m *machine) slowness(takes time.Duration) fault {
	return fault{fmt.Sprintf("agent %d computes for %v", m.agent, takes), func() {
		m.setFault(busy, true)
		time.AfterFunc(takes, func() { m.setFault(busy, false) })
	}, nil}
}

// partition cuts some agents off from the others; side has a bit for each agent.
func (w *world) partition(side int) fault {
	return w.cut(fmt.Sprintf("a partition, %b", side),
		func(from, to int) bool { return side>>from&1 != side>>to&1 })
}

// A cut reports which directions of links between agents are cut.
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
	change := func(begins bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.all, &f); begins {
			c.all[&f] = true
		}
		all := slices.Collect(maps.Keys(c.all))
		w.network.Cut(func(from, to string) bool {
			return slices.ContainsFunc(all, func(f *cut) bool { return (*f)(number[from], number[to]) })
		})
	}
	return fault{text, func() { change(true) }, func() { change(false) }}
}
