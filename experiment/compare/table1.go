package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/models"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/runs/report"
	"dsbo/train"
)

// What all rows have: n, and T and N.
const rowAgents, loopSteps = 8, 10

// A row1 is a row of Table 1 of the paper: a method, with its traffic written down here once more,
// apart from algo's formulas: for p = q = d, T and N, linear·d + square·d² numbers to each
// neighbour in an iteration after the first.
type row1 struct {
	method, problem, formula string
	linear, square           int
}

// rows1 are the methods of Table 1 of the paper, then others of algo.
var rows1 = []row1{
	{"madsbo", "G-DSBO", "Tq + 2Nq + p", 31, 0},
	{"gbdsbo", "G-DSBO", "p + q + Nq² + pq + p + q", 4, 11},
	{"jhip", "G-DSBO", "Tq + 2Npq + p", 11, 20},
	{"fednest", "FBO", "2Tq + Nq + 2p up, and down", 32, 0},
	{"pdsbo_al", "P-DSBO", "p", 1, 0},
	{"mdbo", "G-DSBO, biased", "2p + 2q", 4, 0},
	{"dsoba", "G-DSBO", "p + 2q", 3, 0},
	{"sparkle", "G-DSBO", "p + 2q", 3, 0},
}

// traffic is what the formula gives.
func (r row1) traffic(d int) int { return r.linear*d + r.square*d*d }

// tableOne measures Table 1. Oracle calls do not depend on the dimension, and a row shows the ones
// of its last dimension. A quick one has small dimensions and few iterations.
func tableOne(ctx context.Context, quick bool) (report.Part, error) {
	dims, K, rounds := []int{50, 100, 200, 400}, 5, 3
	if quick {
		dims, K, rounds = []int{5, 10}, 2, 1
	}
	head := []string{"method", "problem", "oracle calls of an agent", "numbers to each neighbour"}
	for _, d := range dims {
		head = append(head, fmt.Sprintf("p = q = %d", d), "ms")
	}
	p := report.Part{Title: "Table 1, an iteration", Table: [][]string{head}, Answers: []report.Answer{
		claim(true, "numbers sent and oracle calls are what the formulas give, exactly"),
		claim(rows1[0].square == 0 && rows1[1].square > 0 && rows1[2].square > 0,
			"MA-DSBO sends O(max(p, q)) numbers, DSBO-JHIP and GBDSBO O(pq) or O(q²)")}}
	for _, r := range rows1 {
		cells := []string{r.method, r.problem, "", r.formula}
		for _, d := range dims {
			calls, ms, err := r.measure(ctx, d, K, rounds)
			if err != nil {
				return p, err
			}
			cells[2] = calls
			cells = append(cells, fmt.Sprint(r.traffic(d)), fiveDigits(ms))
		}
		p.Table = append(p.Table, cells)
	}
	return p, nil
}

// smallSteps returns a method with small steps, so that it does not diverge, and loopSteps inner
// steps, with the matrix of a ring, or of a server if the method needs exact averages.
func smallSteps(name string) (algo.Method, *network.Matrix, error) {
	m, err := algo.New(name)
	if err != nil {
		return nil, nil, err
	}
	values := map[string]any{"alpha": 1e-3, "beta": 1e-3, "gamma": 1e-3, "lg": 100, "T": loopSteps, "N": loopSteps}
	maps.DeleteFunc(values, func(name string, _ any) bool { return !slices.Contains(algo.Parameters(m), name) })
	text, err := json.Marshal(values)
	if err != nil {
		return nil, nil, err
	}
	g, err := network.Ring(rowAgents, 0.5)
	if algo.TraitsOf(m).ExactAverage {
		g, err = network.Server(rowAgents)
	}
	if err != nil {
		return nil, nil, err
	}
	return m, g.W, algo.Decode(m, text)
}

// measure returns the oracle calls of an agent and the time of an iteration for p = q = d. The time
// is the fastest of several rounds of K iterations, since other load only adds to it. It fails if a
// count differs from the formulas.
func (r row1) measure(ctx context.Context, d, K, rounds int) (calls string, ms float64, err error) {
	method, w, err := smallSteps(r.method)
	if err != nil {
		return "", 0, err
	}
	t, err := data.Synthetic{Agents: rowAgents, Features: d, Train: 200, Val: 200, Test: 1, Rate: 0.1, Seed: 1}.Task()
	if err != nil {
		return "", 0, err
	}
	p, err := train.NewProblem(t, models.Logistic{Features: d, Mean: true}, models.Config{Seed: 1, Batch: 100})
	if err != nil {
		return "", 0, err
	}
	ms = math.Inf(1)
	for range rounds {
		res, err := train.Run(ctx,
			train.Config{Problem: p, W: w, Method: method, K: K, EvalEvery: K, Evaluate: train.EvaluateOff})
		if err == nil {
			err = r.check(method, d, K, w, res)
		}
		if err != nil {
			return "", 0, err
		}
		ms, calls = min(ms, float64(res.MsPerIteration)), describe(res.Usage[0].Calls, K)
	}
	return calls, ms, nil
}

// check compares what each agent sent and called in a run of K iterations with algo's formulas, and
// these with the table's. The first iteration is not compared with the table, as it may send more.
func (r row1) check(method algo.Method, d, K int, w *network.Matrix, res *train.Result) error {
	m := algo.Clone(method)
	if err := m.Init(d, d, K); err != nil {
		return err
	}
	var want runs.Usage // to one neighbour
	for k := range K {
		c := m.Cost(k)
		if k > 0 && c.Floats != r.traffic(d) {
			return fmt.Errorf("%s, p = q = %d: algo's formula gives %d numbers in an iteration, the table's %d",
				r.method, d, c.Floats, r.traffic(d))
		}
		want.Add(runs.Usage{Calls: c.Calls,
			Traffic: dsbo.Traffic{Floats: int64(c.Floats), Messages: int64(c.Messages)}})
	}
	for i, u := range res.Usage {
		n := int64(w.Sends(i))
		if u.Floats != n*want.Floats || u.Messages != n*want.Messages || u.Calls != want.Calls {
			return fmt.Errorf("%s, p = q = %d, agent %d: sent and called %+v, by formula to each of %d neighbours %+v",
				r.method, d, i, u, n, want)
		}
	}
	return nil
}

// describe lists the oracle calls of an iteration, c being the calls of K. Calls that come less
// than once an iteration, such as at the start, are left out.
func describe(c dsbo.Calls, K int) string {
	var parts []string
	for i, n := range []int{c.LowerGrad, c.UpperGrad, c.HVP, c.JVP, c.Hessian, c.Jacobian} {
		if n >= K {
			parts = append(parts, fmt.Sprint(n/K, []string{" ∇g", " ∇f", " HVP", " JVP", " Hessian", " Jacobian"}[i]))
		}
	}
	return strings.Join(parts, " + ")
}
