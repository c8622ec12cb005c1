package algo

import (
	"encoding/json"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

// clients requires lists of agents that take part, one an iteration.
func (c *checker) clients(name string, lists [][]int) {
	for _, list := range lists {
		sorted := slices.Sorted(slices.Values(list))
		c.require(len(list) > 0 && sorted[0] >= 0 && len(slices.Compact(sorted)) == len(list), name,
			"lists of different agents, none of them empty", lists)
	}
}

// counts are numbers, or one for all: in JSON a list or a number.
type counts []int

// UnmarshalJSON reads a number or a list of numbers.
func (n *counts) UnmarshalJSON(text []byte) error {
	if text[0] != '[' {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	return json.Unmarshal(text, (*[]int)(n))
}

// clientShare returns the factor for an agent's vector that turns the average over all agents into
// the mean over this iteration's clients: agents/clients for a client and 0 for other agents; 1
// without lists, when all are clients. Iteration k has list k mod len(lists). An agent in a list
// that does not exist is an error of the turn, except in a run of one agent, which may be given the
// lists of a larger run.
func clientShare(w *Turn, lists [][]int) float64 {
	if len(lists) == 0 {
		return 1
	}
	agent, agents := agentAndCount(w)
	list := lists[w.k%len(lists)]
	if most := slices.Max(list); most >= agents && agents > 1 && w.err == nil {
		w.err = dsbo.ConfigErrorf("%s: clients must be agents from 0 to %d; one is %d", w.method, agents-1,
			most)
	}
	if !slices.Contains(list, agent) {
		return 0
	}
	return float64(agents) / float64(len(list))
}

// project projects z to the ball of a radius around 0; 0: there is none.
func project(z []float64, radius float64) {
	if norm := linalg.Norm(z); radius > 0 && norm > radius {
		linalg.Scale(z, radius/norm, z)
	}
}

// A work counts the directions that an agent asks for, whose number differs between agents. The
// zero value is of no iteration.
type work struct {
	next  int // the iteration after the one that it is of
	asked int
}

// in returns the agent's number of directions in iteration k, or most if r is from another one.
func (r work) in(k, most int) int {
	if r.next == k+1 {
		return r.asked
	}
	return most
}

// directionCalls are the questions of some directions.
func directionCalls(times int) dsbo.Calls {
	return dsbo.Calls{UpperGrad: times, LowerGrad: times, HVP: times, JVP: times}
}

// implicitCalls are the questions of an iteration with T gradients of g, one of f, some
// Hessian-vector products and a Jacobian-vector product.
func implicitCalls(T, products int) dsbo.Calls {
	return dsbo.Calls{UpperGrad: 1, LowerGrad: T, HVP: products, JVP: 1}
}

// An aggregation is how a server combines the numbers of its clients: "mean" (the default),
// "median" or "trim", the mean without the F largest and the F smallest.
type aggregation struct {
	Kind string `json:"kind,omitempty"`
	F    int    `json:"f,omitempty"`

	values []float64 // of one entry
}

// check requires an aggregation that exists.
func (a *aggregation) check(c *checker, name string) {
	c.choice(name, &a.Kind, "mean", "median", "trim")
	c.require(a.F >= 0, name, "with f at least 0", a.F)
}

// combine sets each entry of dst to the aggregate of the clients' values.
func (a *aggregation) combine(dst []float64, in [][]float64) {
	a.values = slices.Grow(a.values[:0], len(in))[:len(in)]
	for e := range dst {
		for i, v := range in {
			a.values[i] = v[e]
		}
		dst[e] = a.of(a.values)
	}
}

// of returns the aggregate of the clients' values: the mean without the cut largest and the cut
// smallest. It sorts values if cut > 0. NaN has no place in an order, so any NaN makes the result
// NaN.
func (a *aggregation) of(values []float64) float64 {
	if slices.ContainsFunc(values, math.IsNaN) {
		return math.NaN()
	}
	n, cut := len(values), 0
	switch a.Kind {
	case "median":
		cut = (n - 1) / 2 // the middle value is left, or the two middle ones
	case "trim":
		cut = a.F
	}
	if cut > 0 {
		slices.Sort(values)
	}
	sum := 0.0
	for _, v := range values[cut : n-cut] {
		sum += v
	}
	return sum / float64(n-2*cut)
}

// fits returns an error unless clients are left over.
func (a *aggregation) fits(agents int) error {
	if a.Kind == "trim" && 2*a.F >= agents {
		return dsbo.ConfigErrorf("agg must leave clients over: 2f below %d; f is %d", agents, a.F)
	}
	return nil
}
