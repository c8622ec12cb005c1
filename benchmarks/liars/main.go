// Command liars measures what robust mixing is worth against agents that send plausible but hostile
// numbers: 1 and 2 of 8 agents lie in all exchanges of a run, on a graph and with a mixing, and the
// honest agents' average is compared with the average of a run of the honest agents alone.
//
//	go run ./benchmarks/liars                     # all of it, some minutes on 2 cores
//	go run ./benchmarks/liars -only quadratic -graph exponential
//
// The same numbers come again.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/cli"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/train/exact"
)

func main() { os.Exit(cli.Main("liars", command)) }

// An attack is a way to lie, with its name.
type attack struct {
	name string
	lie  networktest.Attack
}

func attacks() []attack {
	return []attack{
		{"none", func([]float64, [][]float64, int) {}},
		{"sign flip", networktest.SignFlip(1)},
		{"sign flip, 10 times as large", networktest.SignFlip(10)},
		{"drift by 1", networktest.Drift(1)},
		{"noise of deviation 1", networktest.Noise(1)},
		{"a little: mean − 1.5 deviations", networktest.Little(1.5)},
	}
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var names []string
	for _, p := range problems() {
		names = append(names, p.name)
	}
	f := cli.NewFlags("liars", "liars measures what robust mixing is worth against agents that lie.", "")
	only := f.String("only", "", "`problems` to run, with commas between (default all)")
	graph := f.String("graph", "complete", "`name` of the graph of the 8 agents")
	f.Group("Measurement", "only", "graph")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	chosen, err := cli.Choose("only", *only, names)
	if err != nil {
		return err
	}
	return testkit.Catch(func() {
		for _, p := range problems() {
			if slices.Contains(chosen, p.name) {
				p.measure(ctx, *graph, stdout)
			}
		}
	})
}

// measure prints the table of a problem: for each attack and mixing, Φ(x̄) and f(x̄, ȳ) of the
// honest agents as multiples of the values of the run without liars.
func (p problem) measure(ctx context.Context, graph string, stdout io.Writer) {
	o := p.load()
	w := testkit.Get(network.New(graph, agents, network.Options{})).W
	fmt.Fprintf(stdout, "%s, %s, %d iterations, graph %s\n\n", p.about, algo.NameOf(p.method), p.iterations, graph)
	rows := [][]string{{"attack", "liars", "plain", "clipped", "trimmed"}}
	for liars := 1; liars <= 2; liars++ {
		honest := p.run(ctx, o, induced(w, agents-liars), 0, nil)
		for _, a := range attacks() {
			row := []string{a.name, fmt.Sprint(liars)}
			for _, mixing := range []network.Mixing{network.Plain{}, network.Clipped{Liars: liars},
				network.Trimmed{Liars: liars}} {
				row = append(row, p.run(ctx, o, testkit.Get(w.WithMixing(mixing)), liars, a.lie).relativeTo(honest))
			}
			rows = append(rows, row)
		}
	}
	testkit.OK(cli.Markdown(stdout, rows))
	fmt.Fprintln(stdout)
}

// induced is the matrix of the first n agents, with Metropolis weights on their edges.
func induced(w *network.Matrix, n int) *network.Matrix {
	var edges [][2]int
	for i := range n {
		for _, j := range w.Neighbours(i) {
			if i < j && j < n {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	return testkit.Get(network.FromEdges(n, edges, 0)).W
}

// An outcome is what the honest agents have at the end: Φ of their losses at their average x, and f
// at their average x and y; infinite where they have diverged.
type outcome struct{ phi, f float64 }

// relativeTo returns o as multiples of another outcome.
func (o outcome) relativeTo(other outcome) string {
	if math.IsInf(o.phi, 0) {
		return "diverges"
	}
	return fmt.Sprintf("%.3g, %.3g", o.phi/other.phi, o.f/other.f)
}

// divergedNorm is a norm of x or y that no run comes to that converges.
const divergedNorm = 1e6

// run runs the method on the agents of w, the last of which lie.
func (p problem) run(ctx context.Context, o oracles, w *network.Matrix, liars int, lie networktest.Attack) outcome {
	local := network.NewLocal(w)
	defer local.Close()
	mixers := make([]dsbo.Mixer, w.N())
	for i := range mixers {
		mixers[i] = local.Mixer(i)
	}
	mixers = networktest.WithLiars(mixers, liars, lie)
	np, nq := o.steps[0].Dims()
	methods := make([]algo.Method, w.N())
	g, inner := errgroup.WithContext(ctx)
	for i := range methods {
		m := algo.Clone(p.method)
		testkit.OK(m.Init(np, nq, p.iterations))
		linalg.Fill(m.X(), p.start)
		methods[i] = m
		g.Go(func() error {
			for k := range p.iterations {
				if err := m.Step(inner, k, o.steps[i], mixers[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	testkit.OK(g.Wait())
	return p.evaluate(ctx, o.exact[:w.N()-liars], methods)
}

// evaluate returns the outcome of the agents that have oracles.
func (p problem) evaluate(ctx context.Context, honest []dsbo.ValueOracle, methods []algo.Method) outcome {
	x, y := make([]float64, len(methods[0].X())), make([]float64, len(methods[0].Y()))
	share := 1 / float64(len(honest))
	for i := range honest {
		linalg.Axpy(x, share, methods[i].X())
		linalg.Axpy(y, share, methods[i].Y())
	}
	if !(linalg.Norm(x) < divergedNorm && linalg.Norm(y) < divergedNorm) {
		return outcome{math.Inf(1), math.Inf(1)}
	}
	s := testkit.Get((&exact.Solver{Oracles: honest, Tol: 1e-5}).Solve(ctx, x))
	end := outcome{phi: s.Phi}
	for _, o := range honest {
		f, _ := testkit.Get2(o.Values(x, y, dsbo.Sample{Set: dsbo.Whole}))
		end.f += share * f
	}
	return end
}
