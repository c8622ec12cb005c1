package mpi

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"dsbo/network"
)

// A library is what this package asks of MPI, which is little. Its methods are called by one
// thread, but for interrupt. The tests have one of their own.
type library interface {
	// position returns the number of this rank, how many there are, and the highest tag.
	position() (rank, size, lastTag int)
	// alloc returns memory that messages may lie in, which free takes back.
	alloc(words int) []uint64
	free(words []uint64)
	// poll posts the messages of t if they are not, and waits until all have arrived and left, a
	// notice has come, interrupt has been called or d has passed. A nil t waits for notices alone.
	poll(t *transfer, d time.Duration) (state, error)
	// pending returns which messages of t are neither done nor failed.
	pending(t *transfer) []int
	// drop gives up the receives of t and reports whether, within d, nothing of t is still under
	// way. If so its memory is free.
	drop(t *transfer, d time.Duration) bool
	// openSum makes the ranks' way to combine words of t, which is a sum. All ranks open the same
	// ones in the same order.
	openSum(t *transfer)
	// sumWords returns memory for the words of t: the words of this rank before they are combined,
	// of all after. Any thread may call it while t is not polled.
	sumWords(t *transfer, bytes int) []byte
	// closeSum ends t. The memory of its words is then the library's, which combines them with the
	// others' if these have heard of them.
	closeSum(t *transfer)
	// notice returns what came when poll said noticed.
	notice() notice
	// sendNotice sends a notice and does not wait.
	sendNotice(rank int, n notice) error
	// interrupt makes poll return at once, now or when it is called next, until quiet is called.
	interrupt()
	quiet()
	// finalize ends MPI once all ranks have called it. It waits for d and reports whether that
	// is done.
	finalize(d time.Duration) (bool, error)
	// abort ends all ranks.
	abort(code int)
}

// A state is what poll found.
type state int

const (
	pending state = iota
	done
	noticed
)

// A transfer is a set of messages that are posted together, or a sum.
type transfer struct {
	sum      *sumKind  // nil if it is a set of messages
	tag      int       // of its messages
	messages []message // in the same order at both ends: those between two ranks have nothing else to tell them apart
	handle   any       // the library's

	blocks  blocks        // for the names of the ranks
	began   time.Time     // when the transfer did
	timeout time.Duration // after which it fails
	done    func()        // called when all messages have arrived and left
	failed  func(error)   // called when that cannot be any more
}

// A message is sent to, or received from, another rank.
type message struct {
	send  bool
	peer  int
	agent int // whose vector it is, or the first of them
	words []uint64
}

// A sumKind says what a sum combines.
type sumKind struct {
	op      network.Op
	bits    int
	words   int
	started bool // has been polled
}

// width returns the bytes of a word, 4 or 8. MPI has words of 2 as well, but sums of these saturate
// in Open MPI 4.1 where it uses AVX, instead of going round.
func (s *sumKind) width() int {
	if s.bits <= 32 {
		return 4
	}
	return 8
}

// kind stands for all that must be alike on all ranks but the number of words: the operation in bit
// 0, and the width from bit 1 on.
func (s *sumKind) kind() int { return int(s.op) | s.width()<<1 | s.bits<<5 }

// errMismatch says that ranks combine words of other numbers, bits or operations.
var errMismatch = errors.New("other words")

// A lengthError says that a message has not the length of its receive.
type lengthError struct{ message, words int }

func (e *lengthError) Error() string {
	return fmt.Sprintf("message %d has %d words", e.message, e.words)
}

// silence returns the error of a transfer of which these messages did not move in time.
func (t *transfer) silence(pending []int) *network.SilentError {
	var ranks []int
	for _, k := range pending {
		ranks = append(ranks, t.messages[k].peer)
	}
	if t.sum != nil { // MPI does not say which ranks it waits for
		return &network.SilentError{Processes: []string{"another rank"}, Silent: t.timeout}
	}
	slices.Sort(ranks)
	e := &network.SilentError{Silent: t.timeout}
	for _, r := range slices.Compact(ranks) {
		e.Processes = append(e.Processes, t.blocks.label(r))
	}
	return e
}
