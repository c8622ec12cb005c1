package tasks

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

const mnistIntro = `mnist tunes one log-penalty λ per pixel for a classifier of MNIST, decentralized:

  min over λ of the agents' validation loss at ω*(λ), where ω*(λ) minimizes their training loss + Σ e^λ ω²

x of the paper is λ, y is ω. The best model found is refitted, compared with λ = 0 and with the best constant λ,
and written to the run folder with all measurements.`

// mnist is the settings of this task alone.
type mnist struct {
	*experiment.Settings
	model      string
	train, val int
	partition  data.Partition
	data       string
}

// MNIST makes the job of a command line of cmd/mnist. Errors are as those of [Parse].
func MNIST(args []string, help io.Writer) (*experiment.Job, error) {
	t := &mnist{Settings: &experiment.Settings{}}
	j := &experiment.Job{Task: "mnist", Settings: t.Settings, Presets: mnistPresets(), Load: t.load}
	order := []string{"tuned", "paper"}
	f := cli.NewFlags("mnist", mnistIntro, experiment.Explain(j.Presets, order))
	f.StringVar(&t.model, "model", "softmax", "`name` of the model: "+strings.Join(mnistModels(), ", "))
	f.IntVar(&t.train, "train", 3750, "training `examples` of each agent, for g_i; 0: half of its share")
	f.IntVar(&t.val, "val", 3750, "validation `examples` of each agent, for f_i; 0: half of its share")
	f.TextVar(&t.partition, "partition", data.Partition{}, "`rule` by which examples are split over agents: iid, dirichlet:0.3 (unlike shares of the labels) or labels:2 (so many labels an agent)")
	f.StringVar(&t.data, "data", "", "`folder` with the four files of MNIST (default: $DSBO_DATA, else that of the GoMNIST module)")
	f.Group("Task", "model", "train", "val", "partition", "data")
	t.Flags(f, order)
	if err := j.Parse(f, args, help); err != nil {
		return nil, err
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	return j, nil
}

// mnistModels are the models for ten classes.
func mnistModels() []string { return models.NamesFor(10) }

// validate reports the first flag of the task that cannot work whatever the data.
func (t *mnist) validate() error {
	switch {
	case !slices.Contains(mnistModels(), t.model):
		return bad("-model %s: want one of %s", t.model, strings.Join(mnistModels(), ", "))
	case t.train < 0:
		return bad("-train %d: want at least 1, or 0 for half of an agent's share", t.train)
	case t.val < 0:
		return bad("-val %d: want at least 1, or 0 for half of an agent's share", t.val)
	}
	return nil
}

// load makes the problem: data, split, model.
func (t *mnist) load(team network.Team) (experiment.Problem, error) {
	all, test, err := data.LoadMNIST(t.data)
	if err != nil {
		return experiment.Problem{}, err
	}
	task, err := data.NewTask(all, test, data.Split{Agents: t.Agents, Train: t.train, Val: t.val, Partition: t.partition, Seed: t.Seed})
	if err != nil {
		return experiment.Problem{}, err
	}
	m, err := models.ByName(t.model, models.Size{Features: task.Features, Classes: task.Classes, Examples: task.TrainRows(), Seed: t.Seed})
	if err != nil {
		return experiment.Problem{}, err
	}
	p := experiment.Problem{Omega: []int{}, Rows: task.Shards[0].Train.Len()}
	if p.Problem, err = train.NewPart(team, task, m, models.Config{Seed: t.Seed, Batch: t.Batch, Float32: t.DType == "float32"}); err != nil {
		return p, err
	}
	for _, shard := range task.Shards {
		p.Rows = min(p.Rows, shard.Train.Len(), shard.Val.Len())
	}
	_, p.Convex = m.(models.StronglyConvex)
	np, nq := m.Dims()
	p.Lambda, p.Omega = []int{np}, []int{nq}
	if matrix, ok := m.(models.Shaper); ok {
		rows, cols := matrix.Shape()
		p.Omega = []int{rows, cols}
	}
	p.Settings = map[string]any{
		"model": t.model, "partition": t.partition, "test": task.Test.Len(),
		"train": task.Shards[0].Train.Len(), "val": task.Shards[0].Val.Len(),
	}
	p.Describe = fmt.Sprintf("MNIST, %s with %d weights and %d penalties, %d agents with %d training and %d validation examples (%v)",
		t.model, nq, np, t.Agents, task.Shards[0].Train.Len(), task.Shards[0].Val.Len(), t.partition)
	return p, nil
}
