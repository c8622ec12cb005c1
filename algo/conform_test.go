package algo_test

import (
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
)

// variants are parameter sets that reach every branch of every method.
func variants() map[string][]algo.Params {
	s := algo.Params{Alpha: algo.Constant(0.1), Beta: algo.Constant(0.2), Gamma: algo.Constant(0.2), T: 2, N: 3, L: 5}
	with := func(change func(*algo.Params)) algo.Params { a := s; change(&a); return a }
	strategy := func(x, y, z string) algo.Params {
		return with(func(a *algo.Params) { a.Strategy = algo.Strategy{X: x, Y: y, Z: z} })
	}
	terms := []algo.Params{s, with(func(a *algo.Params) { a.NPrime = algo.LastTerm() }), with(func(a *algo.Params) { a.NPrime = algo.Draws(1, 0, 2) })}
	one := with(func(a *algo.Params) { a.T, a.N = 1, 1 })
	return map[string][]algo.Params{
		"madsbo": {s, one, with(func(a *algo.Params) { a.X0, a.Alpha = 0.5, algo.InverseRoot(0.5) })},
		"madsbo_tuned": {s, one,
			with(func(a *algo.Params) { a.WarmZ, a.TrackY, a.MomY, a.MomZ = true, true, 0.5, 0.4 }),
			with(func(a *algo.Params) { a.WarmZ, a.ReuseB, a.XStep, a.Clip = true, true, "adam", []float64{-0.05, 0.1} }),
			with(func(a *algo.Params) { a.TrackY, a.Eta, a.X0 = true, algo.List(2, 1), 1 })},
		"jhip": {s, one}, "gbdsbo": {s, one},
		"fednest":      append(terms, with(func(a *algo.Params) { a.Tau = 3 })),
		"mdbo":         append(terms, with(func(a *algo.Params) { a.A1, a.A2, a.Eta = 0.8, 0.9, algo.Constant(0.7) })),
		"pdsbo_gossip": {s, one}, "pdsbo_al": {s, one, with(func(a *algo.Params) { a.Rho = 0.3 })},
		"dascgd": {s, with(func(a *algo.Params) { a.B, a.Init = 0.3, "zero" })},
		"dsoba":  {s},
		"sparkle": {strategy("ed", "ed", "ed"), strategy("extra", "extra", "extra"), strategy("gt", "gt", "gt"),
			strategy("none", "none", "none"), strategy("gt", "ed", "extra")},
		"aidcg": {s, with(func(a *algo.Params) { a.WarmZ = true })}, "itd": {s, with(func(a *algo.Params) { a.ColdY = true })},
		"stocbio": {s, one}, "alset": terms, "soba": {s},
	}
}

func TestConformance(t *testing.T) {
	all := variants()
	for _, name := range algo.Names() {
		info, err := algo.Describe(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(all[name]) == 0 {
			t.Errorf("%s: no parameters to test with", name)
		}
		for i, a := range all[name] {
			t.Run(name+"/"+string(rune('a'+i)), func(t *testing.T) {
				opt := algotest.Options{Cost: func(p, q, k int) algo.Cost {
					c, err := algo.CostOf(name, a, p, q, k)
					if err != nil {
						t.Fatal(err)
					}
					return c
				}}
				switch {
				case info.OneAgent:
					opt.W = algotest.Ring(1, 1)
				case info.ExactAverage:
					opt.W = algotest.Average(3)
				}
				algotest.TestMethod(t, maker(t, name, a), opt)
			})
		}
	}
}

func TestLowerConforms(t *testing.T) {
	c := algo.LowerParams{Beta: algo.Constant(0.2), MomY: 0.3, T: 2}
	algotest.TestMethod(t, func(p, q int) dsbo.Algorithm {
		a, err := algo.NewLower(q, make([]float64, p), c)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}, algotest.Options{Cost: c.Cost})
}

// maker makes a method by name, failing the test where that fails.
func maker(t *testing.T, name string, a algo.Params) func(p, q int) dsbo.Algorithm {
	return func(p, q int) dsbo.Algorithm {
		t.Helper()
		m, err := algo.New(name, p, q, a)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}
