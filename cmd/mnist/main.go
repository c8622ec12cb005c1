// Command mnist tunes the regularization of a classifier of handwritten digits: one log-penalty λ for
// each pixel, chosen by the validation loss of all agents, none of which shows its pictures to another.
//
//	go run ./cmd/mnist
//
// -h explains the flags.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"dsbo/cmd/internal/job"
	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/models"
	"dsbo/train"
)

func main() { os.Exit(cli.Main("mnist", run)) }

const intro = `mnist tunes one log-penalty λ per pixel for a classifier of MNIST, decentralized:

  min over λ of the agents' validation loss at ω*(λ), where ω*(λ) minimizes their training loss + Σ e^λ ω²

x of the paper is λ, y is ω. The best model found is refitted, compared with λ = 0 and with the best constant λ,
and written to the run folder with all measurements.`

// options are the flags of this command alone.
type options struct {
	model      string
	train, val int
	partition  data.Partition
	data       string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	s := &job.Settings{}
	j := job.Job{Task: "mnist", Settings: s, Presets: presets(), Load: func() (job.Problem, error) { return load(o, s) }}
	order := []string{"tuned", "paper"}
	f := cli.NewFlags("mnist", intro, job.Explain(j.Presets, order))
	f.StringVar(&o.model, "model", "softmax", "`name` of the model: softmax, mlp, mlp-relu or hyperclean")
	f.IntVar(&o.train, "train", 3750, "training `examples` of each agent, for g_i; 0: half of its share")
	f.IntVar(&o.val, "val", 3750, "validation `examples` of each agent, for f_i; 0: half of its share")
	f.TextVar(&o.partition, "partition", data.Partition{}, "`rule` by which examples are split over agents: iid, dirichlet:0.3 (unlike shares of the labels) or labels:2 (so many labels an agent)")
	f.StringVar(&o.data, "data", "", "`folder` with the four files of MNIST (default: $DSBO_DATA, else that of the GoMNIST module)")
	f.Group("Task", "model", "train", "val", "partition", "data")
	s.Flags(f, order)
	if err := j.Parse(f, args, stdout); err != nil {
		return err
	}
	return j.Run(ctx, stdout, stderr)
}

// load makes the problem: data, split, model.
func load(o options, s *job.Settings) (job.Problem, error) {
	all, test, err := data.LoadMNIST(o.data)
	if err != nil {
		return job.Problem{}, err
	}
	task, err := data.NewTask(all, test, data.Split{Agents: s.Agents, Train: o.train, Val: o.val, Partition: o.partition, Seed: s.Seed})
	if err != nil {
		return job.Problem{}, err
	}
	m, err := models.ByName(o.model, models.Size{Features: task.Features, Classes: task.Classes, Examples: task.TrainRows(), Seed: s.Seed})
	if err != nil {
		return job.Problem{}, err
	}
	p := job.Problem{Omega: []int{}, Rows: task.Shards[0].Train.Len()}
	if p.Problem, err = train.NewProblem(task, m, models.Config{Seed: s.Seed, Batch: s.Batch, Float32: s.DType == "float32"}); err != nil {
		return p, err
	}
	for _, shard := range task.Shards {
		p.Rows = min(p.Rows, shard.Train.Len(), shard.Val.Len())
	}
	_, p.Convex = m.(models.StronglyConvex)
	np, nq := m.Dims()
	p.Lambda, p.Omega = []int{np}, []int{nq}
	if o.model == "softmax" {
		p.Omega = []int{task.Classes, task.Features}
	}
	p.Settings = map[string]any{
		"model": o.model, "partition": o.partition, "test": task.Test.Len(),
		"train": task.Shards[0].Train.Len(), "val": task.Shards[0].Val.Len(),
	}
	p.Describe = fmt.Sprintf("MNIST, %s with %d weights and %d penalties, %d agents with %d training and %d validation examples (%v)",
		o.model, nq, np, s.Agents, task.Shards[0].Train.Len(), task.Shards[0].Val.Len(), o.partition)
	return p, nil
}
