package data

import (
	"math/rand/v2"

	"dsbo/internal/num"
)

// A stream is a purpose of random numbers; draws for different purposes are independent.
type stream uint64

const (
	streamSample stream = iota + 1
	streamSplit
	streamTruth
	streamAgent
	streamMislabel
	streamSigns
	streamHoldout
	streamMask
	streamPolicy
	streamPartition
	streamBatch
	streamNoise
)

// hashKeys hashes a seed, a purpose and keys to the two words that seed a PCG. Each round is a
// bijection of the word that it takes in, so that keys that differ in one word alone never collide,
// and neighbouring keys are unrelated.
func hashKeys(seed uint64, s stream, words ...uint64) (hi, lo uint64) {
	h := num.SplitMix(num.SplitMix(seed) ^ uint64(s))
	for _, w := range words {
		h = num.SplitMix(h ^ w)
	}
	return num.SplitMix(h), num.SplitMix(^h)
}

func newRand(seed uint64, s stream, words ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(hashKeys(seed, s, words...)))
}
