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

// words returns what the agents reduce: the same in every process.
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

// combined returns what Reduce must give.
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

// reducer returns a mixer's Reduce, or an error: all transports have one.
func reducer(m dsbo.Mixer) (network.Reducer, error) {
	r, ok := m.(network.Reducer)
	if !ok {
		return nil, errors.New("the mixer must be a network.Reducer")
	}
	return r, nil
}

// testReduce reduces, mixes and reduces again without a pause, and gathers now and then.
func testReduce(t *testing.T, x *exchange) {
	n := x.w.N()
	all := reductions(n)
	const between = 7 // reductions from one gathering to the next
	for first := 0; first < len(all) && !t.Failed(); first += between {
		x.mustSucceed(t, func(ctx context.Context, i int, m dsbo.Mixer) error {
			reducer, err := reducer(m)
			if err != nil {
				return err
			}
			for round := first; round < min(first+between, len(all)); round++ {
				r := all[round]
				words := r.words(n, round)
				want := r.combined(words)
				if err := reducer.Reduce(ctx, r.op, r.bits, words[i]); err != nil {
					return err
				}
				if !slices.Equal(words[i], want) {
					return fmt.Errorf("reduction %d, %d words of %d bits: %x; they must be %x", round, r.length,
						r.bits, words[i], want)
				}
				if round%3 != 0 {
					continue
				}
				src := vectors(n, r.length, round)
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
		if err := errors.Join(x.gather(Context(t), vectors(n, 3, first))...); err != nil {
			t.Error(err)
		}
	}
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
		x.mustSucceed(t, func(ctx context.Context, i int, _ dsbo.Mixer) error {
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

// averages returns what an agent gets of a program of averages and exchanges, also by other
// combinations than sums and of codes, where these may be: averages too whose scales no longer fit.
func averages(ctx context.Context, a *network.Averager, o network.AverageOptions, w *network.Matrix,
	i int) (results [][]float64, err error) {
	for round, length := range []int{3, 0, 200} {
		a.Begin(uint64(2 * round))
		v := vectors(w.N(), length, round)[i]
		average := func(ctx context.Context, dst, _ []float64) error { return a.Average(ctx, dst) }
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
			for wire := network.Float32; wire <= network.Int8; wire++ {
				mean := slices.Clone(v)
				if err := a.AverageOn(ctx, network.Vector{Wire: wire, Dst: mean}); err != nil {
					return nil, err
				}
				results = append(results, append(mean, float64(a.Trip().Exchanges)))
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

// largest is the largest entry of the agents.
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

// step reduces zeros.
func (r reduction) step(ctx context.Context, m dsbo.Mixer) error {
	reducer, err := reducer(m)
	if err != nil {
		return err
	}
	return reducer.Reduce(ctx, r.op, r.bits, make([]uint64, r.length))
}

// testReduceRefuses has agent 0 reduce otherwise than the others.
func testReduceRefuses(t *testing.T, x *exchange) {
	others := []reduction{{network.Max, 16, 5}, {network.Sum, 17, 5}, {network.Sum, 16, 6}}
	x.wantMismatch(t, others[x.w.N()%len(others)].step, reduction{network.Sum, 16, 5}.step)
}

// testReduceBits: numbers of bits that no word has are an error for all.
func testReduceBits(t *testing.T, x *exchange) {
	bits := 65 * (x.w.N() % 2)
	x.wantAll(t, x.allStep(Context(t), reduction{network.Sum, bits, 2}.step), dsbo.ErrShape)
}

// testReduceEnds: agents that wait in a reduction for the last one, and between reductions mix, are
// released by the end of their context, and by the end of the exchange.
func testReduceEnds(t *testing.T, x *exchange) {
	mixAndReduce := func(ctx context.Context, m dsbo.Mixer) error {
		if err := mixStep(3, 3)(ctx, m); err != nil {
			return err
		}
		return reduction{network.Sum, 8, 20}.step(ctx, m)
	}
	if x.w.N()%2 == 0 {
		ctx, cancel := context.WithCancel(Context(t))
		x.wantEnds(t, x.withhold(ctx, cancel, mixAndReduce), context.Canceled)
		return
	}
	x.wantEnds(t, x.withhold(Context(t), x.closeAll, mixAndReduce), network.ErrClosed)
}

// testReduceFail: a process that fails, with the reason of the process of agent 0, releases all
// agents that wait in a reduction.
func testReduceFail(t *testing.T, x *exchange) {
	ctx, r := Context(t), reduction{network.Max, 12, 4}
	errs := x.onAgents(func(i int, m dsbo.Mixer) (err error) {
		if i == 0 {
			for k := 0; k < 3 && err == nil; k++ {
				err = r.step(ctx, m)
			}
			for _, team := range x.teams {
				if slices.Contains(team.Local(), i) {
					team.Fail(&dsbo.DivergedError{Quantity: "x"})
				}
			}
			if err != nil {
				return err
			}
		}
		return step(r.step).untilError(ctx, m)
	})
	x.wantAll(t, errs, dsbo.ErrDiverged)
}
