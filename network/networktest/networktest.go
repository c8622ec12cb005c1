// Package networktest is the conformance suite of every exchange between agents.
//
// A transport passes if [TestTeam] does. The suite compares each exchange with [Product], a
// plain W·X, to the last bit.
package networktest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"dsbo/network"

	"go.uber.org/goleak"
)

// Context returns a context that ends shortly before the time of the test binary (-timeout) is
// over, so that agents that wait for ever report where. There is no other limit, as a busy machine
// may take arbitrarily long.
func Context(t *testing.T) context.Context {
	end, limited := t.Deadline()
	if !limited {
		return t.Context()
	}
	ctx, cancel := context.WithDeadline(t.Context(), end.Add(-10*time.Second))
	t.Cleanup(cancel)
	return ctx
}

// Product returns W·X, where row i of x is agent i's vector: what one exchange gives. It sums in
// ascending order of the agents, starting from the first product, and rounds each product.
func Product(w *network.Matrix, x [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i := range out {
		out[i] = make([]float64, len(x[i]))
		for e := range out[i] {
			for k, wij := range w.Row(i) {
				p := float64(wij.Weight * x[wij.Agent][e])
				if k == 0 {
					out[i][e] = p
				} else {
					out[i][e] += p
				}
			}
		}
	}
	return out
}

// TestTeam runs the suite, on the graphs of least to most agents, which are 1 to 16. Each subtest
// opens an exchange of its own over a W, by calling open, and closes it. The teams belong to one or
// several processes, all played by this one; agents may also live in other processes that run the
// same suite at the same time. closeAll may be called twice, and while agents wait.
func TestTeam(t *testing.T, least, most int,
	open func(*network.Matrix) (teams []network.Team, closeAll func())) {
	for _, g := range graphs(t) {
		if n := g.W.N(); n < least || n > most {
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			for _, c := range []struct {
				name string
				test func(*testing.T, *exchange)
			}{
				{"Product", testProduct},
				{"Reduce", testReduce},
				{"Average", testAverage},
				{"CancelledBefore", testCancelledBefore},
				{"Shapes", testShapes},
				{"Unlike", testUnlike},
				{"Cancel", testCancel},
				{"Close", testClose},
				{"Fail", testFail},
			} {
				if network.IsChanging(g.W.Mixing()) && c.name != "Average" {
					continue // averagers alone know these weights; the rest is as it is with plain mixing
				}
				t.Run(c.name, func(t *testing.T) {
					leaks := goleak.IgnoreCurrent()
					teams, closeAll := open(g.W)
					defer func() { // also after a Fatal
						closeAll()
						goleak.VerifyNone(t, leaks)
					}()
					c.test(t, newExchange(t, g.W, teams, closeAll))
				})
			}
		})
	}
}

// graphs returns one graph of each shape that has made an exchange wait for ever somewhere.
func graphs(t *testing.T) []*network.Graph {
	t.Helper()
	var all []*network.Graph
	for _, c := range []struct {
		graph string
		n     int
		w     float64        // 0: the graph's own
		mix   network.Mixing // nil: plain
	}{
		{"ring", 1, 0.5, nil}, {"ring", 2, 0.3, nil}, {"ring", 3, 0.4, nil}, {"ring", 8, 0.5, nil}, {"path", 5, 0, nil},
		{"star", 6, 0, nil}, {"complete", 5, 0, nil}, {"torus", 9, 0, nil}, {"erdos-renyi", 16, 0, nil},
		{"server", 4, 0, nil}, {"ring", 5, 0, network.Failing{Probability: 0.4}},
		{"complete", 4, 0, network.Matchings{}},
	} {
		g, err := network.New(c.graph, c.n, network.Options{W: c.w, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		g.Name = fmt.Sprintf("%s%d", c.graph, c.n)
		if c.mix != nil {
			g.Name += fmt.Sprintf(" %v", c.mix)
			if g.W, err = g.W.WithMixing(c.mix); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, g)
	}
	third, half := 1./3, 0.5 // a circle of three in one direction, and two edges of the other
	directed, err := network.NewDirected(
		[][][]float64{{{half, 0, half}, {half, half, 0}, {0, half, half}},
			{{half, half, 0}, {0, 1, 0}, {third, third, third}}},
		[][][]float64{{{half, 0, half}, {half, half, 0}, {0, half, half}}})
	if err != nil {
		t.Fatal(err)
	}
	return append(all, &network.Graph{Name: "directed3", W: directed})
}

type exchange struct {
	w        *network.Matrix
	teams    []network.Team
	mixers   []network.Reducer // nil for the agents of other processes
	closeAll func()
}

// newExchange returns the exchange of some teams. It reports a team whose agents do not ascend, an
// agent of two teams, and one without a mixer.
func newExchange(t *testing.T, w *network.Matrix, teams []network.Team, closeAll func()) *exchange {
	t.Helper()
	x := &exchange{w, teams, make([]network.Reducer, w.N()), closeAll}
	for k, team := range teams {
		local := team.Local()
		if !slices.IsSorted(local) {
			t.Errorf("team %d has the agents %v; they must be ascending", k, local)
		}
		for _, i := range local {
			if x.mixers[i] != nil {
				t.Errorf("agent %d is in two teams; it must be in one", i)
			}
			if x.mixers[i] = team.Mixer(i); x.mixers[i] == nil {
				t.Errorf("team %d has no mixer for its agent %d", k, i)
			}
		}
	}
	return x
}

func (x *exchange) onAgents(body func(i int, m network.Reducer) error) []error {
	return RunAll(len(x.mixers), func(i int) error {
		if x.mixers[i] == nil {
			return nil
		}
		return body(i, x.mixers[i])
	})
}

func (x *exchange) onTeams(body func(team network.Team) error) []error {
	return RunAll(len(x.teams), func(k int) error { return body(x.teams[k]) })
}

// gather has all teams gather given vectors and checks what they get. What is not local is
// NaN before.
func (x *exchange) gather(ctx context.Context, all [][]float64) []error {
	return x.onTeams(func(team network.Team) error {
		rows := make([][]float64, len(all))
		for i := range rows {
			rows[i] = slices.Repeat([]float64{math.NaN()}, len(all[i]))
		}
		for _, i := range team.Local() {
			copy(rows[i], all[i])
		}
		if err := team.Gather(ctx, rows); err != nil {
			return err
		}
		for i, row := range rows {
			if err := sameBits(row, all[i]); err != nil {
				return fmt.Errorf("gathering with agents %v here: row %d: %w", team.Local(), i, err)
			}
		}
		return nil
	})
}

// mustSucceed runs body like run and reports the errors. The first one ends the others.
func (x *exchange) mustSucceed(t *testing.T, body func(ctx context.Context, i int, m network.Reducer) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(Context(t))
	defer cancel()
	errs := x.onAgents(func(i int, m network.Reducer) error {
		err := body(ctx, i, m)
		if err != nil {
			cancel()
		}
		return err
	})
	for i, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("agent %d: %v", i, err)
		}
	}
	if err := errors.Join(errs...); err != nil && !t.Failed() {
		t.Error(err)
	}
}

// vectors returns what the agents mix in a round: the same numbers in every process.
func vectors(n, length, round int) [][]float64 {
	r := rand.New(rand.NewPCG(uint64(length), uint64(round)))
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, length)
		for e := range x[i] {
			// of very different sizes, so that the order of a sum shows
			x[i][e] = r.NormFloat64() * math.Ldexp(1, r.IntN(20))
		}
	}
	return x
}

// lengths are 0, 1, an odd one and a long one, each met with growth and with shrinkage.
var lengths = []int{7, 7, 0, 1000, 1, 1000, 1000, 0, 7, 1, 0, 3000, 1025, 2}

// testProduct mixes vectors of changing lengths, in place in every third round, at speeds
// that differ between agents, and overwrites src as soon as Mix returns.
func testProduct(t *testing.T, x *exchange) {
	const rounds = 42 // each of lengths in place and not
	n := x.w.N()
	src := make([][][]float64, rounds)
	want := make([][][]float64, rounds)
	for r := range rounds {
		src[r] = vectors(n, lengths[r%len(lengths)], r)
		want[r] = Product(x.w, src[r])
	}
	x.mustSucceed(t, func(ctx context.Context, i int, m network.Reducer) error {
		pace := rand.New(rand.NewPCG(uint64(i), 0))
		for r := range rounds {
			for range pace.IntN(4) {
				runtime.Gosched()
			}
			own := append([]float64(nil), src[r][i]...)
			dst := own
			if r%3 != 0 {
				dst = make([]float64, len(own))
			}
			if err := m.Mix(ctx, dst, own); err != nil {
				return err
			}
			if err := sameBits(dst, want[r][i]); err != nil {
				return fmt.Errorf("round %d: W·X: %w", r, err)
			}
			if r%3 != 0 {
				if err := sameBits(own, src[r][i]); err != nil {
					return fmt.Errorf("round %d: Mix changed src: %w", r, err)
				}
			}
			for e := range own {
				own[e] = math.NaN()
			}
		}
		return nil
	})
}

func sameBits(got, want []float64) error {
	for e := range want {
		if math.Float64bits(got[e]) != math.Float64bits(want[e]) {
			return fmt.Errorf("entry %d is %v; it must be %v", e, got[e], want[e])
		}
	}
	return nil
}
