package network

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

// Bound returns the group's way to what agents find together before a run, or after it; ctx bounds
// all calls. Agents are named by their numbers in the roster; there are no texts of those that are
// not there.
func (g *Group) Bound(ctx context.Context) Collective { return boundGroup{ctx, g} }

// A boundGroup is a [Collective] by the averages of a group.
type boundGroup struct {
	ctx   context.Context // of the one time for which it is made
	group *Group
}

// Sum implements [Collective], by n times the average. Where that is a whole number but for
// rounding, it is that number.
func (b boundGroup) Sum(name string, dst []float64, fill func(i int, part []float64) error) error {
	err := b.group.MeanNumbers(b.ctx, name, dst, func(i int, part []float64) error {
		clear(part)
		return fill(b.group.Number(i), part)
	})
	if err != nil {
		return err
	}
	for k := range dst {
		dst[k] = roundToWhole(float64(dst[k] * float64(b.group.N())))
		if math.IsNaN(dst[k]) || math.IsInf(dst[k], 0) {
			return fmt.Errorf("sum %d of %d over all agents must be finite; it is %g", k, len(dst), dst[k])
		}
	}
	return nil
}

// roundToWhole returns the whole number that v is but for its last two bits, else v: an average and
// its product with n are each off by half of the last bit at most.
func roundToWhole(v float64) float64 {
	if whole := math.Round(v); math.Abs(v-whole) <= 0x1p-51*math.Abs(v) {
		return whole
	}
	return v
}

// Texts implements [Collective]: of a group whose agents have numbers of their own, by these.
func (b boundGroup) Texts(name string, of func(i int) (string, error)) ([]string, error) {
	texts := make([]string, b.group.N())
	for _, i := range b.group.local {
		var err error
		if texts[i], err = of(b.group.Number(i)); err != nil {
			return nil, err
		}
	}
	numbers := b.group.config.Numbers
	if err := b.group.GatherTexts(b.ctx, name, texts); err != nil || numbers == nil {
		return texts, err
	}
	all := make([]string, 1+slices.Max(numbers))
	for i, text := range texts {
		all[numbers[i]] = text
	}
	return all, nil
}

// Maximum returns the largest of the agents' numbers, none of which is negative; NaN if one is NaN.
func (g *Group) Maximum(ctx context.Context, name string, value func(i int) (float64, error)) (float64, error) {
	all := make([]float64, len(g.local))
	err := g.forEach(ctx, func(k, i int) (err error) {
		all[k], err = value(i)
		return err
	})
	if err != nil {
		return 0, err
	}
	words := []uint64{0}
	for _, v := range all {
		words[0] = max(words[0], math.Float64bits(math.Abs(v))) // in the order of the numbers ≥ 0, NaN above all
	}
	err = g.largestWords(g.context(ctx), name, words)
	return math.Float64frombits(words[0]), err
}

// SameBits reports for each of several vectors of the agents whether all agents have it with the
// same bits.
func (g *Group) SameBits(ctx context.Context, vectors ...func(i int) []float64) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	words := make([]uint64, 2*len(vectors))
	for v, of := range vectors {
		var last []float64
		h := uint64(0)
		for _, i := range g.local {
			if next := of(i); last == nil || len(next) == 0 || &next[0] != &last[0] { // agents may share it
				h = Digest(next)
				last = next
			}
			words[2*v] = max(words[2*v], h)
			words[2*v+1] = max(words[2*v+1], ^h) // the complement of the least digest
		}
	}
	if err := g.largestWords(g.context(ctx), Fingerprints, words); err != nil {
		return nil, err
	}
	same := make([]bool, len(vectors))
	for v := range same {
		same[v] = words[2*v] == ^words[2*v+1] // the largest digest is the least
	}
	return same, nil
}

// Digest returns a digest of the bits of a vector: the first word of its SHA-256.
func Digest(v []float64) uint64 {
	sum := sha256.New()
	_ = linalg.Write(sum, v) // a hash takes all
	return binary.LittleEndian.Uint64(sum.Sum(nil))
}

// largestWords replaces words by the largest of all agents; the words of the local agents are in
// words already.
func (g *Group) largestWords(ctx context.Context, name string, words []uint64) error {
	if g.config.N == 1 {
		return nil
	}
	if err := g.open(); err != nil {
		return err
	}
	Label(g.config.Team, Carried{Name: name + g.config.Of, Way: ByMax, Numbers: len(words), Group: true})
	defer Label(g.config.Team)
	err := g.together.reduce(ctx, Reduction{Max, 64, words})
	if err == nil {
		g.countSent(func(i int) dsbo.Traffic { return g.averages.MaxCost(i, len(words)) })
	}
	return err
}
