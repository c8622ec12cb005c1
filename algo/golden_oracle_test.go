package algo_test

import (
	"encoding/json"
	"fmt"

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

// newOracle makes the full-batch oracle of one agent of a golden problem: its losses are Gorgonia
// graphs, in float64.
func newOracle(kind string, d goldenData, agent int) dsbo.ValueOracle {
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
			return testkit.Get(data.OneHot(testkit.Get(ad.FloatTable(len(v), 1, v)), d.C))
		})
	case "quadratic":
		m = d.quadratic(agent)
	case "dsco":
		m = models.SineBowl(d.P, part("A"), part("b"), part("D"), part("t"), part("w"))
	default:
		panic("golden kind " + kind + " is unknown")
	}
	return testkit.Get(models.NewOracle(m, s, models.Config{Agent: agent}))
}

// goldenShard makes the examples of one agent.
func goldenShard(part func(key string) []float64, features int, target func([]float64) *ad.Table) data.Shard {
	set := func(x, labels string) data.Examples {
		v := part(x)
		return data.Examples{X: testkit.Get(ad.FloatTable(len(v)/features, features, v)), Target: target(part(labels))}
	}
	return data.Shard{Train: set("Xtr", "ytr"), Val: set("Xval", "yval")}
}
