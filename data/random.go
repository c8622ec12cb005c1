package data

import "math/rand/v2"

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
)

// hashKeys hashes a seed, a purpose and what is drawn to the two words that seed a PCG. Each round is
// a bijection of the word that it takes in (the finalizer of SplitMix64), so that keys that differ
// in one word only always differ, and neighbouring ones are unrelated.
func hashKeys(seed uint64, s stream, words ...uint64) (hi, lo uint64) {
	h := scramble(scramble(seed) ^ uint64(s))
	for _, w := range words {
		h = scramble(h ^ w)
	}
	return scramble(h), scramble(^h)
}

func scramble(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func newRand(seed uint64, s stream, words ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(hashKeys(seed, s, words...)))
}
