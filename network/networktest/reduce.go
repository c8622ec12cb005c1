package networktest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/network"
)

// A reduction is what all agents reduce together.
type reduction struct {
	op     network.Op
	bits   int
	length int
}

// reductions returns a quarter of all numbers of bits, by the number of agents, with lengths in
// turn, and a few of more words: the graphs of the suite together have all.
func reductions(n int) (all []reduction) {
	lengths := []int{3, 0, 1, 17, 1000, 5, 1}
	for bits := 1 + n%4; bits <= 64; bits += 4 {
		all = append(all, reduction{network.Op(bits % 2), bits, lengths[bits%len(lengths)]})
	}
	return append(all, reduction{network.Sum, 64, 1000}, reduction{network.Sum, 16, 1000},
		reduction{network.Max, 12, 123}, reduction{network.Sum, 11, 7840},
		reduction{network.Sum, network.Whole, 1000}, reduction{network.Sum, network.Whole + 1, 1})
}

// words returns what the n agents reduce in a round, by agents: numbers of r.bits bits, the same in
// every process.
func (r reduction) words(n, round int) [][]uint64 {
	source := rand.New(rand.NewPCG(uint64(r.bits), uint64(round)))
	all := make([][]uint64, n)
	for i := range all {
		all[i] = make([]uint64, r.length)
		for k := range all[i] {
			all[i][k] = source.Uint64() >> max(64-r.bits, 0)
		}
	}
	return all
}

// combined returns what all agents must get: the words of all combined, from the lowest on.
func (r reduction) combined(words [][]uint64) []uint64 {
	all := slices.Clone(words[0])
	for _, w := range words[1:] {
		carry := uint64(0)
		for k := range all {
			switch {
			case r.op == network.Max:
				all[k] = max(all[k], w[k])
			case r.bits >= network.Whole:
				all[k], carry = bits.Add64(all[k], w[k], carry)
			default:
				all[k] = (all[k] + w[k]) << (64 - r.bits) >> (64 - r.bits)
			}
		}
	}
	return all
}

// gatherLengths are 0, 1 and others around them, and one that fills many packets.
var gatherLengths = []int{3, 0, 1, 1, 0, 4099, 2}

// testReduce reduces, mixes and reduces again without a pause, and gathers now and then, twice.
func testReduce(t *testing.T, x *exchange) {
	n := x.w.N()
	all := reductions(n)
	const between = 5 // reductions from two gatherings to the next two
	for first := 0; first < len(all) && !t.Failed(); first += between {
		x.mustSucceed(t, func(ctx context.Context, i int, m network.Reducer) error {
			for round := first; round < min(first+between, len(all)); round++ {
				if err := all[round].check(ctx, m, n, i, round); err != nil {
					return err
				}
				if round%3 != 0 {
					continue
				}
				src := vectors(n, all[round].length, round)
				mixed := Product(x.w, src)
				if err := m.Mix(ctx, src[i], src[i]); err != nil {
					return err
				}
				if err := sameBits(src[i], mixed[i]); err != nil {
					return fmt.Errorf("mix after reduction %d: %w", round, err)
				}
			}
			return nil
		})
		for k := range 2 {
			length := gatherLengths[(2*first/between+k)%len(gatherLengths)]
			if err := errors.Join(x.gather(Context(t), vectors(n, length, first))...); err != nil {
				t.Error(err)
			}
		}
	}
}

// check has agent i of n reduce its words of a round, and returns an error unless it gets what it
// must.
func (r reduction) check(ctx context.Context, m network.Reducer, n, i, round int) error {
	words := r.words(n, round)
	want := r.combined(words)
	if err := m.Reduce(ctx, network.Reduction{Op: r.op, Bits: r.bits, Words: words[i]}); err != nil {
		return err
	}
	if !slices.Equal(words[i], want) {
		return fmt.Errorf("reduction %d, %d words of %d bits: %x; they must be %x", round, r.length, r.bits, words[i],
			want)
	}
	return nil
}

// testAverage compares averages with averages of agents in one process, to the last bit: on two of
// the wires, one with guard bits in its words and one without, and on graphs of other parity on
// the others.
func testAverage(t *testing.T, x *exchange) {
	n := x.w.N()
	local := network.NewLocal(x.w)
	defer local.Close()
	for wire := network.Wire(n % 2); wire <= network.Int8; wire += 2 {
		o := network.AverageOptions{Wire: wire, Seed: 5}
		want := make([][][]float64, n) // by agents
		here, err := network.NewAverages(local, x.w, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(RunAll(n, func(i int) (err error) {
			want[i], err = averages(Context(t), here.Agent(i), o, x.w, i)
			return err
		})...); err != nil {
			t.Fatal(err)
		}
		ends := make([]*network.Averager, n)
		for _, team := range x.teams {
			there, err := network.NewAverages(team, x.w, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range team.Local() {
				ends[i] = there.Agent(i)
			}
		}
		x.mustSucceed(t, func(ctx context.Context, i int, _ network.Reducer) error {
			got, err := averages(ctx, ends[i], o, x.w, i)
			if err != nil {
				return err
			}
			for round := range got {
				if err := sameBits(got[round], want[i][round]); err != nil {
					return fmt.Errorf("wire %v, vector %d: not what agents of one process get: %w", wire, round, err)
				}
			}
			return nil
		})
	}
}

// averages runs a fixed program of averages and exchanges on agent i, the same for every transport,
// and returns the vectors after each step. It includes combinations other than sums, codes if they
// are allowed, and averages whose last scales no longer fit.
func averages(ctx context.Context, a *network.Averager, o network.AverageOptions, w *network.Matrix,
	i int) (results [][]float64, err error) {
	for round, length := range []int{3, 0, 200} {
		a.Begin(uint64(2 * round))
		v := vectors(w.N(), length, round)[i]
		average := func(ctx context.Context, dst, _ []float64) error { return a.Average(ctx, dsbo.Named{Value: dst}) }
		steps := []func(context.Context, []float64, []float64) error{
			average, a.Mix,
			func(ctx context.Context, dst, src []float64) error { return a.Pull(ctx, 7, dst, src) },
			func(ctx context.Context, dst, src []float64) error {
				return errors.Join(a.CombineBy(largest), a.Mix(ctx, dst, src))
			},
			func(ctx context.Context, dst, src []float64) error { return a.Push(ctx, 8, dst, src) },
		}
		if o.Wire == network.Float64 && w.Mixing() == (network.Plain{}) {
			steps = append(steps, func(ctx context.Context, dst, src []float64) error {
				return a.MixCompressed(ctx, dst, slices.Clone(src), firstHalf{})
			})
		}
		for _, step := range append(steps, a.Mix, average) {
			if err := step(ctx, v, v); err != nil {
				return nil, err
			}
			results = append(results, slices.Clone(v))
			for k := range v { // other vectors on each agent again
				v[k] += float64(i)
			}
		}
		sizes := []float64{1, 3, 0x1p40, 0, 0x1p30, 0x1p-30, math.Inf(1), 1}
		for _, size := range sizes[:min(1+length, len(sizes))] { // no numbers have no size
			for k := range v {
				v[k] = float64(math.Cos(float64(k+i)) * size)
			}
			several := []network.Vector{{Wire: network.BF16}, {Wire: network.Float64}, {Wire: network.Float32},
				{Wire: network.BF16}}
			for k := range several {
				several[k].Dst = slices.Clone(v)
				if k == 1 {
					several[k].Dst = []float64{size, float64(i)}
				}
			}
			if err := a.AverageOn(ctx, several...); err != nil {
				return nil, err
			}
			for _, v := range several {
				results = append(results, append(v.Dst, float64(a.Trip().Exchanges)))
			}
		}
	}
	return results, nil
}

func largest(dst []float64, in [][]float64) {
	copy(dst, in[0])
	for _, v := range in[1:] {
		for k, e := range v {
			dst[k] = max(dst[k], e)
		}
	}
}

// firstHalf leaves the first half of a vector.
type firstHalf struct{}

func (firstHalf) Encode(dst, v []float64) []float64 { return append(dst, v[:len(v)/2]...) }

func (firstHalf) Decode(v, code []float64) error {
	clear(v[copy(v, code):])
	return nil
}

func (firstHalf) Floats(n int) int { return n / 2 }
