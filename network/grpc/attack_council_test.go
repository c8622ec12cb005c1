package grpc

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/network/grpc/holdup"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// councilAttacks are those by frames of the council, which runs without one refuse.
var councilAttacks = []attack{
	{name: "says that it computes, for ever",
		do: connects(reporting(saying(holdup.Computing, 0, 0, holdup.ByComputing)))},
	{name: "a message of the council that cannot be read",
		do: sendFrames(encode(header{kind: kindControl}, []byte("vote for me")))},
	{name: "a storm of messages of the council", do: func(s *siege) {
		message := paxos.Message{Kind: paxos.Report, From: 0, To: paxos.All, Epoch: 1, ID: rand.Uint64(), Hops: 7}
		floods(encode(header{kind: kindControl}, message.Encode()))(s)
	}},
	{name: "a proposal of the highest ballot", do: func(s *siege) {
		message := paxos.Message{Kind: paxos.Prepare, From: 0, To: paxos.All, Epoch: 1, ID: rand.Uint64(), Hops: 7,
			Ballot: paxos.Ballot{Number: 1 << 40}}
		s.as(s.hello(), encode(header{kind: kindControl}, message.Encode()))
	}},
	{name: "an epoch of no number", do: sendFrames(encode(header{kind: kindEpoch}, []byte{1, 2, 3}))},
	{name: "an epoch that is not decided",
		do: sendFrames(encode(header{kind: kindEpoch}, []byte{9, 0, 0, 0, 0, 0, 0, 0}))},
	{name: "a piece that nobody has asked for", do: sendFrames(encode(header{kind: kindPiece}, make([]byte, 100)))},
	{name: "asks for the state of an epoch that is not", do: sendFrames(encode(header{kindAsk, 77, 0}, nil))},
}

// uncounted are attacks whose frames an honest agent may send too, and those whose harm is that
// nothing comes.
var uncounted = []string{
	"heartbeats of absurd numbers", "a resend of what will be", "failure by bad settings", "failure of no kind",
	"control characters", "nothing after the hello",
	"hellos alone", "heartbeats alone", "says that it computes, for ever", "says that it waits for agent 2",
	"says that it waits for agent 1", "has sent and needs what is not",
	"a message of the council that cannot be read", "a proposal of the highest ballot", "an epoch that is not decided",
	"a piece that nobody has asked for",
	"asks for the state of an epoch that is not",
}

// TestAttacksOnACouncil: with a quorum, whatever one that plays agent 0 does to all others at once,
// they refuse and count it, leave agent 0 out by name, and go on with the right numbers, as if it
// had been absent.
func TestAttacksOnACouncil(t *testing.T) {
	// the council hears nothing of strangers
	for k, a := range slices.Concat(attacks, councilAttacks, strangerAttacks[:1]) {
		if testing.Short() && k%12 != 0 {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { a.onCouncil(t) })
		})
	}
}

// onCouncil has an attack happen to agents 1, 2 and 3 of a council, and looks at what becomes
// of it.
func (a attack) onCouncil(t *testing.T) {
	const n, quorum = 4, 3
	mixers := make([]*Mixer, n)
	v := newTown(t, n, quorum, func(z *citizen, m *Mixer, _ membership.Epoch, _ int) bool {
		mixers[z.agent] = m
		return false
	})
	v.w, v.iterations = newGraph("complete", n), 10
	v.citizens = v.citizens[1:]
	before := allocated()
	all := siege{} // its log is the log of all
	var attackers sync.WaitGroup
	var sieges []*siege
	for _, z := range v.citizens {
		c := &z.config
		c.Matrix, c.Run, c.Hash, c.MaxFloats, c.Identity = v.w, "run", "hash", 1000, certificate(z.agent)
		c.Heartbeat, c.SilentAfter, c.Membership.AbsentAfter = 20*time.Millisecond, 100*time.Millisecond,
			400*time.Millisecond
		c.Membership.StragglerDeadline = c.Membership.AbsentAfter
		c.Log = slog.New(slog.NewTextHandler(&all, nil))
		s := &siege{t: t, outside: v.network.Host("outside"), target: z.agent}
		sieges = append(sieges, s)
		attackers.Go(func() { a.do(s) })
	}
	log := v.run(t)
	for _, s := range sieges {
		s.over.Store(true)
	}
	attackers.Wait()
	if len(log) != 1 || !slices.Equal(log[0].Members, []int{1, 2, 3}) || len(log[0].Why) != 1 ||
		!strings.HasPrefix(log[0].Why[0], "agent 0 left") {
		t.Errorf("agents 1, 2 and 3 must go on without agent 0; the changes are\n%s", log.Bytes())
	}
	for _, m := range mixers[1:] {
		if st := m.Status(); st.Refused+st.Neighbours[0].Offences == 0 && !slices.Contains(uncounted, a.name) {
			t.Errorf("agent %d has counted neither a refusal nor an offence", m.config.Agent)
		}
	}
	if n := all.lines.Load(); n > 90 {
		t.Errorf("%d lines in the logs of three agents; there must be 90 at most", n)
	}
	if m := allocated() - before; m > 64<<20 {
		t.Errorf("%d MiB of memory more than before; there must be 64 at most", m>>20)
	}
}
