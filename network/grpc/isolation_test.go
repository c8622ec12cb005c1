package grpc

import (
	"errors"
	"testing"

	"dsbo/network"
	"dsbo/network/membership"
)

// TestIsolation: where there is a council, an agent that hears nobody who counts ends by itself,
// after twice the time after which it would be left out. For a member all count, for one that has
// been left out those that may let it in, through whomever it hears them.
func TestIsolation(t *testing.T) {
	leftOut := membership.Log{{Epoch: 1, Members: []int{2}}} // the agent here is 1
	for _, c := range []struct {
		name  string
		log   membership.Log
		heard int // a neighbour; -1: none
		told  int // whose message of the council it hears; -1: nobody's
		ends  bool
	}{
		{name: "nobody", heard: -1, told: -1, ends: true},
		{name: "one of two", heard: 0, told: -1},
		{name: "nobody, left out", log: leftOut, heard: -1, told: -1, ends: true},
		{name: "a member", log: leftOut, heard: 2, told: -1},
		{name: "one that is left out too", log: leftOut, heard: 0, told: -1, ends: true},
		{name: "a member, through that", log: leftOut, heard: 0, told: 2},
		{name: "what that says itself", log: leftOut, heard: 0, told: 0, ends: true},
	} {
		m, _ := pathAgent(inSeconds)
		withCouncil(m, 2)
		m.chamber.log = c.log
		for k := range 125 {
			if c.heard >= 0 {
				m.neighbours.edge(c.heard).silentBeats = 0
			}
			if c.told >= 0 {
				m.chamber.noteSign(c.told)
			}
			if m.heartbeat(); (m.err != nil) != (c.ends && k >= 119) {
				t.Errorf("%s: after %d heartbeats the error is %v", c.name, k+1, m.err)
				break
			}
		}
		if c.ends && !errors.Is(m.err, network.ErrSilent) {
			t.Errorf("%s: the error is %v", c.name, m.err)
		}
	}
}

// TestCutOffAtTheEnd: an agent that knows that all have finished, and not that all know it, takes a
// silent neighbour for one that has left. Where there is a council, one that hears nobody does not:
// the others may have left it out, and go on.
func TestCutOffAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name            string
		recorded, hears bool
		left            bool // the silent neighbours are taken for having left
	}{
		{name: "hears nobody"},
		{name: "hears one", hears: true, left: true},
		{name: "all know it", recorded: true, left: true},
	} {
		m, _ := pathAgent(func(c *Config) {
			inSeconds(c)
			c.AllFinished = func(bool) error { return nil }
		})
		withCouncil(m, 2)
		m.finish.drains, m.finish.recorded = true, c.recorded
		m.neighbours.edge(0).radius, m.neighbours.edge(2).radius = 2, 2
		for range 125 {
			if c.hears {
				m.neighbours.edge(2).silentBeats = 0
			}
			m.heartbeat()
		}
		if left := m.neighbours.edge(0).radius == m.finish.lastRadius(); left != c.left || (m.err == nil) != c.left {
			t.Errorf("%s: the neighbour has left: %v, error %v; it must be %v, and an error if not", c.name,
				left, m.err, c.left)
		}
	}
}
