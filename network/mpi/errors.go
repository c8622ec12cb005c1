package mpi

import (
	"bytes"
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

// A notice tells other ranks that one has left an exchange, so that they do not wait for it. It travels as it lies in
// memory.
type notice struct {
	exchange, rank  int64
	mixed, gathered int64 // what it completed, which the others can complete too
	kind            int64 // see network.Kind
	text            [216]byte
}

// setReason cuts a long reason.
func (n *notice) setReason(text string) {
	for len(text) > len(n.text) {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	copy(n.text[:], text)
}

// error returns what the rank's leaving means to another one.
func (n *notice) error(b blocks) error {
	rank, text := int(n.rank), bytes.TrimRight(n.text[:], "\x00")
	return &EndedError{Rank: rank, Name: b.name(rank), Round: int(n.mixed), Reason: string(text), kind: network.ErrorOfKind(int(n.kind))}
}
