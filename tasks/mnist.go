// Package tasks has the tasks that come with the engine: what each has of flags, presets, data and models.
package tasks

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
)

// MNIST returns the task that tunes a penalty per pixel for a classifier of handwritten digits.
func MNIST() experiment.Task { return &mnist{} }

// mnist is what the flags of the task choose.
type mnist struct {
	model      string
	train, val int
	partition  data.Partition
	data       string
}

func (*mnist) Name() string { return "mnist" }

func (*mnist) About() string {
	return `tune one log-penalty λ per pixel of a classifier of MNIST

  min over λ of the agents' validation loss at ω*(λ), where ω*(λ) minimizes their training loss + Σ e^λ ω²

x of the paper is λ, y is ω. The best model found is compared with those of λ = 0 and of the best constant λ,
and written to the run folder with all measurements.`
}

func (t *mnist) Flags(f *flag.FlagSet) {
	f.StringVar(&t.model, "model", "softmax", "`name` of the model: "+strings.Join(mnistModels(), ", "))
	f.IntVar(&t.train, "train", 3750, "training `examples` of each agent, for g_i; 0: half of its share")
	f.IntVar(&t.val, "val", 3750, "validation `examples` of each agent, for f_i; 0: half of its share")
	f.TextVar(&t.partition, "partition", data.Partition{}, "`rule` by which examples are split over agents: iid, dirichlet:0.3 (unlike shares of the labels) or labels:2 (so many labels an agent)")
	f.StringVar(&t.data, "data", "", "`folder` with the four files of MNIST (default: $DSBO_DATA, else that of the GoMNIST module)")
}

// mnistModels are the models for ten classes.
func mnistModels() []string { return models.NamesFor(10) }

// Check implements [experiment.Checker].
func (t *mnist) Check() error {
	switch {
	case !slices.Contains(mnistModels(), t.model):
		return dsbo.Errorf(dsbo.ErrConfig, "-model must be one of %s; it is %s", strings.Join(mnistModels(), ", "), t.model)
	case t.train < 0:
		return dsbo.Errorf(dsbo.ErrConfig, "-train must be at least 1, or 0 for half of an agent's share; it is %d", t.train)
	case t.val < 0:
		return dsbo.Errorf(dsbo.ErrConfig, "-val must be at least 1, or 0 for half of an agent's share; it is %d", t.val)
	}
	return nil
}

// Experience implements [experiment.Experienced]: that of softmax on 8 agents. Of few examples the best constant is far from 0, and
// solutions take more.
func (t *mnist) Experience() experiment.Experience {
	if t.train > 0 && t.train < 1000 {
		return experiment.Experience{Experience: algo.Experience{Constants: 3, Beyond: 0.13}, RecordProducts: 155, Models: 6, ModelProducts: 58}
	}
	return experiment.Experience{Experience: algo.Experience{Constants: 3, Beyond: 0.35}, RecordProducts: 70, Models: 3, ModelProducts: 65}
}

// Load reads the images, deals them to all agents, whichever of them are here, and makes the model.
func (t *mnist) Load(a experiment.Agents) (task data.Task, m models.Model, err error) {
	all, test, err := data.LoadMNIST(t.data)
	if err != nil {
		return task, nil, err
	}
	task, err = data.NewTask(all, test, data.Split{Agents: a.N, Train: t.train, Val: t.val, Partition: t.partition, Seed: a.Seed})
	if err != nil {
		return task, nil, err
	}
	m, err = models.ByName(t.model, models.Size{Features: task.Features, Classes: task.Classes, Examples: task.TrainRows(), Seed: a.Seed})
	return task, m, err
}

// Describe implements [experiment.Describer].
func (t *mnist) Describe(task data.Task, m models.Model) (map[string]any, string) {
	train, val := task.Shards[0].Train.Len(), task.Shards[0].Val.Len()
	p, q := m.Dims()
	return map[string]any{"model": t.model, "partition": t.partition, "test": task.Test.Len(), "train": train, "val": val},
		fmt.Sprintf("MNIST, %s with %d weights and %d penalties, %d agents with %d training and %d validation examples (%v)",
			t.model, q, p, len(task.Shards), train, val, t.partition)
}
