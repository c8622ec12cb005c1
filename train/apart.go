package train

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"

	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/network/membership"
)

// moveShare is the size of the move by which a change of members shifts a vector, relative to its
// norm. With a fifth, the difference of two sums differs from the term of the agent that changed by
// a quarter of it or more, or of the other agents' terms if these are smaller
// (TestNothingIsRebuilt), and Newton's steps undo the move within an iteration or two.
const moveShare = 0.2

// An apartness moves the start of an epoch away from the points of earlier sums: the difference of
// two sums of all members' terms at one point, before and after a change, would be the term of the
// agent that left or joined. All agents draw the same moves, from the seed and the name of the
// epoch, and so does a replay. The zero value moves nothing.
type apartness struct {
	seed, epoch uint64
}

// apartnessOf returns the moves of an epoch, by its id, which nobody knows before all of its
// members have begun it. Of one without, in older logs, the moves follow from its number; the first
// epoch has number 0 and moves nothing. A name made of an id is odd, so that it is never 0.
func apartnessOf(seed uint64, e membership.Epoch) apartness {
	if e.ID == "" {
		return apartness{seed, uint64(e.Number)}
	}
	name := sha256.Sum256([]byte(e.ID))
	return apartness{seed, binary.LittleEndian.Uint64(name[:]) | 1}
}

// The streams of moves.
const (
	moveY = iota
	moveZ
	moveStart
	moveNearby
)

// move adds a random vector to v, of about moveShare times its norm; a zero v counts as a vector of
// ones.
func (a apartness) move(v []float64, stream uint64) {
	if a.epoch == 0 {
		return
	}
	size := moveShare // the deviation of an entry of the move
	if norm := linalg.Norm(v); norm > 0 {
		size *= norm / math.Sqrt(float64(len(v)))
	}
	draw := rand.New(rand.NewPCG(num.SplitMix(a.seed)+stream, a.epoch))
	for i := range v {
		v[i] += float64(size * num.Normal(draw))
	}
}

// blurShare is the largest relative error added to an entry of a diagonal in a later epoch.
const blurShare = 0.5

// blur multiplies the entries of an agent's diagonal, without penalties, by random factors around
// 1. If the curvature is the same everywhere, as with squared losses, moves do not hide an agent's
// diagonal. The factors are seeded by a digest of the whole diagonal, which no other agent knows.
// They cost little accuracy, because diagonals are only used in preconditioners.
func (a apartness) blur(diagonal []float64) {
	if a.epoch == 0 {
		return
	}
	digest := sha256.New()
	_ = linalg.Write(digest, diagonal) // which never fails
	_ = binary.Write(digest, binary.LittleEndian, [2]uint64{a.seed, a.epoch})
	draw := rand.New(rand.NewChaCha8([32]byte(digest.Sum(nil))))
	for i := range diagonal {
		diagonal[i] *= 1 - blurShare + float64(2*blurShare*draw.Float64())
	}
}

// blurBeside is blur for a diagonal that includes the penalty's part P(x), which is subtracted
// first and added again afterwards. penalty computes P(x); nil: it counts as 0.
func (a apartness) blurBeside(penalty func(dst, x []float64) error, diagonal, x []float64) error {
	if a.epoch == 0 {
		return nil
	}
	e := make([]float64, len(diagonal)) // P(x)
	if penalty != nil {
		if err := penalty(e, x); err != nil {
			return err
		}
	}
	linalg.Sub(diagonal, diagonal, e)
	a.blur(diagonal)
	linalg.Add(diagonal, diagonal, e)
	return nil
}

// moveNear is [exact.Solver.Move].
func (a apartness) moveNear(v []float64) { a.move(v, moveNearby) }
