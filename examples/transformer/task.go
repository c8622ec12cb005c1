package main

import (
	"flag"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/models"
)

// newTask returns the task of MNIST with the models body and sources, and with bad sources.
func newTask() experiment.Task {
	t := tasks.MNIST()
	flags, load := t.Flags, t.Load
	var own *flag.FlagSet
	var bad, agents int
	models.Register("body", true, func(s models.Size) models.Model { return newBody(s.Classes, s.Seed) })
	models.Register("sources", true, func(s models.Size) models.Model {
		return newSources(s.Classes, agents, s.Examples, s.Seed)
	})
	t.Name, t.About = "transformer", "tune the body of a transformer, or the weights of sources of its examples"
	t.First = []string{"model", "train", "bad"}
	t.Flags = func(f *flag.FlagSet) {
		flags(f)
		own = f
		model := f.Lookup("model")
		model.DefValue = "body"
		model.Value.Set(model.DefValue)
		f.IntVar(&bad, "bad", 0, "number of `agents`, the first ones, whose training labels are all wrong")
	}
	t.Presets = presets
	t.Preset = func() string { return own.Lookup("model").Value.String() }
	t.Load = func(a experiment.Agents) (data.Task, models.Model, error) {
		if bad < 0 || bad > a.N {
			return data.Task{}, nil, dsbo.ConfigErrorf("-bad must be from 0 to the %d agents; it is %d", a.N, bad)
		}
		agents = a.N
		task, m, err := load(a)
		for i := 0; i < bad && err == nil; i++ {
			if s := &task.Shards[i]; s.Train.Len() > 0 { // else it is another process's
				s.Train, _, err = data.Mislabel(s.Train, 1, a.Seed, i)
			}
		}
		return task, m, err
	}
	return t
}

// presets are the settings of the two models, by small draws.
var presets = []experiment.Preset{
	{Name: "body", Models: []string{"body"}, Flags: map[string]string{"train": "0"},
		Wire: "float32", K: 400, EvalEvery: 100, Batch: 64,
		Method: &algo.AdamCG{T: 4, N: 4, Ly: "0.02*(1-k/K)", Lr: "0.003*(1-k/K)"}},
	// By Hessians, which have negative eigenvalues at the start, z grows beyond all bounds.
	{Name: "sources", Models: []string{"sources"}, Flags: map[string]string{"train": "0"},
		Wire: "float32", K: 40, EvalEvery: 10, Batch: 32, Matrix: dsbo.GaussNewton,
		Method: &algo.AdamCG{T: 10, N: 4, Ly: "0.003*(1-k/K)", Lr: "0.3*(1-k/K)", Mu: 0.02, Wait: 4}},
}
