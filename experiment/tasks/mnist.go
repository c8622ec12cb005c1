// Package tasks has the tasks that come with the engine: what each has of flags, presets, data
// and models.
package tasks

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/wording"
	"dsbo/models"
)

// MNIST returns the task that tunes the hyperparameters of a classifier of handwritten digits: a
// penalty per pixel, or what else a model has.
func MNIST() experiment.Task {
	t := &mnist{}
	return experiment.Task{
		Name: "mnist", About: mnistAbout,
		Flags: t.flags, Load: t.load, Check: t.check,
		Presets: slices.Concat(penaltyPresets(), otherPresets()), Preset: t.preset,
		First:    []string{"model", "partition", "train"},
		Describe: t.describe, Finish: t.finish, Ending: t.ending,
	}
}

const mnistAbout = `tune one log-penalty λ per pixel of a classifier of MNIST

  min over λ of the agents' validation loss at ω*(λ), where ω*(λ) minimizes their training loss + Σ e^λ ω²

x of the paper is λ, y is ω. The best model found is compared with those of λ = 0 and of the best constant λ,
and written to the run folder with all measurements. Other models have another x:

  mlp, mlp-relu   penalties of each pixel and each layer of a network
  lenet           penalties of the inputs of each layer of a network with convolutions
  hyperrep        the hidden layers of a network, ω its last one
  distilled       ten pictures, ω a classifier that is trained on these alone
  temperature     a temperature for each digit
  hyperclean      a weight for each training example; with -mislabel, wrong labels are found by it
  hyperclean-mlp  the same, of a network`

// mnist is what the flags of the task choose.
type mnist struct {
	model      string         // name
	hidden     Hidden         // sizes of hidden layers
	train, val int            // examples of an agent
	partition  data.Partition // how examples are dealt
	mislabel   float64        // share of wrong training labels
	data       string         // folder of other files; "": MNIST

	wrong  [][]int     // rows of wrong training labels of each agent
	loaded data.Task   // the data as they were loaded
	size   models.Size // of the model
}

// flags is the task's Flags.
func (t *mnist) flags(f *flag.FlagSet) {
	f.StringVar(&t.model, "model", "softmax", "`name` of the model: "+strings.Join(mnistModels(), ", "))
	t.hidden = DefaultHidden
	f.Var(&t.hidden, "hidden",
		"`units` of the hidden layers of mlp, mlp-relu, hyperrep and hyperclean-mlp, such as 256,128")
	f.IntVar(&t.train, "train", 100, "training `examples` of each agent, for g_i; 0: half of its share")
	f.IntVar(&t.val, "val", 3750, "validation `examples` of each agent, for f_i; 0: half of its share")
	f.TextVar(&t.partition, "partition", data.Partition{},
		"`rule` by which examples are split over agents: iid, dirichlet:0.3 (unlike shares of the labels) or "+
			"labels:2 (2 labels an agent)")
	f.Float64Var(&t.mislabel, "mislabel", 0, "`share` of the training labels that are made wrong, each another digit")
	f.StringVar(&t.data, "data", "",
		"`folder` with the four files of MNIST (default: $DSBO_DATA, else that of the GoMNIST module)")
}

// distilled is the name of the model whose pictures start at the means of the classes.
const distilled = "distilled"

// layered names the models with hidden layers that -hidden chooses.
var layered = []string{"mlp", "mlp-relu", "hyperrep", "hyperclean-mlp"}

// mnistModels are the models for ten classes.
func mnistModels() []string { return models.NamesFor(10) }

// check is the task's Check. The bounds of -mislabel are such that NaN fails them.
func (t *mnist) check() error {
	switch {
	case !slices.Contains(mnistModels(), t.model):
		return dsbo.ConfigErrorf("-model must be one of %s; it is %s",
			strings.Join(mnistModels(), ", "), t.model)
	case t.train < 0:
		return dsbo.ConfigErrorf("-train must be at least 1, or 0 for half of an agent's share; it is %d",
			t.train)
	case t.val < 0:
		return dsbo.ConfigErrorf("-val must be at least 1, or 0 for half of an agent's share; it is %d",
			t.val)
	case !(t.mislabel >= 0 && t.mislabel < 1):
		return dsbo.ConfigErrorf("-mislabel must be at least 0 and below 1; it is %v", t.mislabel)
	}
	return t.hidden.Check(t.model, layered...)
}

// load splits the images over all agents, reads the shares of the agents in this process, and makes
// the model. The pictures of distilled start at the mean training image of each class over all
// agents, so for it load reads all images, and drops the shares of agents in other processes
// afterwards.
func (t *mnist) load(a experiment.Agents) (task data.Task, m models.Model, err error) {
	split := data.Split{Agents: a.N, Train: t.train, Val: t.val, Partition: t.partition, Seed: a.Seed}
	here := a.Local
	if t.model == distilled { // nil: the images of all agents
		here = nil
	}
	if task, err = data.ShareMNIST(t.data, split, here...); err == nil {
		err = t.mislabelTask(&task, a.Seed)
	}
	if err != nil {
		return task, nil, err
	}
	t.size = models.Size{Features: task.Features, Classes: task.Classes, Examples: task.TrainRows(), Seed: a.Seed}
	t.size.Hidden, _ = t.hidden.Units() // check has returned the error already
	if t.model == distilled {
		t.size.Means = task.ClassMeans()
		task = task.OfAgents(a.Local)
	}
	t.loaded = task
	m, err = models.ByName(t.model, t.size)
	return task, m, err
}

// describe is the task's Describe.
func (t *mnist) describe(task data.Task, m models.Model) (map[string]any, string) {
	// all agents have equally many examples, but agents in other processes have none here
	one := task.Shards[slices.IndexFunc(task.Shards, func(s data.Shard) bool { return s.Train.Len() > 0 })]
	train, val := one.Train.Len(), one.Val.Len()
	p, q := m.Dims()
	settings := map[string]any{"model": t.model, "partition": t.partition, "test": task.AllTestRows,
		"train": train, "val": val}
	if slices.Contains(layered, t.model) {
		settings["hidden"] = t.hidden.Text
	}
	if t.mislabel > 0 {
		settings["mislabel"] = t.mislabel
	}
	return settings, fmt.Sprintf("MNIST, %s with %s and %s, %s with %d training and %s (%v)",
		t.model, wording.Count(q, "weight"), hyperparameterText(m, p), wording.Count(len(task.Shards), "agent"), train,
		wording.Count(val, "validation example"), t.partition)
}

// hyperparameterText describes the p hyperparameters of a model.
func hyperparameterText(m models.Model, p int) string {
	of, ok := m.(models.Meant)
	switch {
	case ok && p == 1:
		return "1 " + of.Meaning().One
	case ok:
		return fmt.Sprintf("%d %s", p, of.Meaning().Many)
	}
	return wording.Count(p, "penalty")
}
