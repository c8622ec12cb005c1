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

// AddNoise rounds an answer about a kind of rows to the grid and adds noise to it, in dst.
// sensitivity is the norm by which one row can move the answer at most; what and inputs are the
// question, all but the rows themselves on which the answer depends. A question that was asked
// before gets the answer that was given. An error leaves no part of the answer to be used.
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

// gridOf returns the unit of a grid for a number of entries in which noise of deviation 2^gridBits
// is multiplier times the sensitivity. Rounding moves each entry by a unit more, and the norm by
// their root: 2^gridBits = multiplier·(sensitivity/grid + √entries). An answer for which rounding
// would take more than half of the deviation is refused.
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

// questionKey returns the key of a question: its name, its inputs, the agent's rows, and the size
// of its answer's noise.
func (c *curator) questionKey(what string, sensitivity float64, inputs [][]float64) []byte {
	h := sha256.New()
	h.Write([]byte(what + "\n" + c.data + "\n"))
	write := func(numbers ...float64) { _ = binary.Write(h, binary.LittleEndian, numbers) } // which never fails
	write(sensitivity)
	write(c.terms.Multipliers[:]...)
	for _, input := range inputs {
		write(float64(len(input))) // so that no other inputs are the same numbers
		write(input...)
	}
	return h.Sum(nil)
}
