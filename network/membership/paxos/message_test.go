package paxos_test

import (
	"bytes"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"

	"github.com/google/go-cmp/cmp"
)

var aChange = membership.Change{Epoch: 3, Iteration: 20, Round: 77, Members: []int{0, 2, 4},
	Cut: membership.Edges{{0, 2}}, Proposer: 2,
	Time: "2026-11-22T12:00:00Z", Why: []string{"agent 3 left: nothing heard for 10m0s"}}

func TestMessageRoundTrip(t *testing.T) {
	for _, m := range []paxos.Message{
		{Kind: paxos.Report, From: 4, To: paxos.All, ID: 1 << 63, Hops: 5, Epoch: 1, Down: []int{3}, Asks: true},
		{Kind: paxos.Promise, From: 1, To: 2, Epoch: 3, Ballot: paxos.Ballot{Number: 7, Agent: 2},
			Change: proved(membership.FirstVote, paxos.Ballot{Number: 6, Agent: 4}, aChange, 0, 2, 3),
			Points: []paxos.Point{{Iteration: 20, Round: 77}}},
		accepting(paxos.Ballot{Number: 7, Agent: 2}, &aChange, promise(1, paxos.Ballot{Number: 7, Agent: 2}, 3,
			paxos.Point{Iteration: 20})),
		{Kind: paxos.Decided, From: 1, To: 2, Epoch: 3, Change: proved(membership.SecondVote, paxos.Ballot{}, aChange)},
	} {
		if diff := cmp.Diff(m, testkit.Get(paxos.ParseMessage(m.Encode(), 5))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestMessagesRefused(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{}`,
		`{"kind":11,"from":0,"to":-1,"epoch":1}`,
		`{"kind":1,"from":5,"to":-1,"epoch":1}`,
		`{"kind":1,"from":0,"to":-2,"epoch":1}`,
		`{"kind":1,"from":0,"to":-1,"epoch":0}`,
		`{"kind":1,"from":0,"to":-1,"epoch":1,"hops":-1}`,
		`{"kind":1,"from":0,"to":-1,"epoch":1,"down":[5]}`,
		`{"kind":1,"from":0,"to":-1,"epoch":1,"slow":[5]}`,
		`{"kind":1,"from":0,"to":-1,"epoch":1,"blank":[-1]}`,
		`{"kind":3,"from":0,"to":1,"epoch":1,"points":[{"iteration":-1,"round":0}]}`,
		`{"kind":4,"from":0,"to":-1,"epoch":1}`,
		`{"kind":8,"from":0,"to":-1,"epoch":1,"change":{"epoch":2}}`,
		`{"kind":1,"from":0,"to":-1,"epoch":1,"change":{"epoch":1}}`,
		`{"kind":8,"from":0,"to":-1,"epoch":1,"change":{"epoch":1}}`,
		`{"kind":4,"from":0,"to":-1,"epoch":1,"change":{"epoch":1},"promises":[{"kind":3,"from":0,"to":0,"epoch":1}]}`,
		`{"kind":2,"from":0,"to":-1,"epoch":1,"promises":[{"kind":3,"from":0,"to":0,"epoch":1,"signature":{}}]}`,
	} {
		if m, err := paxos.ParseMessage([]byte(text), 5); err == nil {
			t.Errorf("%s is read as %+v", text, m)
		}
	}
	if _, err := paxos.ParseMessage(bytes.Repeat([]byte(" "), paxos.MaxMessage+1), 5); err == nil {
		t.Error("a message that is too long is read")
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add(paxos.Message{Kind: paxos.Decided, From: 1, To: 2, Epoch: 3,
		Change: proved(membership.SecondVote, paxos.Ballot{}, aChange, 0, 2, 3)}.Encode())
	f.Add([]byte(`{"kind":1,"from":0,"to":-1,"epoch":1,"down":[3]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := paxos.ParseMessage(data, 5)
		if err != nil {
			return
		}
		again, err := paxos.ParseMessage(m.Encode(), 5)
		if err != nil || !bytes.Equal(m.Encode(), again.Encode()) { // empty lists are left out
			t.Errorf("%+v becomes %+v, %v", m, again, err)
		}
	})
}

func FuzzParseVote(f *testing.F) {
	f.Add(paxos.MarshalVote(paxos.Vote{Epoch: 3, Promised: paxos.Ballot{Number: 2}, Accepted: paxos.Ballot{Number: 2},
		Change: &aChange}))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := paxos.ParseVote(data)
		if err != nil {
			return
		}
		if _, err := paxos.ParseVote(paxos.MarshalVote(v)); err != nil {
			t.Error(err)
		}
	})
}
