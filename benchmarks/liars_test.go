package benchmarks

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/train"
	"dsbo/train/exact"
)

// What robust mixing is worth against agents that send plausible but hostile numbers: 1 and 2 of 8
// agents lie in all exchanges of a run, on a graph and with a mixing, and the honest agents'
// average is compared with the average of a run of the honest agents alone.

// town is how many agents take part, liars included.
const town = 8

// A lie is an attack with its name. harmless says that plain mixing stands it, of so few agents.
type lie struct {
	name     string
	attack   networktest.Attack
	harmless bool
}

func lies() []lie {
	return []lie{
		{"none", func([]float64, [][]float64, int) {}, true},
		{"sign flip", networktest.SignFlip(1), false},
		{"sign flip, 10 times as large", networktest.SignFlip(10), false},
		{"drift by 1", networktest.Drift(1), false},
		{"noise of deviation 1", networktest.Noise(1), false},
		{"a little: mean − 1.5 deviations", networktest.Little(1.5), true}, // honest agents differ little
	}
}

// An infested problem is a bilevel problem of a town, and a method with settings that suit it.
type infested struct {
	name       string
	method     algo.Method
	iterations int
	start      float64 // of every entry of x
	load       func() train.Problem
}

func infestations() []infested {
	steps := &algo.MADSBO{Alpha: "0.1", Beta: "0.1", Gamma: "0.05", T: 5, N: 20}
	return []infested{
		{"quadratic", steps, 400, 0, func() train.Problem { return quadratics(0.1) }},
		{"unlike", steps, 400, 0, func() train.Problem { return quadratics(1) }},
		// a method that carries trackers over iterations, which runs refuse with robust mixing
		{"trackers", &algo.Tuned{Alpha: "0.1", Beta: "0.1", Gamma: "0.05", T: 5, N: 20, WarmZ: true, TrackY: true},
			400, 0, func() train.Problem { return quadratics(0.1) }},
		{"synthetic", &algo.MADSBO{Alpha: "1", Beta: "0.1", Gamma: "0.1", T: 5, N: 10}, 300, -3, func() train.Problem {
			d := data.Synthetic{Agents: town, Features: 20, Train: 200, Val: 200, Rate: 0.2, Seed: 1}
			return posed(testkit.Get(d.Task()), models.Logistic{Features: 20, Mean: true})
		}},
		{"mnist", &algo.MADSBO{Alpha: "1", Beta: "0.3", Gamma: "0.2", T: 5, N: 5}, 20, 0, func() train.Problem {
			all, test := testkit.Get2(data.LoadMNIST(""))
			d := testkit.Get(data.NewTask(all, test, data.Split{Agents: town, Train: 250, Val: 250, Seed: 1}))
			return posed(d, models.Softmax{Features: d.Features, Classes: d.Classes})
		}},
	}
}

func posed(d data.Task, m models.Model) train.Problem {
	return testkit.Get(train.NewProblem(d, m, models.Config{Seed: 1, Float32: true}))
}

// quadratics are random problems with p = 6 and q = 20, a share of which is the agent's own and the
// rest common to all.
func quadratics(own float64) (p train.Problem) {
	drawn := algotest.NewQuadratics(town+1, 6, 20, 3)
	common := drawn[town]
	for _, q := range drawn[:town] {
		for _, a := range [][2][]float64{{q.A, common.A}, {q.B, common.B}, {q.C, common.C}, {q.D, common.D},
			{q.T, common.T}, {q.E, common.E}} {
			linalg.Comb(a[0], own, a[0], 1-own, a[1])
		}
		linalg.Fill(q.LinearTerm, 0) // so that f is not negative
		p.Oracles, p.Evaluate = append(p.Oracles, q), append(p.Evaluate, q)
	}
	return p
}

// A verdict is what the honest agents have at the end: Φ of their losses at their average x, and f
// at their average x and y; infinite where they have diverged.
type verdict struct{ phi, f float64 }

// run runs the method on the agents of w, the last of which lie.
func (p infested) run(ctx context.Context, of train.Problem, w *network.Matrix, liars int,
	attack networktest.Attack) verdict {
	local := network.NewLocal(w)
	defer local.Close()
	mixers := make([]dsbo.Mixer, w.N())
	for i := range mixers {
		mixers[i] = local.Mixer(i)
	}
	mixers = networktest.WithLiars(mixers, liars, attack)
	np, nq := of.Oracles[0].Dims()
	methods := make([]algo.Method, w.N())
	g, inner := errgroup.WithContext(ctx)
	for i := range methods {
		m := algo.Clone(p.method)
		testkit.OK(m.Init(np, nq, p.iterations))
		linalg.Fill(m.X(), p.start)
		methods[i] = m
		g.Go(func() error {
			for k := range p.iterations {
				if err := m.Step(inner, k, of.Oracles[i], mixers[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	testkit.OK(g.Wait())
	honest := w.N() - liars
	return judged(ctx, of.Evaluate[:honest], methods[:honest])
}

// honestly runs the honest agents alone, with Metropolis weights on the edges of w between them.
func (p infested) honestly(ctx context.Context, of train.Problem, w *network.Matrix, liars int) verdict {
	n := w.N() - liars
	var edges [][2]int
	for i := range n {
		for _, j := range w.Neighbours(i) {
			if i < j && j < n {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	return p.run(ctx, of, testkit.Get(network.FromEdges(n, edges, 0)).W, 0, nil)
}

// divergedNorm is a norm of x or y that no run comes to that converges.
const divergedNorm = 1e6

// judged returns the verdict on agents that have oracles.
func judged(ctx context.Context, honest []dsbo.ValueOracle, methods []algo.Method) verdict {
	x, y := make([]float64, len(methods[0].X())), make([]float64, len(methods[0].Y()))
	share := 1 / float64(len(honest))
	for _, m := range methods {
		linalg.Axpy(x, share, m.X())
		linalg.Axpy(y, share, m.Y())
	}
	if !(linalg.Norm(x) < divergedNorm && linalg.Norm(y) < divergedNorm) {
		return verdict{math.Inf(1), math.Inf(1)}
	}
	end := verdict{phi: testkit.Get((&exact.Solver{Oracles: honest, Tol: 1e-5}).Solve(ctx, x)).Phi}
	for _, o := range honest {
		f, _ := testkit.Get2(o.Values(x, y, dsbo.Sample{Set: dsbo.Whole}))
		end.f += share * f
	}
	return end
}

// BenchmarkLiars tells Φ(x̄) and f(x̄, ȳ) of the honest agents as multiples of their values in the
// run without liars; +Inf where they have diverged.
func BenchmarkLiars(b *testing.B) {
	for _, graph := range []string{"complete", "exponential"} {
		w := testkit.Get(network.New(graph, town, network.Options{})).W
		for _, p := range infestations() {
			load := sync.OnceValue(p.load)
			for liars := 1; liars <= 2; liars++ {
				alone := sync.OnceValue(func() verdict { return p.honestly(b.Context(), load(), w, liars) })
				for _, a := range lies() {
					for _, mixing := range []network.Mixing{network.Plain{}, network.Clipped{Liars: liars},
						network.Trimmed{Liars: liars}} {
						name := fmt.Sprintf("%s/%s/%d/%s/%v", graph, p.name, liars, a.name, mixing)
						b.Run(name, func(b *testing.B) {
							of, honest := load(), alone()
							for b.Loop() {
								end := p.run(b.Context(), of, testkit.Get(w.WithMixing(mixing)), liars, a.attack)
								b.ReportMetric(end.phi/honest.phi, "Φ/honest")
								b.ReportMetric(end.f/honest.f, "f/honest")
							}
						})
					}
				}
			}
		}
	}
}

// TestLiars: with robust mixing, two of eight agents that lie keep the others' Φ within 5 % of what
// they would find without them, where the attack ends far off, or not at all, with plain mixing.
func TestLiars(t *testing.T) {
	p := infestations()[0]
	p.iterations = 25
	of := p.load()
	w := testkit.Get(network.New("complete", town, network.Options{})).W
	const liars = 2
	honest := p.honestly(t.Context(), of, w, liars)
	for _, a := range lies() {
		if testing.Short() && a.name != "drift by 1" {
			continue
		}
		for _, x := range []network.Mixing{network.Clipped{Liars: liars}, network.Trimmed{Liars: liars}} {
			if end := p.run(t.Context(), of, testkit.Get(w.WithMixing(x)), liars,
				a.attack); !(math.Abs(end.phi/honest.phi-1) <= 0.05) {
				t.Errorf("%s, %v: Φ is %v; it must be within 5 %% of %v", a.name, x, end.phi, honest.phi)
			}
		}
		if end := p.run(t.Context(), of, w, liars, a.attack); !a.harmless && math.Abs(end.phi/honest.phi-1) <= 0.05 {
			t.Errorf("%s, plain: Φ is %v, within 5 %% of %v: the attack must do harm", a.name, end.phi, honest.phi)
		}
	}
}
