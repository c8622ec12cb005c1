package grpc

import (
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
)

// TestOtherNumbersAreAnError, for all agents.
func TestOtherNumbersAreAnError(t *testing.T) {
	m, _ := pathAgent(nil)
	s, other := attached(m, 0, 0, 0), attached(m, 2, 0, 0)
	deliver(s, vectorOfOne(0, 5))
	s = attached(m, 0, 0, 0) // it came back and repeats itself
	deliver(s, vectorOfOne(0, 5))
	if m.err != nil || m.Status().Neighbours[0].Duplicates != 1 {
		t.Fatalf("error %v after the same numbers", m.err)
	}
	deliver(s, vectorOfOne(0, 6))
	testkit.WantError(t, "other numbers", m.err, ErrConflict, "agent 0 is at fault in exchange 0")
	b, _ := other.e.nextFrame(other)
	if f := decoded(b); f.kind != kindFail || f.exchange != self || string(f.text) != m.err.Error() {
		t.Errorf("the other neighbour is sent %+v, %q; it must be the failure of agent 1, %q", f.header, f.text, m.err)
	}
}

// TestUsedVectorsBind: a vector that has come and was not used before this agent goes back does not
// bind its sender, whose process may have lied and begun anew since. One that was used does, in an
// exchange that has ended or in the stage of a reduction, of which others have had words since.
func TestUsedVectorsBind(t *testing.T) {
	m, _ := pathAgent(nil)
	sessions := []*session{attached(m, 0, 0, 0), attached(m, 2, 0, 0)}
	publish(m, 0)
	deliver(sessions[0], vectorOfOne(0, 4))
	testkit.OK(m.Rewind(0))
	publish(m, 0)
	for _, s := range sessions {
		deliver(s, vectorOfOne(0, 1))
	}
	x := []float64{0}
	if err := m.Mix(t.Context(), x, x); err != nil || m.err != nil {
		t.Fatalf("error %v, %v after another vector in the place of one that was not used", err, m.err)
	}

	r := testkit.Get(newReduction(m, []network.Reduction{{Op: network.Sum, Bits: 63, Words: []uint64{1}}}))
	sum := func(v byte) []byte { return encode(header{kindVector, 1, r.purpose}, []byte{v, 7: 0}) }
	testkit.OK(m.flow.beginStaged(t.Context(), -1))
	for _, s := range sessions {
		deliver(s, sum(1))
	}
	testkit.OK(r.takeWords(t.Context(), []int{2}, r.combine)) // and agent 0 waits
	testkit.OK(m.Rewind(0))
	publish(m, 0)
	for k, frame := range [][]byte{vectorOfOne(0, 1), sum(2)} {
		if deliver(sessions[0], frame); m.err != nil {
			t.Fatalf("error %v in exchange %d; no other vector was used", m.err, k)
		}
	}
	deliver(sessions[1], sum(2))
	testkit.WantError(t, "other words of agent 2 than those that were used", m.err, ErrConflict, "agent 2")
}
