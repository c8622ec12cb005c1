package mpi

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"

	"dsbo/network"
)

// A notice tells other ranks that one has left an exchange, so that they do not wait for it. It
// travels as it lies in memory.
type notice struct {
	exchange, rank  int64
	mixed, gathered int64 // what it completed, which the others can complete too
	reduced         int64
	kind            int64 // see network.Kind
	text            [208]byte
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
	name := b.label(rank)
	if n.mixed != math.MaxInt64 { // else it has no agents
		name = fmt.Sprintf("%s after %d exchanges", name, n.mixed)
	}
	return &network.EndedError{Process: name, Number: rank, Reason: string(bytes.TrimRight(n.text[:], "\x00")),
		Kind: int(n.kind)}
}
