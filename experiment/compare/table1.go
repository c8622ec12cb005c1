package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// What all entrants have: n, and T and N.
const (
	entrantAgents = 8
	loopSteps     = 10
)

// An entrant is a row of Table 1 of the paper: a method, with the formula of its traffic written
// down here once more, apart from algo's: numbers to each neighbour in an iteration after the
// first.
type entrant struct {
	method, problem, formula string
	growth                   float64 // exponent of the traffic in p = q, by the formula
	traffic                  func(d int) int
	calls                    string    // of an agent's oracle, in an iteration
	ms, floats               []float64 // of an iteration of all agents, and traffic, by dimension
}

// entrants are the methods of Table 1 of the paper, then others of algo.
func entrants() []entrant {
	const T, N = loopSteps, loopSteps
	var all []entrant
	add := func(method, problem, formula string, growth float64, traffic func(d int) int) {
		all = append(all, entrant{method: method, problem: problem, formula: formula, growth: growth, traffic: traffic})
	}
	three := func(d int) int { return 3 * d }
	add("madsbo", "G-DSBO", "Tq + 2Nq + p", 1, func(d int) int { return T*d + 2*N*d + d })
	add("gbdsbo", "G-DSBO", "p + q + Nq² + pq + p + q", 2, func(d int) int { return 4*d + N*d*d + d*d })
	add("jhip", "G-DSBO", "Tq + 2Npq + p", 2, func(d int) int { return T*d + 2*N*d*d + d })
	add("fednest", "FBO", "2Tq + Nq + 2p up, and down", 1, func(d int) int { return 2*T*d + N*d + 2*d })
	add("pdsbo_al", "P-DSBO", "p", 1, func(d int) int { return d })
	add("mdbo", "G-DSBO, biased", "2p + 2q", 1, func(d int) int { return 4 * d })
	add("dsoba", "G-DSBO", "p + 2q", 1, three)
	add("sparkle", "G-DSBO", "p + 2q", 1, three)
	return all
}

// logs returns decimal logarithms.
func logs(v []float64) []float64 {
	all := make([]float64, len(v))
	for i, x := range v {
		all[i] = num.Log(x) / math.Ln10
	}
	return all
}

// trafficGrows reports whether the traffic of all rows grows with the exponents of their formulas.
func trafficGrows(rows []entrant, dims []float64) bool {
	return !slices.ContainsFunc(rows, func(e entrant) bool {
		_, slope := stat.LinearRegression(logs(dims), logs(e.floats), nil, false)
		return !(math.Abs(slope-e.growth) < 0.1)
	})
}

// smallSteps returns a method with small steps and as many inner steps as all entrants have.
func smallSteps(name string) (algo.Method, error) {
	m, err := algo.New(name)
	if err != nil {
		return nil, err
	}
	values := map[string]any{"alpha": 1e-3, "beta": 1e-3, "gamma": 1e-3, "lg": 100, "T": loopSteps, "N": loopSteps}
	maps.DeleteFunc(values, func(name string, _ any) bool { return !slices.Contains(algo.Parameters(m), name) })
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	return m, algo.Decode(m, text)
}

// entrantGraph returns the mixing matrix of a ring, or of a server where a method takes exact
// averages.
func entrantGraph(m algo.Method) (*network.Matrix, error) {
	g, err := network.Ring(entrantAgents, 0.5)
	if algo.TraitsOf(m).ExactAverage {
		g, err = network.Server(entrantAgents)
	}
	if err != nil {
		return nil, err
	}
	return g.W, nil
}

// measure adds a dimension to the row: K iterations, several rounds, of which the fastest counts,
// as what else the machine does only adds to it. It fails where a count is not what the formulas
// give.
func (e *entrant) measure(ctx context.Context, d, K, rounds int) error {
	method, err := smallSteps(e.method)
	if err != nil {
		return err
	}
	w, err := entrantGraph(method)
	if err != nil {
		return err
	}
	t, err := data.Synthetic{Agents: entrantAgents, Features: d, Train: 200, Val: 200, Test: 1, Rate: 0.1,
		Seed: 1}.Task()
	if err != nil {
		return err
	}
	p, err := train.NewProblem(t, models.Logistic{Features: d, Mean: true}, models.Config{Seed: 1, Batch: 100})
	if err != nil {
		return err
	}
	least := math.Inf(1)
	for range rounds {
		res, err := train.Run(ctx,
			train.Config{Problem: p, W: w, Method: method, K: K, EvalEvery: K, Evaluate: train.EvaluateOff})
		if err == nil {
			err = e.check(method, d, K, w, res)
		}
		if err != nil {
			return err
		}
		least = min(least, float64(res.MsPerIteration))
		e.calls = describe(res.Usage[0].Calls, K)
	}
	e.ms, e.floats = append(e.ms, least), append(e.floats, float64(e.traffic(d)))
	return nil
}

// check compares algo's formula of the traffic with this table's, and what each agent sent and its
// oracle calls in a run of K iterations, for p = q = d, with algo's formulas.
func (e *entrant) check(method algo.Method, d, K int, w *network.Matrix, res *train.Result) error {
	m := algo.Clone(method)
	if err := m.Init(d, d, K); err != nil {
		return err
	}
	var want runs.Usage // to one neighbour
	for k := range K {
		c := m.Cost(k)
		if formula := e.traffic(d); k > 0 && c.Floats != formula {
			return fmt.Errorf("%s, p = q = %d: algo's formula gives %d numbers in an iteration, the table's %d",
				e.method, d, c.Floats, formula)
		}
		want.Add(runs.Usage{Calls: c.Calls,
			Traffic: dsbo.Traffic{Floats: int64(c.Floats), Messages: int64(c.Messages)}})
	}
	for i, u := range res.Usage {
		sends := int64(w.Sends(i))
		if u.Traffic.Floats != sends*want.Traffic.Floats || u.Traffic.Messages != sends*want.Traffic.Messages {
			return fmt.Errorf("%s, p = q = %d, agent %d: %d numbers in %d messages were sent, by formula %d in %d",
				e.method, d, i, u.Traffic.Floats, u.Traffic.Messages, sends*want.Traffic.Floats,
				sends*want.Traffic.Messages)
		}
		if u.Calls != want.Calls {
			return fmt.Errorf("%s, p = q = %d, agent %d: the oracle was called %+v, by formula %+v", e.method, d, i,
				u.Calls, want.Calls)
		}
	}
	return nil
}

// describe lists the oracle calls of an iteration, c being the calls of K.
func describe(c dsbo.Calls, K int) string {
	var parts []string
	for _, kind := range []struct {
		n    int
		name string
	}{{c.LowerGrad, "∇g"}, {c.UpperGrad, "∇f"}, {c.HVP, "HVP"}, {c.JVP, "JVP"}, {c.Hessian, "Hessian"},
		{c.Jacobian, "Jacobian"}} {
		if n := kind.n / K; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind.name))
		}
	}
	return strings.Join(parts, " + ")
}
