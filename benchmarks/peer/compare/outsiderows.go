package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models/nn"
)

// The parts of the outside models, and of the training of a network by ad alone.
const (
	outsidePart  = "outside"
	trainingPart = "training"
)

// An outsideRow is an outside model at the sizes at which times are compared.
type outsideRow struct {
	name string
	n, d int
	kind dtype
}

func (o outsideRow) label() string {
	return fmt.Sprintf("%s-%s-%s", outsidePart, strings.ReplaceAll(o.name, " ", "-"), o.kind)
}

func outsideRows() (rows []outsideRow) {
	for _, m := range outsideModels {
		for _, kind := range []dtype{f32, f64} {
			rows = append(rows, outsideRow{m.name, m.n, m.d, kind})
		}
	}
	return rows
}

// measure measures ours, each for a number of seconds, at points that are new.
func (o outsideRow) measure(seconds float64) (t deepTimes) {
	m := newOutside(o.name, o.n, o.d)
	f := m.differentiate(o.kind == f32)
	y, v, dst := mapped(numbers(101, m.q), func(_ int, v float64) float64 { return .8 * v }), numbers(102, m.q),
		make([]float64, m.q)
	elsewhere := func() { y[0] += 1e-3 }
	t.Gradient = medianTime(seconds, elsewhere, func() { testkit.OK(f.Grad(nil, dst, nil, y)) })
	t.Cold = medianTime(seconds, elsewhere, func() { testkit.OK(f.HVP(dst, nil, y, v)) })
	return t
}

// compareOutside runs all rows on both sides in turn, on one thread each, and prints a table.
func compareOutside(ctx context.Context, o options, r *rival, out io.Writer) {
	o.procs = 1
	table := [][]string{{"", "gradient, ms", "peer", "ours/peer", "HVP, ms", "peer", "ours/peer"}}
	for _, row := range outsideRows() {
		columns := map[string][]float64{}
		for range o.rounds {
			mine := child[deepTimes](ctx, row.label(), o)
			columns["g"], columns["h"] = append(columns["g"], mine.Gradient), append(columns["h"], mine.Cold)
			if r == nil {
				continue
			}
			var theirs deepTimes
			testkit.OK(r.python3(ctx, &theirs, torchOutside, "--time", row.name, "--n", fmt.Sprint(row.n), "--d",
				fmt.Sprint(row.d), "--dtype", string(row.kind), "--seconds", ".5"))
			columns["G"], columns["H"] = append(columns["G"], theirs.Gradient), append(columns["H"], theirs.Cold)
			columns["g/G"] = append(columns["g/G"], mine.Gradient/theirs.Gradient)
			columns["h/H"] = append(columns["h/H"], mine.Cold/theirs.Cold)
		}
		line := []string{fmt.Sprintf("%s, %s", row.name, row.kind)}
		for _, c := range []string{"g", "G", "g/G", "h", "H", "h/H"} {
			text := ""
			if len(columns[c]) > 0 {
				text = fmt.Sprintf("%.2f", num.Median(columns[c]))
			}
			line = append(line, text)
		}
		table = append(table, line)
	}
	testkit.OK(cli.Table(out, table))
}

// A training is what a network of 784, 256 and 10 units took on MNIST: the median of its epochs,
// and the accuracy after the last one.
type training struct{ Seconds, Accuracy float64 }

// measureTraining trains ours for some epochs, as examples/digits does.
func measureTraining(epochs int) (t training) {
	train, test := testkit.Get2(data.LoadMNIST(""))
	ps := &nn.Params{Gain: 2}
	hidden, last := nn.NewDense(ps, "hidden", 784, 256), nn.NewDense(ps, "last", 256, 10)
	scores := func(z, x *ad.Node) *ad.Node { return last.Outputs(z, ad.ReLU(hidden.Outputs(z, x))) }
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
	table := [][]string{{"784-256-10, Adam, batches of 128", "s/epoch", "peer", "ours/peer", "accuracy", "peer"}}
	for range o.rounds {
		mine := child[training](ctx, trainingPart, o)
		line := []string{"five epochs, f32", fmt.Sprintf("%.2f", mine.Seconds), "", "",
			fmt.Sprintf("%.4f", mine.Accuracy), ""}
		if r != nil {
			var theirs training
			testkit.OK(r.python3(ctx, &theirs, torchTraining, "--mnist", testkit.Get(data.FindMNIST(""))))
			line[2], line[3] = fmt.Sprintf("%.2f", theirs.Seconds), fmt.Sprintf("%.2f", mine.Seconds/theirs.Seconds)
			line[5] = fmt.Sprintf("%.4f", theirs.Accuracy)
		}
		table = append(table, line)
	}
	testkit.OK(cli.Table(out, table))
}
