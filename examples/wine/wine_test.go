package main

import (
	"testing"

	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/models/modeltest"
)

func init() { algo.Register("oneloop", func() algo.Method { return new(oneLoop) }) } // as main does

func TestMethod(t *testing.T) {
	algotest.TestMethod(t, func() algo.Method { return &oneLoop{Alpha: 0.05} })
}

func TestModel(t *testing.T) {
	task, model, err := (&cellars{"data"}).Load(experiment.Agents{N: 3, Here: []int{1}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	modeltest.TestModel(t, model, task.Shards[1])
}

func TestTask(t *testing.T) { experimenttest.TestTask(t, &cellars{}, "-data=data") }
