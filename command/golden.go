package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"dsbo"
	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train/exact"
)

// A checkSet is a problem with a method's trajectory, in the form of the files of
// algo/testdata/golden.
type checkSet struct {
	Kind     string          `json:"kind"`     // quadratic or logistic
	N        int             `json:"n"`        // agents
	P        int             `json:"p"`        // length of x
	Q        int             `json:"q"`        // length of y
	W        [][]float64     `json:"W"`        // mixing matrix
	Data     goldenData      `json:"data"`     // of the losses
	Algo     string          `json:"algo"`     // name of the method
	K        int             `json:"K"`        // iterations
	X0       float64         `json:"x0"`       // start of each entry of x
	Iterates []goldenIterate `json:"iterates"` // from before the first iteration on
	Expected goldenSeries    `json:"expected"` // what follows from them
}

// goldenData is the data of each agent, by the letters of the losses.
type goldenData struct {
	Reduce string           `json:"reduce,omitempty"`
	Agents []map[string]any `json:"agents"`
}

// A goldenIterate is what the agents have after an iteration, by letter: one row an agent.
type goldenIterate map[string][][]float64

// goldenSeries are what follows from the iterates, an entry an iteration.
type goldenSeries struct {
	XBar  [][]float64 `json:"x_bar"`
	ConsX []float64   `json:"cons_x"`
	Phi   []float64
	Norm  []float64   `json:"hg_norm"`
	YBar  [][]float64 `json:"y_bar"`
	ConsY []float64   `json:"cons_y"`
}

// golden is the verb golden: it writes a problem, and what a method does on it. The parameters are
// written as an agent's copy of the method has them after Init.
func (p *program) golden(f *call) error {
	g := checkSet{Kind: "quadratic", N: 4, P: 3, Q: 4, K: 10}
	seed, params := uint64(1), "{}"
	f.Vars(map[string]any{"kind": &g.Kind, "agents": &g.N, "p": &g.P, "q": &g.Q, "seed": &seed, "K": &g.K,
		"params": &params})
	if err := f.parseOperands(); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return dsbo.ConfigErrorf("one METHOD is required, of %s", strings.Join(algo.Names(), ", "))
	}
	g.Algo = f.Arg(0)
	method, err := g.newMethod(params)
	if err != nil {
		return err
	}
	oracles, err := g.drawProblem(seed)
	if err != nil {
		return err
	}
	agents, err := g.run(f.ctx, method, oracles)
	if err != nil {
		return err
	}
	return g.write(f.stdout, agents[0])
}

// newMethod returns the method, before Init, and sets the agents and the graph that it needs: one
// agent, a server if averages must be exact, or a ring. Sizes are bounded, since the output is
// text. Steps that follow the curvature are an error; Bind, on a copy and with any curvature, names
// them.
func (g *checkSet) newMethod(params string) (algo.Method, error) {
	for _, c := range []struct {
		flag        string
		value, most int
	}{{"agents", g.N, 64}, {"p", g.P, 256}, {"q", g.Q, 256}, {"K", g.K, 10_000}} {
		if c.value < 1 || c.value > c.most {
			return nil, dsbo.ConfigErrorf("-%s must be from 1 to %d; it is %d", c.flag, c.most, c.value)
		}
	}
	m, err := algo.New(g.Algo)
	if err == nil {
		err = algo.Decode(m, []byte(params))
	}
	if err != nil {
		return nil, err
	}
	if follow, err := algo.Bind(algo.Clone(m), algo.Curvature{L: 1, Y: 1, Z: 1}); err != nil || len(follow) > 0 {
		return nil, cmp.Or(err, dsbo.ConfigErrorf("%s must be numbers here: no curvature is measured",
			strings.Join(follow, " and ")))
	}
	traits, graph := algo.TraitsOf(m), network.Ring
	if traits.Adapt != nil { // x has a start, and no search for one is asked for
		traits.Adapt(algo.Setting{Penalties: g.Kind == "logistic",
			Given: func(name string) bool { return strings.Contains(params, strconv.Quote(name)) }})
	}
	switch {
	case traits.Compositional:
		return nil, dsbo.ConfigErrorf("%s is for compositional problems alone, which this verb does not draw", g.Algo)
	case traits.OneAgent:
		g.N = 1
	case traits.ExactAverage:
		graph = func(n int, _ float64) (*network.Graph, error) { return network.Server(n) }
	}
	of, err := graph(g.N, 0)
	if err == nil {
		g.W = of.W.Dense()
	}
	return m, err
}

// drawProblem draws the losses of the agents, one after the other from one source, and returns
// their oracles. In the logistic problem y is as long as x.
func (g *checkSet) drawProblem(seed uint64) (all []dsbo.ValueOracle, err error) {
	draw := rand.New(rand.NewPCG(num.SplitMix(seed), 0)) // seeds that are near draw unlike numbers
	for i := range g.N {
		var o *models.Oracle
		switch c := (models.Config{Agent: i}); g.Kind {
		case "quadratic":
			o, err = models.NewOracle(g.drawQuadratic(draw), data.Shard{}, c)
		case "logistic":
			g.Q, g.Data.Reduce = g.P, "mean"
			o, err = models.NewOracle(models.Logistic{Features: g.P, Mean: true}, g.drawRows(draw), c)
		default:
			err = dsbo.ConfigErrorf("-kind must be quadratic or logistic; it is %q", g.Kind)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// drawQuadratic draws the quadratic losses of one agent. A, D and E are a multiple of the identity
// plus MM' for a random M, so that they are positive definite; A is between I and about 2I.
func (g *checkSet) drawQuadratic(draw *rand.Rand) models.Quadratic {
	normal := func(n int, scale float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = scale * num.Normal(draw)
		}
		return v
	}
	above := func(n int, least, scale float64) []float64 { // least·I + MM'
		m, a := normal(n*n, scale/math.Sqrt(float64(n))), make([]float64, n*n)
		for i := range n {
			for j := range n {
				a[i*n+j] = linalg.Dot(m[i*n:][:n], m[j*n:][:n])
			}
			a[i*n+i] += least
		}
		return a
	}
	p, q := g.P, g.Q
	m := models.Quadratic{P: p, Q: q, A: above(q, 1, .5), B: normal(q*p, .5), C: normal(q, 1), D: above(q, .5, .5),
		T: normal(q, 1), E: above(p, .1, .3), LinearTerm: normal(p, .2)}
	g.Data.Agents = append(g.Data.Agents, map[string]any{"A": rowsOf(m.A, q), "B": rowsOf(m.B, p), "c": m.C,
		"D": rowsOf(m.D, q), "t": m.T, "E": rowsOf(m.E, p), "e": m.LinearTerm})
	return m
}

// drawRows draws the examples of one agent, 4 of each kind for each entry of y: a label is the sign
// of the sum of the features with noise of deviation 1.
func (g *checkSet) drawRows(draw *rand.Rand) (s data.Shard) {
	of := map[string]any{}
	for i, e := range []*data.Examples{&s.Train, &s.Val} {
		rows := 4 * g.P
		a, y := make([]float64, rows*g.P), make([]float64, rows)
		for r := range rows {
			sum := num.Normal(draw)
			for j := range g.P {
				v := num.Normal(draw)
				a[r*g.P+j] = v
				sum += v
			}
			y[r] = math.Copysign(1, sum)
		}
		name := []string{"tr", "val"}[i]
		of["X"+name], of["y"+name] = rowsOf(a, g.P), y
		e.X, _ = ad.FloatTable(rows, g.P, a)
		e.Target, _ = ad.FloatTable(rows, 1, y)
	}
	g.Data.Agents = append(g.Data.Agents, of)
	return s
}

// rowsOf returns the rows of a matrix.
func rowsOf(m []float64, cols int) [][]float64 { return slices.Collect(slices.Chunk(m, cols)) }

// run runs a copy of the method on each agent and records the iterates before the first iteration
// and after each. The exact Φ is over all agents, or, for a personalized method, the mean of each
// agent's.
func (g *checkSet) run(ctx context.Context, m algo.Method, oracles []dsbo.ValueOracle) (
	agents []algo.Method, err error) {
	w, err := network.NewMatrix(g.W)
	if err != nil {
		return nil, err
	}
	averages, err := network.NewAverages(network.NewLocal(w), w, network.AverageOptions{})
	if err != nil {
		return nil, err
	}
	for range g.N {
		a := algo.Clone(m)
		if err := a.Init(g.P, g.Q, g.K); err != nil {
			return nil, err
		}
		agents = append(agents, a)
	}
	solvers := []*exact.Solver{{Oracles: oracles}}
	if algo.TraitsOf(m).Personalized {
		solvers = nil
		for i := range oracles {
			solvers = append(solvers, &exact.Solver{Oracles: oracles[i : i+1]})
		}
	}
	for k := 0; ; k++ {
		if err := g.record(ctx, agents, solvers); err != nil || k == g.K {
			return agents, err
		}
		if err := stepAll(ctx, k, agents, oracles, averages); err != nil {
			return nil, err
		}
	}
}

// stepAll runs iteration k of all agents, at once, as they wait for each other in exchanges.
// Iterations have the even stages, as in a run.
func stepAll(ctx context.Context, k int, agents []algo.Method, oracles []dsbo.ValueOracle,
	by *network.Averages) error {
	work, ctx := errgroup.WithContext(ctx)
	for i, a := range agents {
		m := by.Agent(i)
		m.Begin(2 * uint64(k))
		work.Go(func() error {
			if err := a.Step(ctx, k, oracles[i], m); err != nil {
				return fmt.Errorf("agent %d: %w", i, err)
			}
			return nil
		})
	}
	return work.Wait()
}

// record appends the agents' iterates and what follows from them: means, consensus errors, and Φ
// and the norm of its gradient at x̄. As in the golden files, y has no mean before the first
// iteration. An iterate that is not finite is an error.
func (g *checkSet) record(ctx context.Context, agents []algo.Method, solvers []*exact.Solver) error {
	now := goldenIterate{}
	for _, a := range agents {
		t := algo.TraitsOf(a)
		for letter, v := range map[string][]float64{"X": a.X(), "Y": a.Y(), "Z": t.Z, "U": t.U} {
			if v != nil {
				now[letter] = append(now[letter], slices.Clone(v))
			}
		}
	}
	g.Iterates = append(g.Iterates, now)
	e := &g.Expected
	x, apart := spreadOf(now["X"])
	for letter, rows := range now {
		if mean, _ := spreadOf(rows); !linalg.AllFinite(mean) {
			return dsbo.Errorf(dsbo.ErrDiverged, "%s of %s must stay finite; after iteration %d it is not", letter,
				g.Algo, len(g.Iterates)-1)
		}
	}
	e.XBar, e.ConsX = append(e.XBar, x), append(e.ConsX, apart)
	if len(g.Iterates) > 1 {
		y, apart := spreadOf(now["Y"])
		e.YBar, e.ConsY = append(e.YBar, y), append(e.ConsY, apart)
	}
	phi, gradient := 0.0, make([]float64, g.P)
	for _, s := range solvers {
		s.Tol, s.AdjointTol = 1e-12, 1e-12
		found, err := s.Solve(ctx, x)
		if err != nil {
			return err
		}
		phi += found.Phi / float64(len(solvers))
		linalg.Axpy(gradient, 1/float64(len(solvers)), found.Gradient)
	}
	e.Phi, e.Norm = append(e.Phi, phi), append(e.Norm, linalg.Norm(gradient))
	return nil
}

// spreadOf returns the mean of rows, and their mean squared distance from it.
func spreadOf(rows [][]float64) (mean []float64, apart float64) {
	mean = make([]float64, len(rows[0]))
	for _, r := range rows {
		linalg.Axpy(mean, 1/float64(len(rows)), r)
	}
	for _, r := range rows {
		apart += linalg.Dist2(r, mean) / float64(len(rows))
	}
	return mean, apart
}

// write writes the problem, the method's parameters beside it, and the trajectory, a member
// a line.
func (g *checkSet) write(w io.Writer, method algo.Method) error {
	all := map[string]json.RawMessage{}
	for _, part := range []any{method, g} {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return err
		}
	}
	lines := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lines = append(lines, fmt.Sprintf("%q: %s", name, all[name]))
	}
	_, err := fmt.Fprintf(w, "{%s}\n", strings.Join(lines, ",\n"))
	return err
}
