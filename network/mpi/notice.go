package mpi

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"dsbo/network"
)

// A notice tells other ranks that one has left an exchange, so that they do not wait for it. It
// travels as it lies in memory.
type notice struct {
	exchange, rank int64
	mixed, reduced int64 // what it completed, which the others can complete too
	kind           int64 // see network.Kind
	text           [216]byte
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
	rank := int(n.rank)
	return &network.EndedError{Process: fmt.Sprintf("%s after %d exchanges", b.label(rank), n.mixed), Number: rank,
		Reason: string(bytes.TrimRight(n.text[:], "\x00")), Kind: int(n.kind)}
}
