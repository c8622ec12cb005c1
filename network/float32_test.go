package network_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// mix32 exchanges vectors of float32 by MixAdd32, and their copies in float64 by MixAdd of other ends of the same kind, and checks that the one is the
// other, rounded, where the last half of each vector is added to it in place.
func mix32(t *testing.T, what string, narrow, wide []dsbo.Mixer, length int) {
	t.Helper()
	n := len(narrow)
	vectors := drawn(n, length, 1, 9)
	got := make([][]float32, n)
	for i, v := range vectors {
		got[i] = make([]float32, length)
		kernel.FromFloat64(got[i], v)
		kernel.ToFloat64(v, got[i])
	}
	testkit.OK(errors.Join(networktest.RunAll(n, func(i int) error {
		v, half := vectors[i], length-length/2
		if err := narrow[i].(dsbo.Float32Mixer).MixAdd32(t.Context(), got[i], got[i], -0.3, got[i][half:]); err != nil {
			return err
		}
		return wide[i].(dsbo.AddingMixer).MixAdd(t.Context(), v, v, -0.3, v[half:])
	})...))
	for i, v := range vectors {
		want := make([]float32, length)
		kernel.FromFloat64(want, v)
		if !kernel.SameBits(got[i], want) {
			t.Errorf("%s, agent %d, %d numbers: MixAdd32 gives other numbers than MixAdd rounded", what, i, length)
		}
	}
}

// TestMixAdd32: the agents of a process mix float32 as float64 whatever the graph is, also where vectors are long, and in any order of lengths and types.
func TestMixAdd32(t *testing.T) {
	for name, w := range map[string]*network.Matrix{
		"ring":    newRing(5).W,
		"star":    testkit.Get(network.New("star", 4, network.Options{})).W,
		"any":     testkit.Get(network.NewMatrix([][]float64{{0, 2, 0}, {0, 1, 0}, {3, 0, -1}})),
		"clipped": testkit.Get(testkit.Get(network.New("complete", 5, network.Options{})).W.WithMixing(network.Clipped{Liars: 1})),
	} {
		l := network.NewLocal(w)
		var mixers []dsbo.Mixer
		for i := range w.N() {
			mixers = append(mixers, l.Mixer(i))
		}
		for _, length := range []int{1<<16 + 3, 7, 1 << 17, 1<<16 - 1, 7} {
			mix32(t, name, mixers, mixers, length)
		}
	}
}

// TestMixAdd32OnWires: whatever the wire and error feedback, MixAdd32 sends, draws and counts as MixAdd does, in each exchange of several stages.
func TestMixAdd32OnWires(t *testing.T) {
	w := newRing(4).W
	for _, wire := range wires {
		for _, feedback := range []bool{false, true} {
			o := network.AverageOptions{Wire: wire, ErrorFeedback: feedback, Seed: 3}
			narrow, wide := averagers(w, o), averagers(w, o)
			for stage := range uint64(3) {
				for i := range narrow {
					narrow[i].Begin(stage)
					wide[i].Begin(stage)
				}
				for range 2 {
					mix32(t, fmt.Sprintf("%v, error feedback %v, stage %d", wire, feedback, stage), asMixers(narrow), asMixers(wide), 70)
				}
				vectors := drawn(4, 40, 1, 4)
				got, want := mixAll(t, narrow, vectors), mixAll(t, wide, vectors)
				for i := range got { // the next draws are the same
					sameNumbers(t, wire.String(), got[i], want[i])
				}
			}
			if got, want := narrow[0].Sent(), wide[0].Sent(); got != want {
				t.Errorf("%v, error feedback %v: MixAdd32 counts %+v, MixAdd %+v", wire, feedback, got, want)
			}
		}
	}
}

func asMixers(ends []*network.Averager) (all []dsbo.Mixer) {
	for _, a := range ends {
		all = append(all, a)
	}
	return all
}

// TestTypesOfNeighbours: a neighbour that mixes numbers of another type is an error that names both, and nobody waits.
func TestTypesOfNeighbours(t *testing.T) {
	for _, length := range []int{5, 1 << 16} {
		l := network.NewLocal(newRing(6).W)
		errs := networktest.RunAll(6, func(i int) error {
			if i == 3 {
				v := make([]float32, length)
				return l.Mixer(i).(dsbo.Float32Mixer).MixAdd32(t.Context(), v, v, 0, nil)
			}
			return mixUntilError(t.Context(), l.Mixer(i), make([]float64, length), make([]float64, length))
		})
		if slices.Contains(errs, nil) {
			t.Fatalf("%d numbers: the agents ended with %v; all must end with an error", length, errs)
		}
		got := errors.Join(errs...)
		const one, other = "agent 3 sends float32 and agent 2 sends float64", "agent 2 sends float64 and agent 3 sends float32"
		s := strings.NewReplacer("agent 4", "agent 2").Replace(got.Error())
		if !errors.Is(got, dsbo.ErrShape) || !strings.Contains(s, one) && !strings.Contains(s, other) {
			t.Errorf("%d numbers: error %v; it must match dsbo.ErrShape and have %q or %q in it", length, got, one, other)
		}
	}
}

func TestMixAdd32Refuses(t *testing.T) {
	v := make([]float32, 2)
	for name, c := range map[string]struct{ dst, src, add []float32 }{"dst": {v[:1], v, nil}, "v": {v[:1], v[:1], v}} {
		if err := network.NewLocal(newRing(1).W).Mixer(0).(dsbo.Float32Mixer).MixAdd32(t.Context(), c.dst, c.src, 1, c.add); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("%s of another length: error %v, want dsbo.ErrShape", name, err)
		}
	}
}

// TestMixAdd32AllocatesNothing: neither short nor long vectors take memory in a steady run.
func TestMixAdd32AllocatesNothing(t *testing.T) {
	const n = 3
	for _, length := range []int{100, 1 << 16} {
		ends := averagers(newRing(n).W, network.AverageOptions{Wire: network.Float32})
		ctx, cancel := context.WithCancel(t.Context())
		mix := func(i int, v []float32) error { return ends[i].MixAdd32(ctx, v, v, math.Pi, v[length/2:]) }
		var wg sync.WaitGroup
		for i := 1; i < n; i++ {
			wg.Go(func() {
				v := make([]float32, length)
				for mix(i, v) == nil {
				}
			})
		}
		v := make([]float32, length)
		testkit.OK(mix(0, v))
		if got := testing.AllocsPerRun(100, func() { testkit.OK(mix(0, v)) }); got != 0 {
			t.Errorf("%d numbers: %v allocations an exchange; there must be none", length, got)
		}
		cancel()
		wg.Wait()
	}
}
