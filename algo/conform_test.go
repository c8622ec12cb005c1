package algo_test

import (
	"fmt"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.SmallRuns()
	m.Run()
}

// variants are parameters, beside the defaults, that reach what the defaults do not.
var variants = map[string][]string{
	"madsbo": {`{"T":1,"N":1}`, `{"alpha":"0.5/sqrt(k+1)","T":2,"N":3}`},
	"madsbo_tuned": {
		`{"T":1,"N":1}`, `{"T":2,"N":3,"warm_z":true,"track_y":true,"mom_y":0.5,"mom_z":0.4}`,
		`{"T":2,"N":3,"warm_z":true,"reuse_b":true,"xstep":"adam","clip":[-0.05,0.1]}`,
		`{"T":2,"N":3,"track_y":true,"eta":[2,1]}`,
	},
	"newtoncg": {
		`{"init":"x0","c":1,"cold":2,"mem":3,"dg_every":3,"absolute":true,"most":5}`,
		`{"init":"x0","c":6,"mem":3,"clip":[-0.05,0.1],"most":1,"beta1":0.2}`,
		`{"damping":0.5,"constants":3,"mem":3,"part":true}`,
		`{"constants":1,"c":2,"mem":3,"lr":[0.2,0.1],"cut":0.01}`,
	},
	"adamcg": {`{"T":2,"N":3,"clip":[-0.05,0.1],"mu":0.5}`, `{"T":3,"hold":true}`, `{"T":1,"wait":2}`,
		`{"T":2,"all":true}`},
	"jhip": {`{"T":1,"N":1}`}, "gbdsbo": {`{"N":1}`}, "pdsbo_gossip": {`{"T":1,"N":1}`}, "stocbio": {`{"T":1,"N":1}`},
	"fednest": {`{"T":2,"N":3,"nprime":[1,0,2]}`, `{"T":2,"N":3,"tau":3}`},
	"mdbo":    {`{"N":3,"nprime":[1,0,2]}`, `{"N":3,"a1":0.8,"a2":0.9,"eta":0.7}`},
	"alset":   {`{"T":2,"N":3,"nprime":[1,0,2]}`},
	"dascgd":  {`{"b":0.3,"init":"zero"}`},
	"sparkle": {
		`{"strategy":{"x":"extra","y":"extra","z":"extra"}}`, `{"strategy":{"x":"gt","y":"gt","z":"gt"}}`,
		`{"strategy":{"x":"none","y":"none","z":"none"}}`, `{"strategy":{"x":"gt","z":"extra"}}`,
	},
	"vrdbo":   {`{"N":3,"nprime":[1,0,2]}`, `{"N":3,"a1":0.8,"a2":1.2,"eta":0.7}`},
	"dbifo":   {`{"a":1}`, `{"a":0.1,"lam":3}`, `{"order":2}`},
	"fab":     {`{"order":2}`},
	"adasdbo": {`{"m0":[3,2,1],"track":true}`},
	"saba":    {`{"batches":[3,2],"init":"full"}`},
	"srba":    {`{"period":3}`, `{"refresh":[1,0,0,1,0]}`},
	"c2dfb": {`{"T":3,"compress":{"kind":"top","keep":2}}`,
		`{"T":2,"compress":{"kind":"round","bits":4},"gout":0.7}`, `{"T":2,"order":2}`},
	"fedmsa":    {`{"tau":3,"clients":[[0],[0,1],[1,2]]}`, `{"rho":1,"tau":2}`},
	"fedbioacc": {`{"I":1}`, `{"I":2,"at":"1/sqrt(k+1)","cx":1}`},
	"simfbo":    {`{"tau":3,"ball":0.1,"clients":[[0],[0,2]]}`, `{"tau":2,"shro":true}`},
	"brfedbi":   {`{"agg":{"kind":"median"},"mom":0.5,"ball":0.1}`, `{"byz":[1],"attack":2}`},
	"f2sa":      {`{"T":1,"lam0":2,"dlam":0.5}`, `{"T":2,"order":2,"unit":true}`},
	"aidcg":     {`{"T":2,"N":3,"warm_z":true}`}, "itd": {`{"T":2,"cold_y":true}`},
	"lancbio": {`{"dim":1}`, `{"dim":2,"dim_fre":2,"dim_inc":1.4,"dim_max":4}`},
	"search": {`{"rule":"grid","T":2,"N":4}`, `{"rule":"bayes","T":1,"N":3,"clip":[-1,1]}`,
		`{"each":true,"seed":3,"T":1,"N":4}`},
	"sundsbo":  {`{"plain":true}`, `{"mu":0.5,"env":2}`},
	"pdsbo_al": {`{"T":2,"N":3,"rho":0.3}`},
}

// TestConformance runs the suite on every method of the table, with its defaults and with
// its variants.
func TestConformance(t *testing.T) {
	for _, name := range algo.Names() {
		for i, object := range append([]string{"{}"}, variants[name]...) {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				if testing.Short() && i > 0 {
					t.Skip("the defaults are enough")
				}
				if testing.Short() && name == "newtoncg" {
					object = `{"mem":6}` // the default's large matrices of pairs take the most time
				}
				algotest.TestMethod(t, func() algo.Method { return made(t, name, object) })
			})
		}
	}
}

// made returns the named method with parameters, before Init.
func made(t *testing.T, name, object string) algo.Method {
	t.Helper()
	m, err := algo.New(name)
	if err == nil {
		err = algo.Decode(m, []byte(object))
	}
	testkit.OK(err)
	return m
}

// ready returns the method after Init for x of length p and y of length q, and 100 iterations.
func ready[M algo.Method](t *testing.T, m M, p, q int) M {
	t.Helper()
	testkit.OK(m.Init(p, q, 100))
	return m
}

func oraclesOf(qs []*algotest.Quadratic) (os []dsbo.Oracle) {
	for _, o := range qs {
		os = append(os, o)
	}
	return os
}

// agentsOn returns a method for each problem, and the problems as oracles.
func agentsOn(qs []*algotest.Quadratic, newMethod func() algo.Method) ([]algo.Method, []dsbo.Oracle) {
	var as []algo.Method
	for range qs {
		as = append(as, newMethod())
	}
	return as, oraclesOf(qs)
}

// each collects one vector of each agent.
func each(as []algo.Method, part func(algo.Method) []float64) (rows [][]float64) {
	for _, a := range as {
		rows = append(rows, part(a))
	}
	return rows
}

// alone runs K iterations of an agent without others.
func alone(t *testing.T, K int, a dsbo.Algorithm, o dsbo.Oracle) {
	t.Helper()
	iterate(t, K, []dsbo.Algorithm{a}, []dsbo.Oracle{o}, algotest.NewMixers(algotest.Ring(1, 0.5)))
}

// iterate runs K iterations of agents.
func iterate[A dsbo.Algorithm](t *testing.T, K int, as []A, os []dsbo.Oracle, ms []*algotest.Mixer) {
	t.Helper()
	testkit.OK(algotest.Run(t.Context(), 0, K, as, os, ms))
}
