package mpi

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"dsbo/network"
)

// A SilentError names ranks from which, or to which, nothing moved. It matches [network.ErrSilent].
type SilentError struct {
	Ranks  []int
	Names  []string // the ranks with their agents
	Silent time.Duration
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("%s: silent for %v", strings.Join(e.Names, ", "), e.Silent)
}

// Is reports whether target is network.ErrSilent.
func (e *SilentError) Is(target error) bool { return target == network.ErrSilent }

// An EndedError is another rank's reason for leaving an exchange. It matches [network.ErrEnded]
// and the kind of that rank's error, if it is one that keeps its identity; [network.Kind] says which.
type EndedError struct {
	Rank   int
	Name   string // the rank with its agents
	Round  int    // how many exchanges that rank had completed
	Reason string
	kind   error
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("%s left after %d exchanges: %s", e.Name, e.Round, e.Reason)
}

// Is reports whether target is network.ErrEnded.
func (e *EndedError) Is(target error) bool { return target == network.ErrEnded }

// Unwrap returns the kind of the other rank's error, nil if it is none of those that travel.
func (e *EndedError) Unwrap() error { return e.kind }

const (
	noticeWords = 32
	noticeHead  = 6
	noticeText  = 8 * (noticeWords - noticeHead)
)

// A notice tells other ranks that one has left an exchange, so that they do not wait for it.
type notice struct {
	exchange        int
	rank            int
	mixed, gathered int // what it completed, which the others can complete too
	kind            int // see network.Kind
	reason          string
}

// encode cuts a long reason.
func (n *notice) encode() (w [noticeWords]uint64) {
	text := n.reason
	for len(text) > noticeText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	head := [noticeHead]int{n.exchange, n.rank, n.mixed, n.gathered, n.kind, len(text)}
	for i, v := range head {
		w[i] = uint64(v)
	}
	for i := range len(text) {
		w[noticeHead+i/8] |= uint64(text[i]) << (8 * (i % 8))
	}
	return w
}

func decodeNotice(w [noticeWords]uint64) notice {
	text := make([]byte, min(w[noticeHead-1], noticeText))
	for i := range text {
		text[i] = byte(w[noticeHead+i/8] >> (8 * (i % 8)))
	}
	return notice{exchange: int(w[0]), rank: int(w[1]), mixed: int(w[2]), gathered: int(w[3]), kind: int(w[4]), reason: string(text)}
}

// error returns what the rank's leaving means to another one.
func (n *notice) error(b blocks) error {
	return &EndedError{Rank: n.rank, Name: b.name(n.rank), Round: n.mixed, Reason: n.reason, kind: network.ErrorOfKind(n.kind)}
}
