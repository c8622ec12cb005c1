package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dsbo/algo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// What all tasks have in common, and the peer's defaults: n agents on a ring with weight w, T
// and N.
const (
	agents = 8
	weight = 0.5
	loops  = 10
	seed   = 1
)

// A task is one comparison.
type task struct {
	name     string      // of the row
	method   algo.Method // ours
	features int         // of the synthetic task; 0: MNIST
	// on MNIST, as the peer's program has it: sizes of dense layers, or lenet; empty:
	// softmax regression
	network string
	batch   int     // 0: all examples
	ours    dtype   // type of our numbers
	theirs  dtype   // type of the peer's numbers
	k       int     // iterations
	most    float64 // ours/peer, time
}

// A dtype is the type in which the losses are computed.
type dtype string

const (
	f32 dtype = "f32"
	f64 dtype = "f64"
)

// mnistMemory is the most that ours/peer is meant to be in memory on MNIST.
const mnistMemory = "0.3"

func tasks() []task {
	mnist := &algo.MADSBO{Alpha: "0.5", Beta: "0.3", Gamma: "0.2", T: loops, N: loops}
	wide := &algo.MADSBO{Alpha: "0.3", Beta: "2e-4", Gamma: "2e-4", T: loops, N: loops}
	dense := &algo.MADSBO{Alpha: "0.1", Beta: "2e-4", Gamma: "1e-4", T: loops, N: loops}
	jhip := &algo.JHIP{Alpha: "0.1", Beta: "2e-4", Gamma: "1e-4", T: loops, N: loops}
	deep := &algo.MADSBO{Alpha: "0.1", Beta: "0.1", Gamma: "0.01", T: loops, N: loops}
	gbdsbo := &algo.GBDSBO{Alpha: "0.1", Beta: "2e-4", Mav: .5, L: "20000", N: loops}
	return []task{
		{name: "mnist-f32", method: mnist, batch: 1000, ours: f32, theirs: f32, k: 10, most: .25},
		{name: "mnist-f64", method: mnist, batch: 1000, ours: f64, theirs: f64, k: 6, most: .3},
		{name: "p200", method: wide, features: 200, ours: f64, theirs: f32, k: 60, most: .2},
		{name: "p100", method: dense, features: 100, ours: f64, theirs: f32, k: 60, most: .15},
		{name: "p100-jhip", method: jhip, features: 100, ours: f64, theirs: f32, k: 25, most: .2},
		{name: "p100-jhip-batch", method: jhip, features: 100, batch: 200, ours: f64, theirs: f32, k: 25, most: .2},
		{name: "p100-gbdsbo", method: gbdsbo, features: 100, ours: f64, theirs: f32, k: 25, most: .2},
		{name: "p100-gbdsbo-batch", method: gbdsbo, features: 100, batch: 200, ours: f64, theirs: f32, k: 25, most: .2},
		{name: "run-784-256-128-10", method: deep, network: "784-256-128-10", batch: 256, ours: f32, theirs: f32,
			k: 4, most: .6},
		{name: "run-784-1024-1024-10", method: deep, network: "784-1024-1024-10", batch: 256, ours: f32, theirs: f32,
			k: 2, most: .6},
		{name: "run-lenet", method: deep, network: "lenet", batch: 256, ours: f32, theirs: f32, k: 2, most: .6},
	}
}

// title describes a task in a table.
func (t task) title() string {
	what, batch := "MNIST", "full batch"
	switch {
	case !t.mnist():
		what = fmt.Sprintf("synthetic p=%d", t.features)
	case t.network != "":
		what += " " + t.network
	}
	if t.batch > 0 {
		batch = fmt.Sprintf("batch %d", t.batch)
	}
	return fmt.Sprintf("%s, %s, %s, %s against %s", what, batch, algo.NameOf(t.method), t.ours, t.theirs)
}

func (t task) mnist() bool { return t.features == 0 }

// problem loads or makes the task's data for n agents.
func (t task) problem(n int) (models.Model, data.Task) {
	if !t.mnist() {
		return models.Logistic{Features: t.features},
			testkit.Get(data.Synthetic{Agents: n, Features: t.features, Seed: seed}.Task())
	}
	train, test := testkit.Get2(data.LoadMNIST(""))
	d := testkit.Get(data.NewTask(train, test, data.Split{Agents: n, Seed: seed}))
	if t.network != "" {
		return networkOf(t.network), d
	}
	return models.Softmax{Features: d.Features, Classes: d.Classes}, d
}

// networkOf returns the model of the peer's network of that name: units are ReLU, and each layer
// has a log-penalty.
func networkOf(name string) models.Model {
	if name == "lenet" {
		return models.LeNet{Side: 28, Classes: 10, Seed: seed, PerLayer: true}
	}
	sizes := sizesOf(name)
	last := len(sizes) - 1
	return models.MLP{Features: sizes[0], Outputs: sizes[last], Hidden: sizes[1:last], ReLU: true,
		Penalties: models.PerLayer{}, Seed: seed}
}

// sizesOf returns the sizes of a name such as 784-256-128-10.
func sizesOf(name string) (sizes []int) {
	for size := range strings.SplitSeq(name, "-") {
		sizes = append(sizes, testkit.Get(strconv.Atoi(size)))
	}
	return sizes
}

// flags are the peer's arguments for a task.
func (t task) flags() []string {
	s := func(v any) string { return fmt.Sprint(v) }
	f := []string{
		"--algo", algo.NameOf(t.method), "--n", s(agents), "--w", s(weight), "--T", s(loops), "--N", s(loops), "--K",
		s(t.k), "--seed", s(seed),
		"--batch", s(t.batch), "--dtype", string(t.theirs), "--eval-every", s(t.k),
	}
	f = append(f, t.methodFlags()...)
	if t.mnist() {
		return append(f, "--task", "mnist", "--network", t.network)
	}
	return append(f, "--task", "synthetic", "--p", s(t.features))
}

// methodFlags are the flags of the method's own parameters.
func (t task) methodFlags() []string {
	names := map[string]string{"alpha": "--alpha", "beta": "--beta", "gamma": "--gamma", "mav": "--mav", "lg": "--Lg"}
	var values map[string]json.RawMessage
	testkit.OK(json.Unmarshal(testkit.Get(json.Marshal(t.method)), &values))
	var f []string
	for _, name := range algo.Parameters(t.method) {
		if names[name] != "" && values[name] != nil {
			f = append(f, names[name], string(values[name]))
		}
	}
	return f
}

// taskTable is the comparison of whole iterations.
func taskTable() table {
	t := table{columns: []column{
		{name: "ms", header: "ms/iteration", format: "%.2f", ratio: "%.3f", most: true},
		{name: "MiB", header: "MiB", format: "%.0f", ratio: "%.2f", most: true},
		{name: "floats", header: "floats sent", format: "%.0f"}, {name: "loss", header: "test loss", format: "%.4f"}}}
	for _, c := range tasks() {
		most := map[string]string{"ms": fmt.Sprint(c.most)}
		if c.mnist() && c.network == "" {
			most["MiB"] = mnistMemory
		}
		t.rows = append(t.rows, row{part: c.name, title: c.title(), most: most, program: torchProgram,
			args: c.flags(), mpi: true, mnist: c.mnist(),
			ours: func(ctx context.Context) result { return ours(ctx, c) }})
	}
	return t
}

// parts lists everything that -only can choose.
func parts() (names []string) {
	for _, t := range tables() {
		for _, w := range t.rows {
			if !slices.Contains(names, w.part) {
				names = append(names, w.part)
			}
		}
	}
	return names
}
