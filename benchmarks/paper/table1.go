package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/runs/report"
	"dsbo/train"
)

// A measured is one method at one dimension p = q.
type measured struct {
	ms float64 // of an iteration of all agents
	// an agent sends to each neighbour in an iteration, counted and by formula: check sees that
	// they are equal
	floats int
	dense  int64 // bytes of an agent's matrices
	calls  dsbo.Calls
}

// An entrant is a method of the table, with the formula of its traffic written down here once more,
// apart from algo's: numbers to each neighbour in an iteration after the first.
type entrant struct {
	method  string
	problem string
	traffic func(d, T, N int) int
	formula string  // the same for people
	growth  float64 // exponent of its traffic in d
}

// entrants are the methods of Table 1 of the paper, then others of algo.
func entrants() []entrant {
	return []entrant{
		{method: "madsbo", formula: "Tq + 2Nq + p", problem: "G-DSBO", growth: 1, traffic: func(d, T, N int) int {
			return T*d + 2*N*d + d
		}},
		{method: "gbdsbo", formula: "p + q + Nq² + pq + p + q", problem: "G-DSBO", growth: 2,
			traffic: func(d, T, N int) int { return d + d + N*d*d + d*d + d + d }},
		{method: "jhip", formula: "Tq + 2Npq + p", problem: "G-DSBO", growth: 2, traffic: func(d, T, N int) int {
			return T*d + 2*N*d*d + d
		}},
		{method: "fednest", formula: "2Tq + Nq + 2p up, and down", problem: "FBO", growth: 1,
			traffic: func(d, T, N int) int { return 2*T*d + N*d + 2*d }},
		{method: "pdsbo_al", formula: "p", problem: "P-DSBO", growth: 1, traffic: func(d, T, N int) int { return d }},
		{method: "mdbo", formula: "2p + 2q", problem: "G-DSBO, biased", growth: 1, traffic: func(d, T, N int) int {
			return 2*d + 2*d
		}},
		{method: "dsoba", formula: "p + 2q", problem: "G-DSBO", growth: 1, traffic: func(d, T, N int) int {
			return d + 2*d
		}},
		{method: "sparkle", formula: "p + 2q", problem: "G-DSBO", growth: 1, traffic: func(d, T, N int) int {
			return d + 2*d
		}},
	}
}

// template returns the entrant's method.
func (e entrant) template() algo.Method {
	m := testkit.Get(algo.New(e.method))
	return withParameters(m,
		map[string]any{"alpha": 1e-3, "beta": 1e-3, "gamma": 1e-3, "lg": 100, "T": loopSteps, "N": loopSteps})
}

// loopSteps is T and N of all entrants.
const loopSteps = 10

// measure runs K iterations and compares what was counted with the formulas, exactly.
func (e entrant) measure(ctx context.Context, d, K, rounds int) measured {
	m := measured{ms: math.Inf(1), floats: e.traffic(d, loopSteps, loopSteps)}
	method := e.template()
	w := ringOrServer(method, 8)
	c := logistic{n: 8, p: d, examples: 200, batch: 100, rate: 0.1, weight: 1, seed: 1}
	p := c.problem(1)
	for range rounds { // the least median: what else the machine does only adds to it
		res := testkit.Get(train.Run(ctx,
			train.Config{Problem: p, W: w, Method: method, K: K, EvalEvery: K, Evaluate: train.EvaluateOff}))
		m.ms = min(m.ms, float64(res.MsPerIteration))
		testkit.OK(e.check(method, d, K, w, res))
		last := res.Usage[0].Calls
		m.calls = dsbo.Calls{UpperGrad: last.UpperGrad / K, LowerGrad: last.LowerGrad / K, HVP: last.HVP / K,
			JVP: last.JVP / K, Hessian: last.Hessian / K, Jacobian: last.Jacobian / K}
	}
	if dense := algo.TraitsOf(method).Dense; dense != nil {
		m.dense = dense(d, d)
	}
	return m
}

// check compares algo's formula of the traffic with this table's, and each agent's counts with
// algo's formulas.
func (e entrant) check(method algo.Method, d, K int, w *network.Matrix, res *train.Result) error {
	m := initialized(method, d, d, K)
	for k := 1; k < K; k++ {
		c := m.Cost(k)
		if want := e.traffic(d, loopSteps, loopSteps); c.Floats != want {
			return fmt.Errorf("%s, p = q = %d: algo's formula gives %d numbers in an iteration, the table's %d",
				e.method, d, c.Floats, want)
		}
	}
	return checkCounts(method, d, w, res)
}

// checkCounts compares what each agent sent and its oracle calls in a run, for p = q = d, with
// algo's formulas.
func checkCounts(template algo.Method, d int, w *network.Matrix, res *train.Result) error {
	method := algo.NameOf(template)
	m := initialized(template, d, d, res.Iterations)
	var want runs.Usage // to one neighbour
	for k := range res.Iterations {
		c := m.Cost(k)
		want.Add(runs.Usage{Calls: c.Calls,
			Traffic: dsbo.Traffic{Floats: int64(c.Floats), Messages: int64(c.Messages)}})
	}
	for i, u := range res.Usage {
		sends := int64(w.Sends(i))
		if u.Traffic.Floats != sends*want.Traffic.Floats || u.Traffic.Messages != sends*want.Traffic.Messages {
			return fmt.Errorf("%s, p = q = %d, agent %d: %d numbers in %d messages were sent, by formula %d in %d",
				method, d, i, u.Traffic.Floats, u.Traffic.Messages, sends*want.Traffic.Floats,
				sends*want.Traffic.Messages)
		}
		if u.Calls != want.Calls {
			return fmt.Errorf("%s, p = q = %d, agent %d: the oracle was called %+v, by formula %+v", method, d, i,
				u.Calls, want.Calls)
		}
	}
	return nil
}

// table1 measures Table 1 of the paper.
func table1(ctx context.Context, l *lab) {
	dims := pick(l, []int{50, 100, 200, 400}, []int{10, 20})
	K, rounds := pick(l, 5, 2), pick(l, 3, 1)
	time := newChart("table1-time", "Time of an iteration, 8 agents", "p = q", "milliseconds", report.Log, report.Log)
	traffic := newChart("table1-traffic", "Traffic of an iteration, to each neighbour", "p = q", "numbers sent",
		report.Log, report.Log)
	times, sent := table{{"method", "problem"}}, table{{"method", "oracle calls of an agent"}}
	for _, d := range dims {
		times[0] = append(times[0], fmt.Sprintf("ms, %d", d))
		sent[0] = append(sent[0], fmt.Sprintf("floats, %d", d))
	}
	times[0] = append(times[0], "exponent", fmt.Sprintf("MiB of matrices, %d", dims[len(dims)-1]))
	sent[0] = append(sent[0], "exponent", "formula")
	grows, d := true, column(dims, func(d int) float64 { return float64(d) })
	for _, e := range entrants() {
		all := column(dims, func(d int) measured { return e.measure(ctx, d, K, rounds) })
		ms := column(all, func(m measured) float64 { return m.ms })
		floats := column(all, func(m measured) float64 { return float64(m.floats) })
		more := slope(d, floats)
		times.add(e.method, e.problem, ms, slope(d, ms), float64(all[len(all)-1].dense)/(1<<20))
		sent.add(e.method, describe(all[0].calls), column(all, func(m measured) string { return fmt.Sprint(m.floats) }),
			more, e.formula)
		grows = grows && math.Abs(more-e.growth) < 0.1
		time.line(e.method, d, ms)
		traffic.line(e.method, d, floats)
	}
	l.table(times)
	l.table(sent)
	l.claim(true,
		"numbers and messages sent, and oracle calls, equal the formulas exactly, for all methods, "+
			"dimensions and agents")
	l.claim(grows, "traffic grows with exponent 2 for DSBO-JHIP and GBDSBO and 1 for the others")
	l.save(time, traffic)
}

// describe lists the oracle calls that there are.
func describe(c dsbo.Calls) string {
	var parts []string
	for _, kind := range []struct {
		n    int
		name string
	}{{c.LowerGrad, "∇g"}, {c.UpperGrad, "∇f"}, {c.HVP, "HVP"}, {c.JVP, "JVP"}, {c.Hessian, "Hessian"},
		{c.Jacobian, "Jacobian"}} {
		if kind.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", kind.n, kind.name))
		}
	}
	return strings.Join(parts, " + ")
}
