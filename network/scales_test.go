package network_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/network"
)

// TestPasses: an average takes one pass while its numbers stay near the numbers of the last one,
// else three; it is as near as the wire promises all the same. Agents that begin with its scales
// come to the same.
func TestPasses(t *testing.T) {
	const length = 1200
	first, one, three := 2, 1, 3
	w := newRing(5).W
	for _, c := range []struct {
		wire  network.Wire
		block int
		error float64
	}{
		{network.Float32, 1024, 0x1p-24}, {network.BF16, 64, 0x1p-7}, {network.Int8, 64, 0x1p-6},
	} {
		o := network.AverageOptions{Wire: network.Float32}
		ends := averagers(w, o)
		for step, x := range []struct {
			size   float64
			passes int
		}{
			{1, first}, {1, one}, {0x1p-2, one}, {0x1p40, three}, {0x1p40, one}, {0x1p-40, three},
			{0, one}, {0x1p-41, one}, {math.Inf(1), three}, {0x1p-40, one},
			{math.MaxFloat64 / 2, three}, {0x1p-1060, three},
		} {
			ends, others := ends, averagers(w, o)
			for i := range others {
				others[i].SetScales(ends[i].Scales())
				ends[i].Begin(uint64(step))
				others[i].Begin(uint64(step))
			}
			vectors := drawn(5, length, 1, 3)
			for i := range vectors {
				for k := range vectors[i] {
					vectors[i][k] *= x.size
				}
			}
			got := averageAllOn(t.Context(), c.wire, ends, vectors)
			again := averageAllOn(t.Context(), c.wire, others, vectors)
			name := fmt.Sprintf("%v, average %d", c.wire, step)
			for i := range got {
				sameNumbers(t, name, got[i], got[0])
				sameNumbers(t, name+" of agents with the same scales", again[i], got[0])
				if p := passesOf(ends[i]); p != x.passes || passesOf(others[i]) != p {
					t.Fatalf("%s: %d and %d passes; they must be %d", name, p, passesOf(others[i]), x.passes)
				}
			}
			if !math.IsInf(x.size, 0) {
				checkMean(t, name, got[0], vectors, c.block, c.error)
			} else if !slices.ContainsFunc(got[0], math.IsNaN) {
				t.Errorf("%s: infinite numbers must give NaN", name)
			}
		}
	}
}

// passesOf returns the passes of an agent's last average.
func passesOf(a *network.Averager) int { return a.Trip().Exchanges }

// TestScaleOfOneAgent: one agent alone whose numbers grow has all of them repeat the average, and
// numbers that are small for a scale on some agents do not.
func TestScaleOfOneAgent(t *testing.T) {
	ends := averagers(newRing(3).W, network.AverageOptions{Wire: network.Float32})
	passes := func(sizes ...float64) int {
		vectors := drawn(3, 40, 1, 0)
		for i, size := range sizes {
			for k := range vectors[i] {
				vectors[i][k] *= size
			}
		}
		got := averageAll(t.Context(), ends, vectors)
		for k, v := range got[2] {
			if want := exactMean(column(vectors, k)); math.Abs(v-want) > 0x1p-24*slices.Max(sizes) {
				t.Errorf("sizes %v: entry %d is %g; it must be %g", sizes, k, v, want)
			}
		}
		return passesOf(ends[0])
	}
	got := []int{passes(1, 1, 1), passes(1, 0, 0x1p-80), passes(0, 0, 0), passes(0x1p-80, 0x1p20, 1),
		passes(0x1p20, 0x1p-80, 1), passes(1, 1, 1)}
	want := []int{2, 1, 1, 3,
		1, 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("passes (-want +got):\n%s", diff)
	}
}
