package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"dsbo"
)

// privacyTerms are what an agent's answers keep to.
type privacyTerms struct {
	Answers     [rowKinds]int     // the most answers about each kind of rows
	Multipliers [rowKinds]float64 // deviation of the noise of one of them, in sensitivities
}

// newPrivacyTerms returns the terms of a budget, which must be checked, that is spent by at most a
// number of answers about each kind of rows. A kind without answers has no noise.
func newPrivacyTerms(b Budget, answers [rowKinds]int) privacyTerms {
	t := privacyTerms{Answers: answers}
	for rows, n := range answers {
		if n > 0 {
			t.Multipliers[rows] = noiseMultiplier(b, n)
		}
	}
	return t
}

// A curator gives an agent's answers, with noise, as far as its terms go. It belongs to one
// goroutine at a time.
type curator struct {
	terms  privacyTerms
	ledger *noiseLedger
	data   string // a digest of the agent's rows: others get other noise, even for the same question
}

// AddNoise rounds the answer in dst, about a kind of rows, to a grid and adds noise to it.
// sensitivity is the most, in norm, by which one row can change the answer. what and inputs are the
// question: everything on which the answer depends except the rows. The noise is a function of the
// question, so that a repeated question gets the same answer, which reveals nothing more. After an
// error dst must not be used.
func (c *curator) AddNoise(dst []float64, of rowKind, sensitivity float64, what string, inputs ...[]float64) error {
	if sensitivity == 0 { // a product with v = 0, which is 0 whatever the rows
		return nil
	}
	grid, err := gridOf(c.terms.Multipliers[of]*(1+margin), sensitivity, len(dst))
	if err != nil {
		return err
	}
	source, err := c.ledger.noise(of, c.questionKey(what, sensitivity, inputs), c.terms.Answers[of])
	if err != nil {
		return err
	}
	for i, v := range dst {
		if math.IsNaN(v) {
			return dsbo.Errorf(dsbo.ErrDiverged, "%s: number %d of %d is NaN", what, i, len(dst))
		}
		units := int64(math.RoundToEven(min(max(v/grid, -mostUnits), mostUnits)))
		dst[i] = float64(units+discreteGaussian(source)) * grid
	}
	return nil
}

const (
	// mostUnits bounds an entry in units of the grid, so that it and its noise are whole numbers of
	// float64. Larger ones, of a penalty run wild, are cut off: that brings no two answers
	// farther apart.
	mostUnits = 1 << 51
	// margin is more than the rounding of float64 in a mean over a million rows can move an answer,
	// as a share of the sensitivity: each of m terms adds at most m·2^-53 of it.
	margin = 1e-3
)

// gridOf returns the unit of the grid on which noise of deviation 2^gridBits units is multiplier
// times the sensitivity of an answer with a number of entries. Rounding to the grid increases the
// sensitivity, by up to a unit for each entry and √entries in norm, so that the unit solves
// 2^gridBits = multiplier·(sensitivity/grid + √entries). If the second term is more than half of
// the right side, the answer is refused: it has too many entries.
func gridOf(multiplier, sensitivity float64, entries int) (float64, error) {
	left := 1<<gridBits - float64(multiplier*math.Sqrt(float64(entries)))
	if left < 1<<(gridBits-1) {
		return 0, dsbo.ConfigErrorf(
			"answers of %d numbers with noise of %.3g sensitivities are too many and too noisy for a grid of 2^-%d: "+
				"ε must be larger, or K smaller",
			entries, multiplier, gridBits)
	}
	return multiplier * sensitivity / left, nil
}

// questionKey returns a digest of a question: its name and inputs, the agent's rows, and the size
// of the noise. Two questions must never share noise, since the difference of the answers would be
// exact, so everything that an answer depends on is part of the key.
func (c *curator) questionKey(what string, sensitivity float64, inputs [][]float64) []byte {
	h := sha256.New()
	h.Write([]byte(what + "\n" + c.data + "\n"))
	write := func(numbers ...float64) { _ = binary.Write(h, binary.LittleEndian, numbers) } // which never fails
	write(sensitivity)
	write(c.terms.Multipliers[:]...)
	for _, input := range inputs {
		write(float64(len(input))) // else (a), (b, c) and (a, b), (c) would be the same
		write(input...)
	}
	return h.Sum(nil)
}
