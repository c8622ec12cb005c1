package peer

import (
	"context"
	"math/bits"
	"slices"
	"time"
)

// A Fault is something that happens to an agent at a moment, or for a time.
type Fault struct {
	Kind  Kind
	At    time.Duration // since the run began
	Lasts time.Duration // of an agent that is lost: it is started again no sooner
	Agent int
	Other int // of Reset the other agent; Cut has sets of agents here and in Agent, a bit for each
}

// A Kind of a fault is what happens.
type Kind string

// Kinds of faults. The first ones end a process, and the last ones are there for a time.
const (
	Killed      Kind = "its process is killed"
	Unpowered   Kind = "its machine loses power"
	Emptied     Kind = "its machine loses power and its disk"
	Damaged     Kind = "its machine loses power, and half of its newest checkpoint"
	Interrupted Kind = "its process is stopped in good order"
	Reset       Kind = "its connections to the other agent break"

	Cut      Kind = "nothing gets from some agents to some others"
	Frozen   Kind = "its machine stands still"
	FullDisk Kind = "nothing fits its disk"
	SlowDisk Kind = "its disk takes a hundred times as long"
	Busy     Kind = "what it computes takes longer"
)

// drawFaults draws faults with pauses between them, until calm.
func (c *Case) drawFaults(d draw) {
	n, pause := c.Agents+len(c.Newcomers), d.of("pause").between(c.Calm/20, c.Calm)
	for k, at := int64(0), time.Duration(0); at < c.Calm; k++ {
		d := d.of("fault", k)
		at += d.of("pause").between(pause/10, 3*pause)
		agent, down := d.of("agent").below(n), d.of("down").between(time.Second, max(time.Minute, c.Calm/10))
		other, lasts := (agent+1+d.of("other").below(n-1))%n, d.of("lasts").between(c.Latency, c.Calm/4)
		what := d.of("kind").below(20)
		switch {
		case c.Quorum > 0 && d.of("absence").chance(0.3): // and another one, as they wait for it or leave it out
			then := among(d.of("after"), 0, c.AbsentAfter) + d.of("then").between(time.Second, c.SilentAfter)
			c.add(Fault{among(d.of("lost"), Unpowered, Unpowered, Emptied, Damaged), at,
				d.of("absent").between(c.AbsentAfter/2, 4*c.AbsentAfter), agent, 0})
			c.add(Fault{Unpowered, at + then, down, other, 0})
		case c.StragglerDeadline > 0 && d.of("slowness").chance(0.4):
			c.add(Fault{Busy, at, d.of("busy").between(c.StragglerDeadline/2, 8*c.StragglerDeadline), agent, 0})
		case what < 6:
			loss := among(d.of("loss"), Killed, Killed, Unpowered, Unpowered, Emptied, Damaged)
			c.add(Fault{loss, at, down, agent, 0})
		case what < 8:
			for i := range n {
				c.add(Fault{Unpowered, at, d.of("downs", int64(i)).between(time.Second, down), i, 0})
			}
		case what < 10:
			c.add(Fault{Interrupted, at, down, agent, 0})
		case what < 12:
			c.add(Fault{Reset, at, 0, agent, other})
		case what < 13:
			c.add(Fault{Cut, at, lasts, 1 << other, 1 << agent})
		case what < 16:
			side := 1 + d.of("side").below(1<<n-2)
			c.add(Fault{Cut, at, lasts, side, ^side})
			c.add(Fault{Cut, at, lasts, ^side, side})
		default:
			c.add(Fault{among(d.of("trouble"), Frozen, Frozen, FullDisk, SlowDisk), at, lasts, agent, 0})
		}
	}
}

// add adds a fault that is over, or whose agent is lost, before the calm. No more agents lose
// checkpoints than may: those without which there is a quorum, or all but one where members stay.
func (c *Case) add(f Fault) {
	switch f.Kind {
	case Emptied, Damaged:
		c.spoiled |= 1 << f.Agent
		if bits.OnesCount(uint(c.spoiled)) > c.Agents-max(c.Quorum, 1) {
			c.spoiled &^= 1 << f.Agent
			f.Kind = Unpowered
		}
	case Cut, Frozen, FullDisk, SlowDisk, Busy:
		f.Lasts = min(f.Lasts, c.Calm-f.At)
	}
	if f.At < c.Calm {
		c.Faults = append(c.Faults, f)
	}
}

// present returns the faults of a kind that are there now: at an agent, or if that is −1 at any.
func (c *Case) present(k Kind, agent int) (all []Fault) {
	now := time.Since(begin)
	for _, f := range c.Faults {
		if f.Kind == k && (f.Agent == agent || agent < 0) && f.At <= now && now < f.At+f.Lasts {
			all = append(all, f)
		}
	}
	return all
}

// inflict has a fault begin and end, unless ctx ends before.
func (w *world) inflict(ctx context.Context, f Fault) {
	if !sleep(ctx, time.Until(begin.Add(f.At))) {
		return
	}
	w.log.Debug("a fault", "fault", f)
	switch f.Kind {
	case Killed, Unpowered, Emptied, Damaged, Interrupted:
		w.machines[f.Agent].crash(f.Kind, f.Lasts)
	case Reset:
		w.network.Reset(w.machines[f.Agent].name, w.machines[f.Other].name)
	case Frozen, Cut:
		w.shapeNetwork()
		sleep(ctx, f.Lasts)
		w.shapeNetwork()
	}
}

// shapeNetwork has the network be as present faults have it.
func (w *world) shapeNetwork() {
	number := map[string]int{}
	for i, m := range w.machines {
		number[m.name] = i
		w.network.Freeze(m.name, w.present(Frozen, i) != nil)
	}
	cuts := w.present(Cut, -1)
	w.network.Cut(func(from, to string) bool {
		return slices.ContainsFunc(cuts, func(f Fault) bool {
			return f.Agent>>number[from]&1 == 1 && f.Other>>number[to]&1 == 1
		})
	})
}

// sleep waits, and reports whether ctx lasts longer.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
