package mpi

import (
	"bytes"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"dsbo/network"
)

// A library is what this package asks of MPI, which is little. Its methods are called by one
// thread, but for interrupt. The tests have one of their own.
type library interface {
	// position returns the number of this rank and how many there are.
	position() (rank, size int)
	// open makes a channel. All ranks open the same ones in the same order. vectors are how many of
	// a swap go to each rank, and then how many come from each.
	open(vectors []int32) channel
	// poll advances the operations of all channels until one has a result, none is pending,
	// interrupt has been called or d has passed, and reports whether one is pending.
	poll(d time.Duration) (busy bool)
	// interrupt makes poll return at once, now or when it is called next, until quiet is called.
	interrupt()
	quiet()
	// finalize ends MPI once all channels have ended on all ranks, which have called it. It waits
	// for d and reports whether that is done.
	finalize(d time.Duration) (bool, error)
	// abort ends all ranks.
	abort(code int)
}

// A channel is the ranks' way to combine and to swap words, one operation after another.
type channel interface {
	// memory returns memory for the words of this rank, and of a swap for the words of others. Any
	// thread may call it while no operation is under way; what was there is lost.
	memory(out, in int) (own, theirs []byte, err error)
	// begin begins an operation. A sum leaves its words where this rank's were.
	begin(o operation)
	// result returns what has come of it, once.
	result() (state, error)
	// notice is what this rank leaves with and, once it finds others left, the lowest's.
	notice() *notice
	// tellLeft announces that no operation follows: other ranks learn that this rank left after the
	// operations announced before.
	tellLeft()
	// release gives the memory back once it is not used.
	release()
}

// A state is what has come of an operation.
type state int

const (
	pending state = iota
	done
	unlike // another rank does something else
	left   // another rank has left
)

// An operation is what all ranks do together.
type operation struct {
	swap   bool // of vectors, not a sum
	op     network.Op
	bits   int
	length int // words, or numbers of a vector
}

// width returns the bytes of a word, 4 or 8. MPI has words of 2 as well, but sums of these saturate
// in Open MPI 4.1 where it uses AVX, instead of going round.
func (o operation) width() int {
	if o.bits <= 32 {
		return 4
	}
	return 8
}

// kind returns the part of the head that must be equal on all ranks besides the length: 1 for a
// swap, else the operation in bit 0, and the width from bit 1 on.
func (o operation) kind() int {
	if o.swap {
		return 1
	}
	return int(o.op) | o.width()<<1 | o.bits<<5
}

// A notice is the announcement that a rank has left an exchange. It is sent as it is in memory.
type notice struct {
	rank, mixed int64
	kind        int64 // see network.Kind
	text        [232]byte
}

func (n *notice) setReason(text string) {
	for len(text) > len(n.text) {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	copy(n.text[:], text)
}

// error returns what the rank's leaving means to another one.
func (n *notice) error(b blocks) error {
	rank := int(n.rank)
	return &network.EndedError{Process: fmt.Sprintf("%s after %d exchanges", b.label(rank), n.mixed), Number: rank,
		Reason: string(bytes.TrimRight(n.text[:], "\x00")), Kind: int(n.kind)}
}

// blocks deals n agents to ranks, in order and as evenly as can be.
type blocks struct{ agents, ranks int }

// agentsOf returns the agents lo ≤ i < hi of a rank.
func (b blocks) agentsOf(rank int) (lo, hi int) {
	return rank * b.agents / b.ranks, (rank + 1) * b.agents / b.ranks
}

// rank returns the rank that has agent i: the largest r with agentsOf(r).lo ≤ i.
func (b blocks) rank(i int) int { return ((i+1)*b.ranks - 1) / b.agents }

// label names a rank by its agents too.
func (b blocks) label(rank int) string {
	lo, hi := b.agentsOf(rank)
	if hi-lo == 1 {
		return fmt.Sprintf("rank %d (agent %d)", rank, lo)
	}
	return fmt.Sprintf("rank %d (agents %d to %d)", rank, lo, hi-1)
}

// A parcel is an agent's vector on its way to or from another rank.
type parcel struct{ agent, peer int }

// routes returns what a rank receives and sends in one exchange: each vector once for every other
// rank where a neighbour is, in ascending order of agents, so that both ends count them alike.
func (b blocks) routes(w *network.Matrix, rank int) (receive, send []parcel) {
	for i := range b.agents {
		home := b.rank(i)
		var to []int
		for _, j := range w.Neighbours(i) {
			if r := b.rank(j); r != home && !slices.Contains(to, r) {
				to = append(to, r)
			}
		}
		switch {
		case home == rank:
			for _, r := range to {
				send = append(send, parcel{i, r})
			}
		case slices.Contains(to, rank):
			receive = append(receive, parcel{i, home})
		}
	}
	return receive, send
}
