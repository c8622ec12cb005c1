package grpc

import (
	"slices"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/grpc/holdup"
	"dsbo/network/membership"
)

// TestSlowNeighbours: the council is told of a neighbour that computes, or writes, when an exchange
// has waited for that for longer than the deadline, by what the neighbour says itself, and later
// after each time that it was left out. Without a deadline, and in the end, ComputeTimeout is
// the most.
func TestSlowNeighbours(t *testing.T) {
	says := func(doing holdup.Activity) holdup.Report {
		return holdup.Report{Doing: doing, Round: 0, Holder: 0,
			Cause: map[holdup.Activity]holdup.Cause{holdup.Saving: holdup.BySaving}[doing]}
	}
	left := membership.Log{{Epoch: 1, Members: []int{1, 2}, Slow: []int{0}}, {Epoch: 2, Members: []int{0, 1, 2}}}
	for _, c := range []struct {
		name     string
		says     holdup.Report
		deadline time.Duration
		log      membership.Log
		ends     bool // all has been computed
		after    int  // heartbeats; 0: never
	}{
		{name: "computes", says: says(holdup.Computing), deadline: 10 * time.Second, after: 10},
		{name: "writes", says: says(holdup.Saving), deadline: 10 * time.Second, after: 10},
		{name: "computes again", says: says(holdup.Computing), deadline: 10 * time.Second, log: left, after: 20},
		{name: "computes a third time", says: says(holdup.Computing), deadline: 10 * time.Second,
			log: slices.Concat(left, left), after: 40},
		{name: "computes a fourth time", says: says(holdup.Computing), deadline: 10 * time.Second,
			log: slices.Concat(left, left, left), after: 60},
		{name: "computes without a deadline", says: says(holdup.Computing), after: 60},
		{name: "computes in the end", says: says(holdup.Computing), deadline: 10 * time.Second, ends: true, after: 60},
		{name: "waits for another one that computes", says: saying(holdup.Exchanging, -1, 3, holdup.ByComputing),
			deadline: 10 * time.Second},
		{name: "withholds", says: says(holdup.Exchanging), deadline: 10 * time.Second},
	} {
		m, log := pathAgent(func(c *Config) {
			inSeconds(c)
			c.Matrix, c.ComputeTimeout, c.Round = newGraph("path", 4), time.Minute, 1
		})
		s, other := withCouncil(m, 3)
		m.config.Membership.StragglerDeadline = c.deadline
		c.says.Round++
		m.chamber.log = c.log
		m.view.epoch.Number = len(c.log)
		s.remote, s.announced = len(c.log), len(c.log)
		publish(m, 1)
		if c.ends {
			m.finish.drains = true
			m.watch.Begin(holdup.Ending)
		}
		for k := range 70 {
			want := c.after > 0 && k >= c.after
			if is := slices.Contains(m.chamber.observe().Slow, 0); is != want || is != m.Status().Neighbours[0].Slow {
				t.Errorf("%s: after %d heartbeats it is slow: %v; it must be %v, in Status too", c.name, k, is, want)
				break
			}
			deliver(s, reporting(c.says))
			deliver(other, reporting(saying(holdup.Exchanging, 1, 2, holdup.ByComputing)))
			m.heartbeat()
		}
		if c.after > 0 && !c.ends {
			log.waitFor(t, "level=WARN", "a neighbour is slow", "neighbour=0", "exchange=1")
			if deliver(s, vectorOfOne(1, 1)); len(m.chamber.observe().Slow) > 0 {
				t.Errorf("%s: it is slow when its vector is here", c.name)
			}
		}
	}
}

// TestReadyWhenThrough: an agent that was left out as it computed is not ready to come in before it
// has begun the epoch without it.
func TestReadyWhenThrough(t *testing.T) {
	m, _ := pathAgent(nil)
	withCouncil(m, 2)
	if !m.chamber.observe().Ready {
		t.Error("it is ready, as it is connected to all")
	}
	m.chamber.log = membership.Log{{Epoch: 1, Members: []int{0, 2}, Slow: []int{self}}}
	if m.chamber.observe().Ready {
		t.Error("it computes in an epoch before, and cannot be ready")
	}
	testkit.OK(m.Reform(m.chamber.log.Last(3), 0))
	if !m.chamber.observe().Ready {
		t.Error("it is ready, as it has begun the epoch without it")
	}
}
