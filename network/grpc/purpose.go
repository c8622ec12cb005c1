package grpc

import (
	"fmt"

	"dsbo/network"
)

// What an exchange is for goes with each vector: agents that are not at the same point find out.
// The lowest two bits are the kind of work, the others say more of it.
const (
	mixing = iota
	gatheringRows
	reducingWords
	workBits = 2

	// notFinite is part of the purpose of a vector that is mixed if its sender knows that not all
	// of its numbers are finite, as the numbers of a run that diverges.
	notFinite = 1 << workBits
)

// gathering is the purpose of the exchanges that gather rows of a length.
func gathering(length int) int { return gatheringRows | length<<workBits }

// reducing is the purpose of the exchanges that combine n words of some bits.
func reducing(op network.Op, bits, length int) int {
	return reducingWords | int(op)<<workBits | bits<<10 | length<<17
}

// purposeName says what an agent does.
func purposeName(purpose int) string {
	switch purpose & (1<<workBits - 1) {
	case mixing:
		return "mixes"
	case gatheringRows:
		return fmt.Sprintf("gathers rows of %d numbers", purpose>>workBits)
	}
	name := map[network.Op]string{network.Sum: "sums",
		network.Max: "takes the largest of"}[network.Op(purpose>>workBits)]
	return fmt.Sprintf("%s %d words of %d bits", name, purpose>>17, purpose>>10&127)
}

// sameWork reports whether two purposes are the same, whatever numbers are mixed.
func sameWork(a, b int) bool { return a == b || a&^notFinite == mixing && b&^notFinite == mixing }
