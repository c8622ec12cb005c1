package main

import (
	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train"
)

// agents is how many take part, liars included.
const agents = 8

// A problem is a bilevel problem of 8 agents, and a method with settings that suit it.
type problem struct {
	name, about string
	method      algo.Method
	iterations  int
	start       float64 // of every entry of x
	load        func() oracles
}

// oracles are the oracles of a problem's agents.
type oracles struct {
	steps []dsbo.Oracle      // what the method asks
	exact []dsbo.ValueOracle // what evaluation asks
}

func problems() []problem {
	return []problem{
		{"quadratic", "quadratics with p = 6, q = 20, each agent's own by a tenth",
			&algo.MADSBO{Alpha: "0.1", Beta: "0.1", Gamma: "0.05", T: 5, N: 20},
			400, 0, func() oracles { return quadratics(0.1) }},
		{"unlike", "quadratics with p = 6, q = 20, each agent's wholly its own",
			&algo.MADSBO{Alpha: "0.1", Beta: "0.1", Gamma: "0.05", T: 5, N: 20},
			400, 0, func() oracles { return quadratics(1) }},
		{"trackers",
			"the first quadratics by a method that carries trackers over iterations, which runs refuse with " +
				"robust mixing",
			&algo.Tuned{Alpha: "0.1", Beta: "0.1", Gamma: "0.05", T: 5, N: 20, WarmZ: true, TrackY: true}, 400, 0,
			func() oracles { return quadratics(0.1) }},
		{"synthetic", "logistic regression with p = q = 20, features of agent i of size 0.2 i",
			&algo.MADSBO{Alpha: "1", Beta: "0.1", Gamma: "0.1", T: 5, N: 10},
			300, -3, logistic},
		{"mnist", "MNIST with a penalty per pixel, 250 training and 250 validation examples an agent",
			&algo.MADSBO{Alpha: "1", Beta: "0.3", Gamma: "0.2", T: 5, N: 5}, 20, 0, mnist},
	}
}

// quadratics are random problems, a share of which is the agent's own and the rest common to all.
func quadratics(own float64) (o oracles) {
	drawn := algotest.NewQuadratics(agents+1, 6, 20, 3)
	common := drawn[agents]
	for _, q := range drawn[:agents] {
		for _, a := range [][2][]float64{{q.A, common.A}, {q.B, common.B}, {q.C, common.C}, {q.D, common.D},
			{q.T, common.T}, {q.E, common.E}} {
			linalg.Comb(a[0], own, a[0], 1-own, a[1])
		}
		linalg.Fill(q.LinearTerm, 0) // so that f is not negative
		o.steps, o.exact = append(o.steps, q), append(o.exact, q)
	}
	return o
}

func logistic() oracles {
	task := testkit.Get(data.Synthetic{Agents: agents, Features: 20, Train: 200, Val: 200, Rate: 0.2, Seed: 1}.Task())
	return ofModel(task, models.Logistic{Features: 20, Mean: true})
}

func mnist() oracles {
	all, test := testkit.Get2(data.LoadMNIST(""))
	task := testkit.Get(data.NewTask(all, test, data.Split{Agents: agents, Train: 250, Val: 250, Seed: 1}))
	return ofModel(task, testkit.Get(
		models.ByName("softmax", models.Size{Features: task.Features, Classes: task.Classes, Seed: 1})))
}

func ofModel(task data.Task, m models.Model) oracles {
	p := testkit.Get(train.NewProblem(task, m, models.Config{Seed: 1, Float32: true}))
	return oracles{p.Oracles, p.Evaluate}
}
