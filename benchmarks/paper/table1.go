package main

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
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// A measured is one method at one dimension p = q.
type measured struct {
	ms float64 // of an iteration of all agents
	// an agent sends to each neighbour in an iteration, counted and by formula: check sees that
	// they are equal
	floats int
	dense  int64      // bytes of an agent's matrices
	calls  dsbo.Calls // of an agent in the run
}

// An entrant is a method of the table, with the formula of its traffic written down here once more,
// apart from algo's: numbers to each neighbour in an iteration after the first.
type entrant struct {
	method, problem string
	formula         string  // of the traffic, for people
	growth          float64 // exponent of the traffic in d
	traffic         func(d int) int
}

// loopSteps is T and N of all entrants.
const loopSteps = 10

// entrants are the methods of Table 1 of the paper, then others of algo.
func entrants() []entrant {
	const T, N = loopSteps, loopSteps
	return []entrant{
		{"madsbo", "G-DSBO", "Tq + 2Nq + p", 1, func(d int) int { return T*d + 2*N*d + d }},
		{"gbdsbo", "G-DSBO", "p + q + Nq² + pq + p + q", 2, func(d int) int { return d + d + N*d*d + d*d + d + d }},
		{"jhip", "G-DSBO", "Tq + 2Npq + p", 2, func(d int) int { return T*d + 2*N*d*d + d }},
		{"fednest", "FBO", "2Tq + Nq + 2p up, and down", 1, func(d int) int { return 2*T*d + N*d + 2*d }},
		{"pdsbo_al", "P-DSBO", "p", 1, func(d int) int { return d }},
		{"mdbo", "G-DSBO, biased", "2p + 2q", 1, func(d int) int { return 2*d + 2*d }},
		{"dsoba", "G-DSBO", "p + 2q", 1, func(d int) int { return d + 2*d }},
		{"sparkle", "G-DSBO", "p + 2q", 1, func(d int) int { return d + 2*d }},
	}
}

// template returns the entrant's method, whose parameters have small steps and loopSteps.
func (e entrant) template() algo.Method {
	m := testkit.Get(algo.New(e.method))
	values := map[string]any{"alpha": 1e-3, "beta": 1e-3, "gamma": 1e-3, "lg": 100, "T": loopSteps, "N": loopSteps}
	maps.DeleteFunc(values, func(name string, _ any) bool { return !slices.Contains(algo.Parameters(m), name) })
	testkit.OK(algo.Decode(m, testkit.Get(json.Marshal(values))))
	return m
}

// measure runs K iterations and compares what was counted with the formulas, exactly.
func (e entrant) measure(ctx context.Context, d, K, rounds int) measured {
	m := measured{ms: math.Inf(1), floats: e.traffic(d)}
	method := e.template()
	w := ringOrServer(method, 8)
	c := logistic{n: 8, p: d, examples: 200, batch: 100, rate: 0.1, weight: 1, seed: 1}
	p := c.problem(1)
	for range rounds { // the least median: what else the machine does only adds to it
		res := testkit.Get(train.Run(ctx,
			train.Config{Problem: p, W: w, Method: method, K: K, EvalEvery: K, Evaluate: train.EvaluateOff}))
		m.ms = min(m.ms, float64(res.MsPerIteration))
		testkit.OK(e.check(method, d, K, w, res))
		m.calls = res.Usage[0].Calls
	}
	if dense := algo.TraitsOf(method).Dense; dense != nil {
		m.dense = dense(d, d)
	}
	return m
}

// check compares algo's formula of the traffic with this table's, and what each agent sent and its
// oracle calls in a run of K iterations, for p = q = d, with algo's formulas.
func (e entrant) check(method algo.Method, d, K int, w *network.Matrix, res *train.Result) error {
	m := algo.Clone(method)
	testkit.OK(m.Init(d, d, K))
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

// table1 measures Table 1 of the paper.
func table1(ctx context.Context, l *lab) {
	dims := pick(l, []int{50, 100, 200, 400}, []int{10, 20})
	K, rounds := pick(l, 5, 2), pick(l, 3, 1)
	time := newChart("table1-time", "Time of an iteration, 8 agents", "p = q", "milliseconds")
	traffic := newChart("table1-traffic", "Traffic of an iteration, to each neighbour", "p = q", "numbers sent")
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
		sent.add(e.method, describe(all[0].calls, K),
			column(all, func(m measured) string { return fmt.Sprint(m.floats) }), more, e.formula)
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
