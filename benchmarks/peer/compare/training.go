package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models/nn"
)

// trainingPart is the part of networks that ad alone trains.
const trainingPart = "training"

// A trainedNet is a network that both sides train by Adam on batches of 128.
type trainedNet struct {
	name     string
	examples func() (train, test data.Examples)
	scores   func(ps *nn.Params) func(z, x *ad.Node) *ad.Node // of ten classes
}

func (n trainedNet) label() string { return trainingPart + "-" + n.name }

// trainedNets are 784-256-10 on MNIST, and on drawn examples two convolutions of images like
// CIFAR's and two blocks of a transformer for 32 rows of 64 numbers.
func trainedNets() []trainedNet {
	return []trainedNet{
		{"dense", func() (train, test data.Examples) { return testkit.Get2(data.LoadMNIST("")) }, denseScores},
		{"convolutions", drawn(2048, 32*32*3), convolutionScores},
		{"transformer", drawn(2048, sequence*width), transformerScores},
	}
}

func denseScores(ps *nn.Params) func(z, x *ad.Node) *ad.Node {
	hidden, last := nn.NewDense(ps, "hidden", 784, 256), nn.NewDense(ps, "last", 256, 10)
	return func(z, x *ad.Node) *ad.Node { return last.Outputs(z, ad.ReLU(hidden.Outputs(z, x))) }
}

func convolutionScores(ps *nn.Params) func(z, x *ad.Node) *ad.Node {
	first := nn.NewConv(ps, "first", ad.Window{H: 32, W: 32, C: 3, KH: 3, KW: 3, Stride: 1, PadH: 1, PadW: 1}, 32)
	second := nn.NewConv(ps, "second",
		ad.Window{H: 16, W: 16, C: 32, KH: 3, KW: 3, Stride: 1, PadH: 1, PadW: 1}, 64)
	hidden, last := nn.NewDense(ps, "hidden", 8*8*64, 128), nn.NewDense(ps, "last", 128, 10)
	return func(z, x *ad.Node) *ad.Node {
		h := ad.MaxPool(ad.ReLU(first.Outputs(z, x)), first.Pool(2))
		h = ad.MaxPool(ad.ReLU(second.Outputs(z, h)), second.Pool(2))
		return last.Outputs(z, ad.ReLU(hidden.Outputs(z, h)))
	}
}

// The sequences of the transformer.
const sequence, width = 32, 64

func transformerScores(ps *nn.Params) func(z, x *ad.Node) *ad.Node {
	blocks := []nn.TransformerBlock{nn.NewTransformerBlock(ps, "0", width, 4, 4*width),
		nn.NewTransformerBlock(ps, "1", width, 4, 4*width)}
	last := nn.NewDense(ps, "last", sequence*width, 10)
	return func(z, x *ad.Node) *ad.Node {
		n, _ := ad.Dims(x)
		h := ad.Reshape(x, n*sequence, width)
		for _, b := range blocks {
			h = b.Outputs(z, h, n)
		}
		return last.Outputs(z, ad.Reshape(h, n, sequence*width))
	}
}

// drawn returns rows of some columns and ten classes in turn, the same to train and to test.
func drawn(rows, cols int) func() (train, test data.Examples) {
	return func() (train, test data.Examples) {
		labels := make([]uint8, rows)
		for i := range labels {
			labels[i] = uint8(i % 10)
		}
		train.X = testkit.Get(testkit.Get(ad.FloatTable(rows, cols, numbers(1, rows*cols))).Float32())
		train.Target = testkit.Get(ad.LabelTable(labels, 10))
		return train, train
	}
}

// A training is what a network took: the median of its epochs, and the accuracy after the last one.
type training struct{ Seconds, Accuracy float64 }

// measure trains ours for some epochs, as examples/digits does.
func (n trainedNet) measure(epochs int) (t training) {
	train, test := n.examples()
	ps := &nn.Params{Gain: 2}
	scores := n.scores(ps)
	net := nn.NewTrainer(ps, &nn.Adam{}, 128, 1, func(z, x, t *ad.Node) *ad.Node {
		return ad.Mean(nn.CrossEntropy(scores(z, x), t))
	})
	var times []float64
	for range epochs {
		start := time.Now()
		testkit.Get(net.Epoch(train))
		times = append(times, time.Since(start).Seconds())
	}
	t.Seconds = num.Median(times)
	t.Accuracy = testkit.Get(net.Mean(test, func(z, x, t *ad.Node) *ad.Node { return ad.RowHit(scores(z, x), t) }))
	return t
}

// compareTraining trains on both sides in turn, on one thread each, and prints a table.
func compareTraining(ctx context.Context, o options, r *rival, out io.Writer) {
	o.procs = 1
	table := [][]string{{"five epochs of Adam, f32", "s/epoch", "peer", "ours/peer", "accuracy", "peer"}}
	for _, n := range trainedNets() {
		mine, theirs := inTurn(ctx, o, n.label(), r, func() (t training, err error) {
			err = r.python3(ctx, &t, torchTraining, "--net", n.name, "--mnist", testkit.Get(data.FindMNIST("")))
			return t, err
		})
		for i, m := range mine {
			line := []string{n.name, fmt.Sprintf("%.2f", m.Seconds), "", "", fmt.Sprintf("%.4f", m.Accuracy), ""}
			if len(theirs) > 0 {
				peer := theirs[i]
				line[2], line[3] = fmt.Sprintf("%.2f", peer.Seconds), fmt.Sprintf("%.2f", m.Seconds/peer.Seconds)
				line[5] = fmt.Sprintf("%.4f", peer.Accuracy)
			}
			table = append(table, line)
		}
	}
	testkit.OK(cli.Table(out, table))
}
