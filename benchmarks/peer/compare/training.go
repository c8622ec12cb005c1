package main

import (
	"context"
	"time"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models/nn"
	"dsbo/runs"
)

// A trainedNet is a network that both sides train by Adam on batches of 128.
type trainedNet struct {
	name, network string // of the peer's program, and of newDeep
	drawn         bool   // its examples are drawn, the same to train and to test; else they are MNIST
}

// trainingTable is the comparison of networks in training, on one thread: 784-256-10 on MNIST, and
// on drawn examples two convolutions of images like CIFAR's and two blocks of a transformer.
func trainingTable() table {
	t := table{header: "five epochs of Adam, f32", oneThread: true, eachRound: true, columns: []column{
		{name: "Seconds", header: "s/epoch", format: "%.2f", ratio: "%.2f"},
		{name: "Accuracy", header: "accuracy", format: "%.4f"}}}
	for _, n := range []trainedNet{{"dense", "784-256-10", false}, {"convolutions", "convolutions", true},
		{"transformer", "blocks", true}} {
		t.rows = append(t.rows, row{part: "training", title: n.name, program: torchTraining, mnist: true,
			args: []string{"--net", n.name}, ours: func(context.Context) result { return n.measure(5) }})
	}
	return t
}

// drawn returns rows of some columns and ten classes in turn.
func drawn(rows, cols int) (e data.Examples) {
	labels := make([]uint8, rows)
	for i := range labels {
		labels[i] = uint8(i % 10)
	}
	e.X = testkit.Get(testkit.Get(ad.FloatTable(rows, cols, numbers(1, rows*cols))).Float32())
	e.Target = testkit.Get(ad.LabelTable(labels, 10))
	return e
}

// measure trains ours for some epochs, as examples/digits does: the median of the seconds of an
// epoch, and the accuracy after the last one.
func (n trainedNet) measure(epochs int) result {
	m := newDeep(n.network)
	train := drawn(2048, m.inputs)
	test := train
	if !n.drawn {
		train, test = testkit.Get2(data.LoadMNIST(""))
	}
	net := nn.NewTrainer(&m.params, &nn.Adam{}, 128, 1, func(z, x, t node) node {
		return ad.Mean(nn.CrossEntropy(m.scores(z, x), t))
	})
	var times []float64
	for range epochs {
		start := time.Now()
		testkit.Get(net.Epoch(train))
		times = append(times, time.Since(start).Seconds())
	}
	hit := func(z, x, t node) node { return ad.RowHit(m.scores(z, x), t) }
	return result{"Seconds": runs.Number(num.Median(times)), "Accuracy": runs.Number(testkit.Get(net.Mean(test, hit)))}
}
