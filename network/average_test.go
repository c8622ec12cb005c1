package network_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// averagers returns the ends of all agents of a graph in this process.
func averagers(w *network.Matrix, o network.AverageOptions) []*network.Averager {
	return averagersOf(network.NewLocal(w), w, o)
}

func averagersOf(team network.Team, w *network.Matrix, o network.AverageOptions) []*network.Averager {
	averages := testkit.Get(network.NewAverages(team, w, o))
	ends := make([]*network.Averager, w.N())
	for i := range ends {
		ends[i] = averages.Agent(i)
	}
	return ends
}

// averageAll returns what each agent gets of the agents' vectors.
func averageAll(ctx context.Context, ends []*network.Averager, vectors [][]float64) [][]float64 {
	return averageAllBy(ends, vectors, func(a *network.Averager, v []float64) error {
		return a.Average(ctx, dsbo.Named{Value: v})
	})
}

// averageAllOn is averageAll on a wire of its own.
func averageAllOn(ctx context.Context, wire network.Wire, ends []*network.Averager, vectors [][]float64) [][]float64 {
	return averageAllBy(ends, vectors, func(a *network.Averager, v []float64) error {
		return a.AverageOn(ctx, network.Vector{Wire: wire, Dst: v})
	})
}

func averageAllBy(ends []*network.Averager, vectors [][]float64,
	average func(a *network.Averager, v []float64) error) [][]float64 {
	got := make([][]float64, len(ends))
	testkit.OK(errors.Join(networktest.RunAll(len(ends), func(i int) error {
		got[i] = slices.Clone(vectors[i])
		return average(ends[i], got[i])
	})...))
	return got
}

// exactMean returns the mean of some numbers, rounded once.
func exactMean(numbers []float64) float64 {
	sum := new(big.Float).SetPrec(2200) // enough for any sum
	for _, x := range numbers {
		sum.Add(sum, big.NewFloat(x))
	}
	mean, _ := sum.Quo(sum, big.NewFloat(float64(len(numbers)))).Float64()
	return mean
}

// drawn returns vectors of numbers of sizes from 2^-spread to 1 times size.
func drawn(n, length int, size float64, spread int) [][]float64 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(length)))
	vectors := zeros(n, length)
	for _, v := range vectors {
		for k := range v {
			v[k] = math.Ldexp((2*r.Float64()-1)*size, -r.IntN(spread+1))
		}
	}
	return vectors
}

func zeros(n, length int) [][]float64 {
	vectors := make([][]float64, n)
	for i := range vectors {
		vectors[i] = make([]float64, length)
	}
	return vectors
}

func cloned(vectors [][]float64) (all [][]float64) {
	for _, v := range vectors {
		all = append(all, slices.Clone(v))
	}
	return all
}

// column returns entry k of each vector.
func column(vectors [][]float64, k int) []float64 {
	c := make([]float64, len(vectors))
	for i, v := range vectors {
		c[i] = v[k]
	}
	return c
}

// largest returns the largest absolute entry of some blocks of vectors.
func largest(vectors [][]float64, lo, hi int) float64 {
	most := 0.0
	for _, v := range vectors {
		for _, x := range v[lo:hi] {
			most = max(most, math.Abs(x))
		}
	}
	return most
}

// bigStar returns a matrix with the edges of a star, of which only these matter to averages: a
// checked one of many agents takes long.
func bigStar(n int) *network.Matrix {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		rows[i][0], rows[0][i] = 1, 1
	}
	return testkit.Get(network.NewMatrix(rows))
}

// checkMean reports an agent's average that is further from the mean of vectors than an error of
// the largest number of its block, where the number of agents does not make it less.
func checkMean(t *testing.T, what string, got []float64, vectors [][]float64, block int, error float64) {
	t.Helper()
	for k := 0; k < len(got); k += 7 {
		lo := k / block * block
		want := exactMean(column(vectors, k))
		bound := error * largest(vectors, lo, min(lo+block, len(got)))
		bound += 0x1p-52*math.Abs(want) + 0x1p-1074 // of the result
		if d := math.Abs(got[k] - want); !(d <= bound) {
			t.Fatalf("%s: entry %d is %g, not %g: %g off, not %g", what, k, got[k], want, d, bound)
		}
	}
}

// TestAverage: an average is the same on all agents, and as near as the wire promises.
func TestAverage(t *testing.T) {
	graphs := map[int]*network.Matrix{1: newRing(1).W, 2: newRing(2).W, 5: newRing(5).W, 8: newRing(8).W,
		1024: bigStar(1024)}
	for _, c := range []struct {
		wire  network.Wire
		block int
		error float64 // see checkMean
	}{
		{network.Float64, 1024, 0x1p-53}, {network.Float32, 1024, 0x1p-24}, {network.BF16, 64, 0x1p-7},
		{network.Int8, 64, 0x1p-6},
	} {
		for n, w := range graphs {
			length := 1200
			if n == 1024 {
				length = 70
			}
			for name, vectors := range map[string][][]float64{
				"ordinary": drawn(n, length, 1, 20), "huge": drawn(n, length, math.MaxFloat64/2, 0),
				"subnormal": drawn(n, length, 0x1p-1050, 30),
			} {
				if n == 1024 && name != "ordinary" {
					continue // the same code: it takes long to add up
				}
				got := averageAll(t.Context(), averagers(w, network.AverageOptions{Wire: c.wire}), vectors)
				for i := range got {
					sameNumbers(t, fmt.Sprintf("agents 0 and %d", i), got[i], got[0])
				}
				checkMean(t, fmt.Sprintf("%v, %s, n = %d", c.wire, name, n), got[0], vectors, c.block, c.error)
			}
		}
	}
}

// TestAverageOfSpecialNumbers: what is not finite anywhere is NaN in its block, on all wires, and
// short vectors are exact.
func TestAverageOfSpecialNumbers(t *testing.T) {
	const length = 2100
	for _, wire := range wires {
		ends := averagers(newRing(3).W, network.AverageOptions{Wire: wire})
		vectors := [][]float64{make([]float64, length), make([]float64, length), make([]float64, length)}
		vectors[1][1024] = math.Inf(-1)
		vectors[2][2099] = math.NaN()
		vectors[0][5], vectors[1][5], vectors[2][5] = 3, 3, 3
		vectors[0][6] = math.Copysign(0, -1)
		for i, got := range averageAll(t.Context(), ends, vectors) {
			for k, want := range map[int]float64{0: 0, 5: 3, 6: 0, 1023: 0, 1024: math.NaN(), 1025: math.NaN(),
				2098: math.NaN(), 2099: math.NaN()} {
				sameNumbers(t, fmt.Sprintf("%v: agent %d, entry %d", wire, i, k), got[k:k+1], []float64{want})
			}
		}
		short := [][]float64{{1, math.Pi, math.MaxFloat64}, {2, math.Pi, math.MaxFloat64},
			{6, math.Pi, math.MaxFloat64}}
		for _, got := range averageAll(t.Context(), ends, [][]float64{short[0][:2], short[1][:2], short[2][:2]}) {
			sameNumbers(t, "short", got, []float64{3, math.Pi})
		}
		for _, got := range averageAll(t.Context(), ends, short) {
			sameNumbers(t, "short and huge", got[2:], []float64{math.MaxFloat64})
		}
		for _, got := range averageAll(t.Context(), ends, [][]float64{{}, {}, {}}) {
			sameNumbers(t, "nothing", got, nil)
		}
	}
}

// TestDrawsHaveNames: what is drawn depends on seed, agent, stage, number and entry, and on nothing
// else; and the mean of many draws is the number itself.
func TestDrawsHaveNames(t *testing.T) {
	const stages, length = 400, 64
	w := newRing(2).W
	vectors := drawn(2, length, 1, 3)
	twins := [][]float64{vectors[0], vectors[0]}
	for _, wire := range []network.Wire{network.BF16, network.Int8} {
		o := network.AverageOptions{Wire: wire, Seed: 7}
		ends, others := averagers(w, o), averagers(w, o)
		stage := func(ends []*network.Averager, s uint64, vectors [][]float64) []float64 {
			for _, a := range ends {
				a.Begin(s)
			}
			return averageAll(t.Context(), ends, vectors)[0]
		}
		mean := make([]float64, length)
		for s := range uint64(stages) {
			for k, x := range stage(ends, s, vectors) {
				mean[k] += x / stages
			}
		}
		for k, x := range mean {
			if want := (vectors[0][k] + vectors[1][k]) / 2; math.Abs(x-want) > 0x1p-7*5/math.Sqrt(2*stages) {
				t.Errorf("%v: entry %d is %g in the mean of %d draws; it must be about %g", wire, k, x, stages, want)
			}
		}
		first := stage(ends, 1, vectors)
		second := averageAll(t.Context(), ends, vectors)[0]
		for i := range others {
			others[i].SetScales(ends[i].Scales())
		}
		sameNumbers(t, "the same stage elsewhere", stage(others, 1, vectors), first)
		o.Seed = 8
		for what, other := range map[string][]float64{
			"number": second, "stage": stage(ends, 2, vectors), "seed": stage(averagers(w, o), 1, vectors),
		} {
			if slices.Equal(other, first) {
				t.Errorf("%v: another %s must have other draws", wire, what)
			}
		}
		// With other draws for each agent the mean of equal vectors is not always one of the
		// numbers that one agent may send.
		coarse := slices.ContainsFunc(stage(ends, 3, twins), func(x float64) bool { return math.Mod(x, 0x1p-7) != 0 })
		if wire == network.Int8 && !coarse {
			t.Error("agents must have draws of their own")
		}
	}
}

func TestAverageRefuses(t *testing.T) {
	w := testkit.Get(network.NewMatrix([][]float64{{1, 0}, {0, 1}}))
	_, err := network.NewAverages(network.NewLocal(w), w, network.AverageOptions{})
	testkit.WantError(t, "two parts", err, dsbo.ErrConfig, "the graph must be connected")
}

// TestOptionsOfCheckpoints: options are in JSON as in the checkpoints of earlier versions.
func TestOptionsOfCheckpoints(t *testing.T) {
	text := testkit.Get(json.Marshal(network.AverageOptions{Wire: network.BF16, Seed: 7, ErrorFeedback: true}))
	if want := `{"Wire":"bf16","ByMix":false,"Seed":7,"ErrorFeedback":true}`; string(text) != want {
		t.Errorf("%s; it must be %s", text, want)
	}
}

// TestAverageFeedsErrorsBack: the sum of a sequence of averages is off by what the wire has lost of
// the last one alone, while without feedback what is lost adds up.
func TestAverageFeedsErrorsBack(t *testing.T) {
	const n, length, times = 3, 40, 200
	w := testkit.Get(network.New("complete", n, network.Options{})).W
	for _, wire := range []network.Wire{network.Float32, network.BF16, network.Int8} {
		off := func(feed bool) (worst float64) {
			averages := testkit.Get(network.NewAverages(network.NewLocal(w), w, network.AverageOptions{Seed: 1}))
			entry := func(i, j, k int) float64 { return math.Cos(float64(1+i+3*j)) * math.Pow(0.97, float64(k)) }
			sums := zeros(n, length)
			testkit.OK(errors.Join(networktest.RunAll(n, func(i int) error {
				end, mean := averages.Agent(i), network.Vector{Wire: wire, Dst: make([]float64, length)}
				if feed {
					mean.Lost = zeros(1, length)
				}
				for k := range times {
					for j := range mean.Dst {
						mean.Dst[j] = entry(i, j, k)
					}
					if err := end.AverageOn(t.Context(), mean); err != nil {
						return err
					}
					for j, v := range mean.Dst {
						sums[i][j] += v
					}
				}
				return nil
			})...))
			for j, got := range sums[0] {
				want := 0.0
				for k := range times {
					for i := range n {
						want += entry(i, j, k) / n
					}
				}
				worst = max(worst, math.Abs(got-want))
			}
			return worst
		}
		// The terms fall by 0.97^199 = 2^-9, under the scales of the first ones: with feedback one
		// rounding is left, without it 200 add up as a random walk, to 14 of them.
		if fed, plain := off(true), off(false); fed > plain/5 {
			t.Errorf("%v: off by %g with feedback, by %g without", wire, fed, plain)
		}
	}
}

// TestJoint: vectors that are averaged together have the bits that they have one after the other,
// and so has what is lost of them, whatever the scales; where these fit they take one exchange.
func TestJoint(t *testing.T) {
	const n = 5
	lengths, wires := []int{2, 1200, 70, 1200, 1200},
		[]network.Wire{network.Float64, network.Float32, network.BF16, network.Float32, network.Float32}
	for _, wire := range []network.Wire{network.Float32, network.Int8} {
		o := network.AverageOptions{Wire: wire, Seed: 3}
		joint, single := averagers(newRing(n).W, o), averagers(newRing(n).W, o)
		lost := [2][n][]float64{}
		for step, sizes := range [][]float64{
			{1, 1, 1, 1, 1}, {1, 2, 1, 1, 1}, {0x1p90, 1, 0x1p30, 1, 1}, {1, 1, 1, 0x1p60, 0x1p60},
			{1, 1, 0x1p-40, 0, 1}, {0, 0x1p40, 1, 0x1p40, 0x1p-40}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1},
		} {
			means := [2][n][][]float64{}
			testkit.OK(errors.Join(networktest.RunAll(2*n, func(k int) error {
				by, i := k/n, k%n
				if lost[by][i] == nil {
					lost[by][i] = make([]float64, lengths[2])
				}
				var vectors []network.Vector
				for k, length := range lengths {
					v := network.Vector{Wire: wires[k], Dst: drawn(n, length, sizes[k]*float64(1+step+k), 3)[i]}
					means[by][i] = append(means[by][i], v.Dst)
					vectors = append(vectors, v)
				}
				vectors[2].Lost = [][]float64{lost[by][i]}
				if by == 0 {
					return joint[i].AverageOn(t.Context(), vectors...)
				}
				for _, v := range vectors {
					if err := single[i].AverageOn(t.Context(), v); err != nil {
						return err
					}
				}
				return nil
			})...))
			for i := range n {
				for k, mean := range means[0][i] {
					sameNumbers(t, fmt.Sprintf("%v, step %d, vector %d", wire, step, k), mean, means[1][i][k])
				}
				sameNumbers(t, "what is lost", lost[0][i], lost[1][i])
			}
			most := 1
			if wire == network.Int8 {
				most = 2 // scales are asked for each time
			}
			if got := joint[0].Trip().Exchanges; step == 7 && got > most {
				t.Errorf("%v: %d exchanges where scales fit; there must be at most %d", wire, got, most)
			}
		}
	}
}
