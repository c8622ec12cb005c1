package network_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"

	"github.com/google/go-cmp/cmp"
)

// A countingTeam counts what its agents' mixers are given to send, and checks that a wire
// carries it.
type countingTeam struct {
	network.Team
	t      *testing.T
	wire   network.Wire
	mixed  []dsbo.Traffic     // by agents: vectors of Mix, once each
	sums   []dsbo.Traffic     // words of Reduce, once each
	follow []networktest.Sums // by agents
}

type countingMixer struct {
	network.Reducer
	team *countingTeam
	id   int
}

func (c *countingTeam) Mixer(i int) network.Reducer {
	return countingMixer{c.Team.Mixer(i), c, i}
}

func (m countingMixer) Mix(ctx context.Context, dst, src []float64) error {
	code := m.team.wire.Encode(nil, src)
	carried := make([]float64, len(src))
	testkit.OK(m.team.wire.Decode(carried, code))
	sameNumbers(m.team.t, m.team.wire.String(), carried, src)
	s := &m.team.mixed[m.id]
	*s = dsbo.Traffic{Messages: s.Messages + 1, Floats: s.Floats + int64(len(src)), Bytes: s.Bytes + int64(len(code))}
	return m.Reducer.Mix(ctx, dst, src)
}

func (m countingMixer) Reduce(ctx context.Context, all ...network.Reduction) error {
	s := &m.team.sums[m.id]
	for _, r := range all {
		s.Messages++
		s.Bytes += int64(len(network.PackWords(nil, r.Bits, r.Words)))
		if sum := m.team.follow[m.id].Next(r.Op, r.Bits, len(r.Words)); !sum.Repeated {
			s.Floats += int64(sum.Numbers)
		}
	}
	return m.Reducer.Reduce(ctx, all...)
}

// TestSent: what is counted is what goes over the edges, and what Cost says.
func TestSent(t *testing.T) {
	for _, name := range []string{"star", "server", "ring"} {
		w := testkit.Get(network.New(name, 6, network.Options{})).W
		tree := w.Tree()
		for _, wire := range wires {
			team := &countingTeam{network.NewLocal(w), t, wire, make([]dsbo.Traffic, 6), make([]dsbo.Traffic, 6),
				slices.Repeat([]networktest.Sums{{Agents: 6}}, 6)}
			ends := averagersOf(team, w, network.AverageOptions{Wire: wire})
			cost := testkit.Get(network.NewAverages(team, w, network.AverageOptions{Wire: wire}))
			for _, length := range []int{3, 200} {
				before := ends[0].Sent()
				averageAll(t.Context(), ends, drawn(6, length, 1, 3))
				s := ends[0].Sent()
				got := dsbo.Traffic{Messages: s.Messages - before.Messages, Floats: s.Floats - before.Floats,
					Bytes: s.Bytes - before.Bytes}
				if least, most := cost.Cost(0, length, wire); got.Floats != least.Floats ||
					got.Messages < least.Messages || got.Messages > most.Messages ||
					got.Bytes < least.Bytes || got.Bytes > most.Bytes {
					t.Errorf("%s, %v: an average of %d numbers counts %+v; its cost is %+v to %+v", name, wire,
						length, got, least, most)
				}
			}
			mixAll(t, ends, drawn(6, 77, 1, 3))
			for i, a := range ends {
				m, s := team.mixed[i], team.sums[i]
				up, edges := int64(tree.Sends(i)), int64(w.Sends(i))
				want := dsbo.Traffic{
					Messages: edges*m.Messages + up*s.Messages, Floats: edges*m.Floats + up*s.Floats,
					Bytes: edges*m.Bytes + up*s.Bytes,
				}
				if got := a.Sent(); got != want {
					t.Errorf("%s, %v: agent %d counts %+v; it must be %+v", name, wire, i, got, want)
				}
			}
		}
	}
}

// mixAll returns what each agent gets of one exchange.
func mixAll(t *testing.T, ends []*network.Averager, vectors [][]float64) [][]float64 {
	got := make([][]float64, len(ends))
	testkit.OK(errors.Join(networktest.RunAll(len(ends), func(i int) error {
		got[i] = make([]float64, len(vectors[i]))
		return ends[i].Mix(t.Context(), got[i], vectors[i])
	})...))
	return got
}

// TestMixOnWires: what is mixed is near the vectors, in the mean of many draws the vectors
// themselves, and on Float64 nothing else.
func TestMixOnWires(t *testing.T) {
	const rounds = 400
	w := newRing(4).W
	vectors := drawn(4, 70, 1, 4)
	exact := networktest.Product(w, vectors)
	for wire, unit := range map[network.Wire]float64{network.Float64: 0, network.Float32: 0x1p-25, network.BF16: 0x1p-8,
		network.Int8: 1.01 / 127} {
		ends := averagers(w, network.AverageOptions{Wire: wire})
		mean := make([]float64, 70)
		for range rounds {
			for i, got := range mixAll(t, ends, vectors) {
				for k, x := range got {
					if d := math.Abs(x - exact[i][k]); !(d <= unit) {
						t.Fatalf("%v: agent %d, entry %d is %g off; it must be at most %g", wire, i, k, d, unit)
					}
					if i == 0 {
						mean[k] += x / rounds
					}
				}
			}
		}
		bound := 5*unit/math.Sqrt(rounds) + 1e-13
		if wire == network.Float32 { // rounds to the nearest, always alike
			bound = unit
		}
		for k, x := range mean {
			if d := math.Abs(x - exact[0][k]); d > bound {
				t.Errorf("%v: entry %d is %g off in the mean; it must be at most %g", wire, k, d, bound)
			}
		}
	}
}

// TestErrorFeedback: what the wire rounds off comes in the next stages at the same place, so that
// the sum of all that is sent stays within one rounding of the sum of the vectors; and a copy of
// the state goes on with the same bits.
func TestErrorFeedback(t *testing.T) {
	const stages = 50
	w := testkit.Get(network.NewMatrix([][]float64{{1}}))
	places := drawn(2, 40, 1, 4)
	for _, wire := range []network.Wire{network.Float32, network.BF16, network.Int8} {
		o := network.AverageOptions{Wire: wire, ErrorFeedback: true}
		a, resumed := averagers(w, o)[0], averagers(w, o)[0]
		sums := [][]float64{make([]float64, 40), make([]float64, 40)}
		for s := range uint64(stages) {
			if s == stages/2 {
				var saved []dsbo.Named
				for _, n := range a.State() {
					saved = append(saved, dsbo.Named{Name: n.Name, Value: slices.Clone(n.Value)})
				}
				resumed.SetState(saved)
			}
			a.Begin(s)
			resumed.Begin(s)
			for place, v := range places {
				got := make([]float64, 40)
				testkit.OK(a.Mix(t.Context(), got, v))
				for k, x := range got {
					sums[place][k] += x
				}
				if s >= stages/2 {
					again := make([]float64, 40)
					testkit.OK(resumed.Mix(t.Context(), again, v))
					sameNumbers(t, "resumed", again, got)
				}
			}
		}
		for place, v := range places {
			for k, x := range sums[place] {
				if d := math.Abs(x - stages*v[k]); d > 1.1/64 {
					t.Errorf("%v: place %d, entry %d: %d times %g have become %g, %g off", wire, place, k,
						stages, v[k], x, d)
				}
			}
		}
		vector := slices.Repeat([]float64{math.Inf(1)}, 40)
		a.Begin(stages)
		testkit.OK(a.Mix(t.Context(), vector, vector))
		a.Begin(stages + 1)
		testkit.OK(a.Mix(t.Context(), vector, places[0]))
		if slices.ContainsFunc(vector, math.IsNaN) {
			t.Errorf("%v: what was not finite once must not stay", wire)
		}
	}
}

// TestSteadyAverage: averages and exchanges of a length that has been before allocate nothing.
func TestSteadyAverage(t *testing.T) {
	for _, wire := range wires {
		a := averagers(newRing(1).W, network.AverageOptions{Wire: wire})[0]
		v := make([]float64, 300)
		allocations := testing.AllocsPerRun(10, func() {
			a.Begin(1)
			testkit.OK(a.Average(t.Context(), dsbo.Named{Value: v}))
			testkit.OK(a.Mix(t.Context(), v, v))
		})
		if allocations > 0 {
			t.Errorf("%v: %g allocations; there must be none", wire, allocations)
		}
	}
}

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
