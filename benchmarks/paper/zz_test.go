package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dsbo/ad"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

func TestProto(t *testing.T) {
	n, p, q := 5, 5, 8
	r := rand.New(rand.NewPCG(1, 1))
	var ms []models.Quadratic
	_ = ms
	prob := train.Problem{}
	for i := range n {
		m := models.Quadratic{P: p, Q: q, A: make([]float64, q*q), B: make([]float64, q*p), C: make([]float64, q), D: make([]float64, q*q), T: make([]float64, q), E: make([]float64, p*p), LinearTerm: make([]float64, p)}
		for j := range q {
			m.A[j*q+j] = 1 + 2*r.Float64()
			m.D[j*q+j] = 1
			m.C[j] = r.NormFloat64()
			m.T[j] = r.NormFloat64()
		}
		for j := range m.B {
			m.B[j] = r.NormFloat64()
		}
		for j := range p {
			m.E[j*p+j] = .1
			m.LinearTerm[j] = r.NormFloat64()
		}
		tab := func() data.Examples {
			v := make([]float64, 200*q)
			for j := range v {
				v[j] = r.NormFloat64()
			}
			x, _ := ad.FloatTable(200, q, v)
			tt, _ := ad.FloatTable(200, 1, make([]float64, 200))
			return data.Examples{X: x, Target: tt}
		}
		o, err := models.NewOracle(m, data.Shard{Train: tab(), Val: tab()}, models.Config{Agent: i, Seed: 1, Batch: 1})
		if err != nil {
			t.Fatal(err)
		}
		prob.Oracles = append(prob.Oracles, o)
		prob.Evaluate = append(prob.Evaluate, o)
	}
	g, _ := network.Ring(n, .5)
	for _, K := range []int{100, 1000, 10000} {
		start := time.Now()
		res, err := train.Run(context.Background(), train.Config{Problem: prob, W: g.W, Method: "madsbo", K: K, EvalEvery: K / 50, Tol: 1e-10, AdjointTol: 1e-10,
			Params: algo.Params{Alpha: algo.Constant(.1), Beta: algo.Constant(.1), Gamma: algo.Constant(.25), T: 1, N: 30}})
		fmt.Println(K, time.Since(start), err, res.Seconds, res.Last().GradNorm, res.Last().ConsensusX)
		u := res.Usage[0]
		fmt.Println(u.OracleSeconds, u.MixSeconds, u.AlgebraSeconds())
	}
}
