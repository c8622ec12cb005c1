package network

import (
	"context"
	"fmt"
	"math"
	"slices"
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
