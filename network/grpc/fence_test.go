package grpc

import (
	"errors"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network/networktest"
)

// TestFence: of two processes of one agent the later one goes on. The earlier one ends by itself,
// and ends nobody else's run.
func TestFence(t *testing.T) {
	ctx := networktest.Context(t)
	cs := configs(newGraph("path", 3), identities(3))
	ms, closeAll := open(cs)
	t.Cleanup(closeAll)
	x := []float64{1}
	testkit.OK(errors.Join(together(ms, func(_ int, m *Mixer) error { return m.Mix(ctx, x[:0], x[:0]) })...))

	again := cs[0]
	again.Listener, again.Round = listen(), 1
	second := testkit.Get(Open(again))
	t.Cleanup(func() { testkit.OK(second.Close()) })
	fenced, ok := errors.AsType[*FencedError](ms[0].Mix(ctx, x[:0], x[:0]))
	if !ok || fenced.Agent != 0 || fenced.Neighbour != 1 || cli.Code(fenced) != cli.Usage {
		t.Fatalf(
			"the earlier process of agent 0 ended with %v; it must be fenced by agent 1, with the exit code at which "+
				"supervisors do not start it again", fenced)
	}
	ms[0].Fail(fenced) // as its caller does
	testkit.OK(ms[0].Close())
	for range 10 {
		testkit.OK(errors.Join(together([]*Mixer{second, ms[1], ms[2]}, func(_ int, m *Mixer) error {
			return m.Mix(ctx, x[:0], x[:0])
		})...))
	}
	if n := ms[1].Status().Neighbours[0]; n.Connects != 2 {
		t.Errorf("agent 0 was connected %d times; it must be once for each process", n.Connects)
	}
}

// TestFences: an earlier process is refused while a later one is there, and no longer when that
// is lost.
func TestFences(t *testing.T) {
	m, _ := pathAgent(inSeconds)
	of := func(instance uint64) (*session, error) { return opened(m, 0, instance) }
	first, err := of(5)
	testkit.OK(err)
	same, err := of(5)
	if err != nil || first.reason != errReplaced {
		t.Errorf("another stream of the same process: error %v, and the first one ended with %v", err, first.reason)
	}
	later, err := of(6)
	if err != nil || same.reason != errFenced {
		t.Errorf("a later process: error %v, and the stream of the earlier one ended with %v", err, same.reason)
	}
	if _, err := of(5); err != errFenced {
		t.Errorf("the earlier process again: error %v; it must be fenced", err)
	}
	for range 5 {
		m.heartbeat()
	}
	if _, err := of(5); err != nil || later.reason == nil {
		t.Errorf("with the later one silent: error %v, and its stream ended with %v", err, later.reason)
	}
}
