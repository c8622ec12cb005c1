package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"

	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/networktest"
	"dsbo/train"
)

// A tape has each member's terms of all masked sums of a run, in their order: the sums are what
// every member sees.
type tape struct {
	mu    sync.Mutex
	terms map[int][][]float64
}

// sum returns the k-th sum over some members.
func (s *tape) sum(k int, members ...int) []float64 {
	all := make([]float64, len(s.terms[members[0]][k]))
	for _, i := range members {
		linalg.Add(all, all, s.terms[i][k])
	}
	return all
}

// A taped team writes the terms of an agent to a tape.
type taped struct {
	network.Saver
	tape  *tape
	agent int
}

func (g taped) Mixer(i int) network.Reducer {
	return &tapedMixer{Reducer: g.Saver.Mixer(i), tape: g.tape, agent: g.agent,
		sums: networktest.Sums{Agents: 4}, scales: map[[2]int]int{}, last: map[[2]int]int{}}
}

type tapedMixer struct {
	network.Reducer
	tape   *tape
	agent  int
	sums   networktest.Sums
	asked  []int          // scales that were asked for, of sums that have not come yet
	scales map[[2]int]int // by bits and numbers, of the sums that go without asking
	last   map[[2]int]int // likewise, the places of the last ones on the tape
}

// wholeTerms returns the numbers of one of four agents in the words of a whole number.
func wholeTerms(sum networktest.Sum, bits int, words []uint64) []float64 {
	const counts = 2 * (1 + 2)
	size, lowest := uint(sum.Cell-counts), []int{-160, -1074}[bits-network.Whole]
	whole, terms := new(big.Int), make([]float64, sum.Numbers)
	for _, w := range slices.Backward(words) {
		whole.Lsh(whole, 64).Or(whole, new(big.Int).SetUint64(w))
	}
	for i := range terms {
		value := new(big.Int).Rsh(whole, counts)
		value.Mod(value, new(big.Int).Lsh(big.NewInt(1), size))
		whole.Rsh(whole, uint(sum.Cell))
		if value.Bit(int(size)-1) == 1 { // it has borrowed from the next one
			value.Sub(value, new(big.Int).Lsh(big.NewInt(1), size))
			whole.Add(whole, big.NewInt(1))
		}
		f := new(big.Float).SetInt(value)
		terms[i], _ = f.SetMantExp(f, lowest).Float64()
	}
	return terms
}

// term returns the numbers that words of a sum are.
func (m *tapedMixer) term(sum networktest.Sum, bits int, words []uint64) []float64 {
	term, headroom := make([]float64, sum.Numbers), 16/2 // half of the guard bits
	if bits >= 44 {
		headroom = 12 / 2 // of float32
	}
	scale, kind := 0, [2]int{bits, sum.Numbers}
	switch {
	case sum.Cell > 0:
		return wholeTerms(sum, bits, words)
	case sum.Flags:
		scale = m.scales[kind]
	default: // of all, as vectors here are no longer than a block
		if scale, m.asked = m.asked[0], m.asked[1:]; bits < 64 && scale > 0 {
			m.scales[kind] = scale + headroom
		}
	}
	for i := range term {
		term[i] = math.Ldexp(float64(int64(words[i]<<((64-bits)%64))>>((64-bits)%64)), scale-1100-bits)
	}
	return term
}

func (m *tapedMixer) Reduce(ctx context.Context, all ...network.Reduction) error {
	for _, r := range all {
		if err := m.reduce(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (m *tapedMixer) reduce(ctx context.Context, r network.Reduction) error {
	sum := m.sums.Next(r.Op, r.Bits, len(r.Words))
	if r.Op == network.Sum {
		m.tape.mu.Lock()
		all, term := m.tape.terms[m.agent], m.term(sum, r.Bits, r.Words)
		kind := [2]int{min(r.Bits, network.Whole), sum.Numbers}
		if sum.Repeated { // before, the same terms mod 2^bits
			all[m.last[kind]] = term
		} else {
			m.last[kind] = len(all)
			m.tape.terms[m.agent] = append(all, term)
		}
		m.tape.mu.Unlock()
	}
	err := m.Reducer.Reduce(ctx, r)
	if r.Op == network.Max && r.Bits < 64 {
		m.asked = append(m.asked, int(r.Words[0]))
	}
	return err
}

// TestNothingIsRebuilt: a member leaves at iteration 12, and those that stay have seen sums with
// it, then and later, as they go back to their checkpoints, and sums without it. A curious one
// tries each pair of a sum before and one after: their difference would be the term of who left if
// both were at one point. Even the nearest pair, which it cannot know, tells no gradient, product
// or diagonal to better than a twentieth. Where the others' terms are small, as of a hidden unit
// that answers to rows of one site alone, the sum before is near the term by itself: then the sum
// after tells the others' terms to no better than a twentieth. Losses and scores, which follow from
// the models before and after, are near each other, but none is the same.
func TestNothingIsRebuilt(t *testing.T) {
	classes := testkit.Get(data.HoldOut(task(t), 0.3, 1))
	values := classes // the same features, and a number to predict
	values.Classes, values.Test, values.Shards = 0, withValues(values.Test), slices.Clone(values.Shards)
	for i, s := range values.Shards {
		values.Shards[i] = data.Shard{Train: withValues(s.Train), Val: withValues(s.Val),
			Holdout: withValues(s.Holdout)}
	}
	network39 := models.MLP{Features: features, Outputs: 3, Hidden: []int{4}} // shorter vectors travel as they are
	for _, c := range []struct {
		method string
		wire   network.Wire
		model  models.Model
		set    data.Task
	}{
		{"newtoncg", network.Float64, models.Softmax{Features: features, Classes: 3}, classes},
		{"newtoncg", network.Int8, network39, classes},
		{"newtoncg", network.Float32, network39, classes},
		{"newtoncg", network.Float64, network39, classes},
		{"newtoncg", network.Float32, models.Softmax{Features: features, Classes: 3}, classes},
		{"newtoncg", network.Float64, models.Linear{Features: features, Outputs: 1, Loss: models.Squared{}}, values},
		{"adamcg", network.Float64, models.Softmax{Features: features, Classes: 3}, classes},
		{"adamcg", network.Int8, network39, classes},
	} {
		t.Run(fmt.Sprintf("%s, %v, %T", c.method, c.wire, c.model), func(t *testing.T) {
			_, deep := c.model.(models.MLP)
			if testing.Short() && (deep || c.wire > network.Float64) {
				t.Skip("like the others")
			}
			run := train.Config{W: testkit.Get(network.Ring(4, 0.5)).W, K: 24, EvalEvery: 4, CheckpointEvery: 6,
				Method: testkit.Get(algo.New(c.method)), Changing: true}
			if c.method == "newtoncg" && !deep {
				use(t, run.Method, "mem=6") // the default's large matrices of pairs take the most time
			} else if c.method == "newtoncg" {
				use(t, run.Method, "damping=1") // as where a lower problem is not convex
			}
			run.Problem = testkit.Get(train.NewProblem(c.set, c.model, models.Config{}))
			run.Problem.Average.Wire = c.wire
			for length, p := range rebuild(t, run) {
				want := 0.05
				if slices.Contains(ofLosses, length) {
					want = 1e-3
				}
				if !(p.off() > want) {
					t.Errorf("sums of %d numbers: a term is rebuilt but for %v of it", length, p.Off)
				}
				t.Logf("sums of %d numbers: the nearest difference is off the term by %.2g of it, the sum by %.2g",
					length, p.Off, p.Alone)
			}
		})
	}
}

// withValues returns examples whose target is a number instead of a class.
func withValues(e data.Examples) data.Examples {
	y := make([]float64, e.X.Rows())
	for i := range y {
		y[i] = math.Sin(float64(i))
	}
	e.Target = testkit.Get(ad.FloatTable(len(y), 1, y))
	return e
}

// A pair of a sum with the term of who leaves and one without.
type pair struct {
	Off   float64 // of their difference from the term, as a share of it
	Alone float64 // likewise of the sum with it: all others' terms
}

// off returns how far the difference is from the term, as a share of it or of all others' terms,
// whichever are smaller.
func (p pair) off() float64 {
	if p.Alone > 0 && p.Alone < 1 {
		return p.Off / p.Alone
	}
	return p.Off
}

// rebuild has agent 3 leave a run, and returns by the length of sums the pair of a sum with it and
// a sum without whose difference comes nearest to its term.
func rebuild(t *testing.T, c train.Config) map[int]pair {
	const left = 3
	stay := []int{0, 1, 2}
	before, after := &tape{terms: map[int][][]float64{}}, &tape{terms: map[int][][]float64{}}
	c.Dir = t.TempDir()
	(&history{T: t, Config: c, tape: before}).epochOf(0, train.Point{}, c.K)
	c.Dir = t.TempDir()
	c.Membership = membership.Log{{Epoch: 1, Iteration: 12, Session: 9, ID: sessionID, Members: stay}}
	h := &history{T: t, Config: c}
	first := h.epochOf(0, train.Point{}, 12)
	h.tape = after
	h.epochOf(1, first, c.K)
	var sums [][]float64 // after the change
	for j := range after.terms[0] {
		sums = append(sums, after.sum(j, stay...))
	}
	nearest := map[int]pair{}
	for k, term := range before.terms[left] {
		if linalg.Norm(term) == 0 {
			continue
		}
		all, others := before.sum(k, append(stay, left)...), before.sum(k, stay...)
		if e := rebuildError(all, others, term); !(e < 1e-9) {
			t.Fatalf("sum %d: at one point the difference has the term but for %v of it", k, e)
		}
		for _, sum := range sums {
			if len(sum) != len(term) {
				continue
			}
			p := pair{rebuildError(all, sum, term), linalg.Norm(others) / linalg.Norm(term)}
			if best, known := nearest[len(term)]; !known || p.off() < best.off() {
				nearest[len(term)] = p
			}
		}
	}
	return nearest
}

// ofLosses are the lengths of sums of losses, of right answers and of numbers of examples.
var ofLosses = []int{2, algo.ShorterSteps, 8, 16}

// rebuildError returns how far the difference of two sums is from a term, as a share of it.
func rebuildError(with, without, term []float64) float64 {
	d := make([]float64, len(term))
	linalg.Sub(d, with, without)
	return math.Sqrt(linalg.Dist2(d, term)) / linalg.Norm(term)
}

// TestBlurBeside: the penalty's part of a diagonal is not blurred, as all know it; all of it is
// where an oracle has none, and an error is told. In the first epoch
// nothing is.
func TestBlurBeside(t *testing.T) {
	broken := errors.New("broken")
	told := func(dst, _ []float64) error {
		copy(dst, []float64{10, 20})
		return nil
	}
	fails := func([]float64, []float64) error { return broken }
	for name, c := range map[string]struct {
		epoch   uint64
		penalty func(dst, x []float64) error
		e       [2]float64 // what is not blurred
		err     error
	}{
		"told":        {3, told, [2]float64{10, 20}, nil},
		"none":        {3, nil, [2]float64{}, nil},
		"broken":      {3, fails, [2]float64{}, broken},
		"first epoch": {0, fails, [2]float64{11, 22}, nil},
	} {
		diagonal := []float64{11, 22}
		err := train.BlurBeside(1, c.epoch, c.penalty, diagonal, nil)
		if !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: error %v, want %v", name, err, c.err)
		}
		for j, d := range diagonal {
			part := []float64{11, 22}[j] - c.e[j]
			moved := math.Abs(d-c.e[j]-part) / max(part, 1)
			if err == nil && (moved > 0.5 || (moved == 0) != (part == 0)) {
				t.Errorf("%s: entry %d of the diagonal is %g", name, j, d)
			}
		}
	}
}
