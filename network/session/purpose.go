package session

import (
	"fmt"

	"dsbo/network"
)

// An exchange's purpose goes with each vector, so that agents at different points find out. The
// lowest two bits are the kind of work, the others its details.
const (
	mixing  = iota
	handing // over a joining member's handover
	reducingWords
	workBits = 2

	// notFinite is part of the purpose of a vector that is mixed if its sender knows that not all
	// of its numbers are finite, as the numbers of a run that diverges.
	notFinite = 1 << workBits
)

// tagShift is where a masked sum has the tag of its masks in its purpose, above the length of a
// vector. Agents whose masks do not cancel so find out.
const tagShift = 46

// severalBits is above the number of bits of any word. With several kinds of words reduced together
// it takes that number's place, plus the number of kinds.
const severalBits = 64

// Where the purpose of a reduction has the bits of its words, 7 bits wide, and their number; the
// operation is below.
const (
	bitsShift   = 10
	lengthShift = 17
)

func reducing(op network.Op, bits, length int) uint64 {
	return reducingWords | uint64(op)<<workBits | uint64(bits)<<bitsShift | uint64(length)<<lengthShift
}

func taggedWith(purpose uint64, tag int) uint64 { return purpose | uint64(tag&0xffff)<<tagShift }

// purposeName names what an agent does, as in "agent 3 mixes". A purpose may be a neighbour's, and
// then any number.
func purposeName(purpose uint64) string {
	switch purpose & (1<<workBits - 1) {
	case mixing:
		return "mixes"
	case handing:
		return "hands over a state"
	}
	name := map[network.Op]string{network.Sum: "sums",
		network.Max: "takes the largest of"}[network.Op(purpose>>workBits)]
	words, bits := purpose&(1<<tagShift-1)>>lengthShift, purpose>>bitsShift&127
	text := fmt.Sprintf("%s %d words of %d bits", name, words, bits)
	if bits > severalBits && bits < network.Whole {
		text = fmt.Sprintf("%s %d words of %d kinds", name, words, bits-severalBits)
	}
	if tag := purpose >> tagShift; tag != 0 {
		text += fmt.Sprintf(" under masks %04x", tag)
	}
	return text
}

// sameWork reports whether two purposes are the same. Mixing matches mixing, of finite numbers or
// not.
func sameWork(a, b uint64) bool {
	return a == b || a&^notFinite == mixing && b&^notFinite == mixing
}
