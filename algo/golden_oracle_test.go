package algo_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// goldenData is the "data" of a golden file, with the lengths of x and y.
type goldenData struct {
	P, Q   int    `json:"-"`
	Reduce string // logistic: "sum" (or nothing) or "mean"
	C      int    // softmax: classes
	Agents []map[string]json.RawMessage
}

// part reads a vector or a matrix of one agent, matrices row by row.
func (d goldenData) part(agent int, key string) []float64 {
	var v any
	if err := json.Unmarshal(d.Agents[agent][key], &v); err != nil {
		panic(fmt.Sprintf("golden data of agent %d has no readable %s: %v", agent, key, err))
	}
	flat, _ := flatten(v)
	return flat
}

// quadratic makes the model of one agent of a golden quadratic.
func (d goldenData) quadratic(agent int) models.Quadratic {
	part := func(key string) []float64 { return d.part(agent, key) }
	return models.Quadratic{P: d.P, Q: d.Q, A: part("A"), B: part("B"), C: part("c"), D: part("D"), T: part("t"),
		E: part("E"), LinearTerm: part("e")}
}

// wholeOracle makes the full-batch oracle of one agent of a golden problem: its losses are Gorgonia
// graphs, in float64.
func wholeOracle(kind string, d goldenData, agent int) oracle {
	part := func(key string) []float64 { return d.part(agent, key) }
	var m models.Model
	var s data.Shard
	switch kind {
	case "logistic":
		m = models.Logistic{Features: d.P, Mean: d.Reduce == "mean"}
		s = goldenShard(part, d.P, func(v []float64) *ad.Table { return testkit.Get(ad.FloatTable(len(v), 1, v)) })
	case "softmax":
		m = models.Softmax{Features: d.P, Classes: d.C}
		s = goldenShard(part, d.P, func(v []float64) *ad.Table {
			labels := make([]uint8, len(v))
			for i, class := range v {
				labels[i] = uint8(class)
			}
			return testkit.Get(ad.LabelTable(labels, d.C))
		})
	case "quadratic":
		m = d.quadratic(agent)
	case "dsco":
		m = sineBowl(d.P, part("A"), part("b"), part("D"), part("t"), part("w"))
	default:
		panic("golden kind " + kind + " is unknown")
	}
	return testkit.Get(models.NewOracle(m, s, models.Config{Agent: agent}))
}

// batch returns the data of one agent's batch: of some rows of its examples, or a quadratic of
// its own.
func (d goldenData) batch(agent, b int, batches string) goldenData {
	all := d.Agents[agent]
	of := maps.Clone(all)
	if parts := all["parts"]; parts != nil {
		of = parsed[[]map[string]json.RawMessage](parts)[b]
	} else {
		rows := parsed[[][]int](all[batches])[b]
		keys := map[string][]string{"train_batches": {"Xtr", "ytr"}, "val_batches": {"Xval", "yval"}}
		for _, key := range keys[batches] {
			var chosen []json.RawMessage
			for _, r := range rows {
				chosen = append(chosen, parsed[[]json.RawMessage](all[key])[r])
			}
			of[key] = testkit.Get(json.Marshal(chosen))
		}
	}
	d.Agents = slices.Clone(d.Agents)
	d.Agents[agent] = of
	return d
}

// draws are the batches that each agent uses in each iteration; -1 is all of its data.
type draws struct{ Lower, Curvature, Upper [][]int }

// A drawn oracle is the oracle of an agent whose draws a golden file names.
type drawn struct {
	oracle
	agent        int
	draws        [3][][]int // by set
	lower, upper []oracle   // of the batches
}

// An oracle is one of a golden problem.
type oracle = dsbo.ValueOracle

// newOracle makes the oracle of one agent of a golden problem, with its draws.
func (g golden) newOracle(agent int) oracle {
	all := wholeOracle(g.Kind, g.Data, agent)
	if g.Draws == nil {
		return all
	}
	o := &drawn{oracle: all, agent: agent, draws: [3][][]int{g.Draws.Lower, g.Draws.Curvature, g.Draws.Upper}}
	if g.Draws.Curvature == nil {
		o.draws[dsbo.Curvature] = g.Draws.Lower
	}
	for _, side := range []struct {
		of      *[]oracle
		batches string
	}{{&o.lower, "train_batches"}, {&o.upper, "val_batches"}} {
		for b := range g.Data.batches(agent, side.batches) {
			*side.of = append(*side.of, wholeOracle(g.Kind, g.Data.batch(agent, b, side.batches), agent))
		}
	}
	return o
}

// batches returns the number of an agent's batches.
func (d goldenData) batches(agent int, key string) int {
	if parts := d.Agents[agent]["parts"]; parts != nil {
		return len(parsed[[]json.RawMessage](parts))
	}
	return len(parsed[[]json.RawMessage](d.Agents[agent][key]))
}

// on returns the oracle of a draw.
func (o *drawn) on(batches []oracle, s dsbo.Sample) oracle {
	switch s.Set {
	case dsbo.Whole:
		return o.oracle
	case dsbo.LowerBatch, dsbo.UpperBatch:
		return batches[s.K]
	}
	if b := o.draws[s.Set][s.K][o.agent]; b >= 0 {
		return batches[b]
	}
	return o.oracle
}

func (o *drawn) Capabilities() *dsbo.OracleCapabilities {
	of := *o.oracle.Capabilities()
	of.Of, of.Batch, of.LowerJointGrad = o, o.Batch, o.LowerJointGrad
	return &of
}

// Batch returns the batch that the file names for a draw.
func (o *drawn) Batch(s dsbo.Sample, n int) (batch dsbo.Sample, share float64, err error) {
	switch s.Set {
	case dsbo.LowerBatch, dsbo.UpperBatch:
		batch = s
	case dsbo.Upper:
		batch = dsbo.Sample{Set: dsbo.UpperBatch, K: o.draws[s.Set][s.K][o.agent], T: n}
	default:
		batch = dsbo.Sample{Set: dsbo.LowerBatch, K: o.draws[s.Set][s.K][o.agent], T: n}
	}
	return batch, 1 / float64(n), nil
}

func (o *drawn) UpperGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	return o.on(o.upper, s).UpperGrad(dx, dy, x, y, whole)
}

func (o *drawn) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	return o.on(o.lower, s).LowerGrad(dst, x, y, whole)
}

func (o *drawn) LowerJointGrad(dx, dy, x, y []float64, s dsbo.Sample) error {
	return o.on(o.lower, s).Capabilities().LowerJointGrad(dx, dy, x, y, whole)
}

func (o *drawn) HVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.on(o.lower, s).HVP(dst, x, y, v, whole)
}

func (o *drawn) JVP(dst, x, y, v []float64, s dsbo.Sample) error {
	return o.on(o.lower, s).JVP(dst, x, y, v, whole)
}

// goldenShard makes the examples of one agent.
func goldenShard(part func(key string) []float64, features int, target func([]float64) *ad.Table) data.Shard {
	set := func(x, labels string) data.Examples {
		v := part(x)
		return data.Examples{X: testkit.Get(ad.FloatTable(len(v)/features, features, v)), Target: target(part(labels))}
	}
	return data.Shard{Train: set("Xtr", "ytr"), Val: set("Xval", "yval")}
}

// parsed reads a part of a golden file.
func parsed[T any](text json.RawMessage) (v T) {
	testkit.OK(json.Unmarshal(text, &v))
	return v
}

// sineBowl returns the compositional problem of one agent with
//
//	G(x) = sin(Ax) + b      F(y) = ½ Σ_k d_k (y_k − t_k)² + log(1 + e^{w'y})
//
// a q×p (row-major), b, d, t and w of length q. It is smooth and not convex in x.
func sineBowl(p int, a, b, d, t, w []float64) models.Compositional {
	q := len(b)
	return models.Compositional{P: p, Q: q,
		Inner: func(x *ad.Node, _ models.Batch) *ad.Node {
			return ad.Add(ad.Sin(ad.MatVec(ad.NewConst(x, "A", q, p, a), x, false)), ad.NewConst(x, "b", q, 0, b))
		},
		Outer: func(y *ad.Node, _ models.Batch) *ad.Node {
			off := ad.Sub(y, ad.NewConst(y, "t", q, 0, t))
			bowl := ad.Scale(.5, ad.Dot(ad.NewConst(y, "d", q, 0, d), ad.Square(off)))
			return ad.Add(bowl, ad.Softplus(ad.Dot(ad.NewConst(y, "w", q, 0, w), y)))
		}}
}
