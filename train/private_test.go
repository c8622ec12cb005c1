package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
	"dsbo/train/exact"
)

// A tally counts what the agents of a team send: as its transport would see it, a vector to each
// neighbour in Mix, and in a reduction one up and one down each edge of a tree.
type tally struct {
	mu   sync.Mutex
	wire network.Wire
	sent dsbo.Traffic
}

func (c *tally) add(messages, floats, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent.Add(dsbo.Traffic{Messages: int64(messages), Floats: int64(floats), Bytes: int64(bytes)})
}

// A guarded team refuses to gather rows that are longer than a usage record, and counts.
type guarded struct {
	network.Team
	w     *network.Matrix
	count *tally
}

func (g guarded) Gather(ctx context.Context, rows [][]float64) error {
	if length := len(rows[0]); length > runs.UsageLen {
		return fmt.Errorf("a row of %d numbers left its agent", length)
	}
	return g.Team.Gather(ctx, rows)
}

func (g guarded) Mixer(i int) network.Reducer {
	return guardedMixer{g.Team.Mixer(i), g.count, g.w.Sends(i), g.w.Tree().Sends(i),
		&networktest.Sums{Agents: g.w.N()}}
}

type guardedMixer struct {
	network.Reducer
	count          *tally
	mixes, reduces int // messages of the agent
	sums           *networktest.Sums
}

func (m guardedMixer) Mix(ctx context.Context, dst, src []float64) error {
	m.count.add(m.mixes, m.mixes*len(src), m.mixes*m.count.wire.Bytes(len(src)))
	return m.Reducer.Mix(ctx, dst, src)
}

// Reduce implements [network.Reducer]: what travels together is one message.
func (m guardedMixer) Reduce(ctx context.Context, all ...network.Reduction) error {
	m.count.add(m.reduces, 0, 0)
	for _, r := range all {
		sum := m.sums.Next(r.Op, r.Bits, len(r.Words))
		floats := sum.Numbers
		if sum.Repeated {
			floats = 0
		}
		m.count.add(0, m.reduces*floats, m.reduces*network.PackedBytes(r.Bits, len(r.Words)))
	}
	return m.Reducer.Reduce(ctx, all...)
}

// TestNothingPrivateLeaves: in a run over two processes, with its evaluations and the models after
// it, nothing is gathered but usage records; and all that the exchange carries is counted, by what
// it is for.
func TestNothingPrivateLeaves(t *testing.T) {
	for _, wire := range []network.Wire{network.Float64, network.Float32, network.Int8} {
		t.Run(wire.String(), func(t *testing.T) {
			ring := testkit.Get(network.Ring(4, 0.5))
			set := testkit.Get(data.HoldOut(task(t), 0.3, 1))
			c := train.Config{W: ring.W, K: 4, EvalEvery: 2,
				Method: &algo.MADSBO{Alpha: "0.5", Beta: "0.3", Gamma: "0.3"}}
			c.Problem = testkit.Get(train.NewProblem(set, models.Softmax{Features: features, Classes: classes},
				models.Config{}))
			c.Problem.Average.Wire = wire
			var want exact.Solution
			solve := func(c train.Config) (r *train.Result, sol exact.Solution, sent dsbo.Traffic, err error) {
				c.Problem.Sent = &sent
				if r, err = train.Run(context.Background(), c); err != nil {
					return r, sol, sent, err
				}
				if sol, err = r.Exact.Solve(context.Background(), make([]float64, len(r.X))); err != nil {
					return r, sol, sent, err
				}
				c.Problem.W = ring.W
				_, err = c.Problem.Compare(context.Background(), train.Fit{X: make([]float64, len(r.X)), Y: sol.Y},
					c.Problem, train.Fit{X: r.X, Y: r.Y})
				return r, sol, sent, err
			}
			alone, want, _, err := solve(c)
			testkit.OK(err)
			count := &tally{wire: wire}
			cs := parts(t, c, []int{0, 3}, []int{1, 2})
			for k := range cs {
				cs[k].Problem.Team = guarded{cs[k].Problem.Team, c.W, count}
			}
			modelsSent, sols := make([]dsbo.Traffic, len(cs)), make([]exact.Solution, len(cs))
			results, errs := collective(cs, func(k int, c train.Config) (r *train.Result, err error) {
				r, sols[k], modelsSent[k], err = solve(c)
				return r, err
			})
			testkit.OK(errors.Join(errs...))
			for k, r := range results {
				sameRun(t, alone, r)
				if diff := cmp.Diff(want, sols[k],
					cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
					t.Errorf("process %d:\n%s", k, diff)
				}
				total := runs.PhaseTraffic{Method: runs.Total(r.Usage).Traffic, Evaluation: r.Evaluation,
					Models: modelsSent[k]}.Total()
				if total != count.sent {
					t.Errorf("process %d counts %+v, the exchange %+v", k, total, count.sent)
				}
			}
		})
	}
}

// TestCompare: the paired comparison is over all examples together, counted by hand.
func TestCompare(t *testing.T) {
	set := testkit.Get(data.HoldOut(task(t), 0.3, 1))
	prob := testkit.Get(train.NewProblem(set, models.Softmax{Features: features, Classes: classes}, models.Config{}))
	a, b := make([]float64, features*classes), make([]float64, features*classes)
	for i := range b {
		a[i], b[i] = math.Sin(float64(i)), math.Cos(float64(3*i))
	}
	x := make([]float64, features)
	got := testkit.Get(prob.Compare(context.Background(), train.Fit{X: x, Y: b}, prob, train.Fit{X: x, Y: a}))
	var val, held []data.Examples
	for _, s := range set.Shards {
		val, held = append(val, s.Val), append(held, s.Holdout)
	}
	sets := map[string][]data.Examples{runs.Validation: val, runs.HeldOut: held, runs.Test: {set.Test}}
	if len(got) != len(sets) || got[0].Set != runs.Test {
		t.Fatalf("gains on %v, want one for each of %d sets, that on test examples first", got, len(sets))
	}
	for _, gain := range got {
		var d, hits []float64
		for _, e := range sets[gain.Set] {
			for i := range e.Len() {
				la, ha := byHand(e, i, a)
				lb, hb := byHand(e, i, b)
				d, hits = append(d, lb-la), append(hits, hb-ha)
			}
		}
		change, deviation := meanAndError(d)
		accuracy, accuracyError := meanAndError(hits)
		if gain.Examples != len(d) {
			t.Errorf("%s: %d examples, want %d", gain.Set, gain.Examples, len(d))
		}
		var numbers []float64
		for _, n := range []runs.Number{gain.LossChange, gain.LossError, gain.AccuracyChange, gain.AccuracyError,
			gain.Loss - gain.LossAgainst} {
			numbers = append(numbers, float64(n))
		}
		near(t, gain.Set, numbers, []float64{change, deviation, accuracy, accuracyError, change}, 1e-12)
	}
	other := prob // without answers
	other.Each = func(i int, set train.Set, m train.Fit) (train.Each, error) {
		each, err := prob.Each(i, set, m)
		each.Hits = nil
		return each, err
	}
	for _, pair := range [][2]train.Problem{{prob, other}, {other, prob}, {other, other}} {
		for _, gain := range testkit.Get(pair[0].Compare(t.Context(), train.Fit{X: x, Y: b}, pair[1],
			train.Fit{X: x, Y: a})) {
			for _, n := range []runs.Number{gain.Accuracy, gain.AccuracyAgainst, gain.AccuracyError} {
				if n.Known() {
					t.Errorf("%s: without answers an accuracy is %g", gain.Set, n)
				}
			}
		}
	}
}

// meanAndError returns a mean and its standard error.
func meanAndError(v []float64) (mean, deviation float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		deviation += (x - mean) * (x - mean) / (n - 1)
	}
	return mean, math.Sqrt(deviation / n)
}

// TestBest: the best iterate has the least Φ, or of the least held-out loss where the newest is
// above it by more than a standard error, and the same after a resume.
func TestBest(t *testing.T) {
	c, _ := config(t)
	c.Method = method(t, "madsbo", "alpha=[0.9,0.9,0.9,0.9,0.9,0.9,0.9,0.9,0.001]", "gamma=0.4")
	loss := func(y []float64) float64 { return 1 + math.Abs(y[0]+0.05) } // any function of y will do
	const rows = 2.0                                                     // of each agent
	heldOut := c
	heldOut.Evaluate = train.EvaluateOff
	heldOut.Problem.Score = func(_ int, m train.Fit) (train.Scores, error) {
		return train.Scores{Holdout: train.Score{Rows: rows, Losses: rows * loss(m.Y)}}, nil
	}
	// withSpread has examples whose losses are a number of times their mean above and below it, and
	// so are the differences of losses.
	withSpread := func(times float64) train.Config {
		c := heldOut
		c.Problem.Each = func(_ int, _ train.Set, m train.Fit) (train.Each, error) {
			return train.Each{Losses: []float64{(1 + times) * loss(m.Y), (1 - times) * loss(m.Y)}}, nil
		}
		return c
	}
	byHoldout := func(r runs.Record) runs.Number { return r.HoldoutLoss }
	for name, test := range map[string]struct {
		c      train.Config
		by     string
		value  func(runs.Record) runs.Number
		newest bool
	}{
		"exact":               {c, "Φ", func(r runs.Record) runs.Number { return r.Phi }, false},
		"held out":            {heldOut, "held-out loss", byHoldout, false},
		"held out, certain":   {withSpread(1e-9), "held-out loss", byHoldout, false},
		"held out, uncertain": {withSpread(10), "held-out loss", byHoldout, true},
	} {
		want := run(t, test.c)
		chosen := want.Records[0]
		for _, r := range want.Records {
			if test.newest || test.value(r) < test.value(chosen) {
				chosen = r
			}
		}
		if !test.newest && chosen.Iteration == want.Last().Iteration {
			t.Fatalf("%s: the newest iterate has the least value: that tests nothing", name)
		}
		if want.Best.By != test.by || want.Best.Iteration != chosen.Iteration ||
			want.Best.Value != test.value(chosen) || len(want.Best.X) != p {
			t.Errorf("%s: %+v, want iteration %d with %s = %v", name, want.Best, chosen.Iteration, test.by,
				test.value(chosen))
		}
		test.c.Dir = t.TempDir()
		interruptAt(t, test.c, 20)
		test.c.Resume = true
		if diff := cmp.Diff(want.Best, run(t, test.c).Best); diff != "" {
			t.Errorf("%s after a resume:\n%s", name, diff)
		}
	}
}
