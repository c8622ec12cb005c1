package tasks

import (
	"flag"
	"fmt"
	"math"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/wording"
	"dsbo/models"
)

// Synthetic returns the paper's synthetic task: a penalty per feature of a logistic regression
// whose data differ between agents.
func Synthetic() experiment.Task {
	t := &synthetic{}
	return experiment.Task{
		Name: "synthetic", About: syntheticAbout,
		Flags: t.flags, Load: t.load, Presets: syntheticPresets(), Check: t.check, Describe: t.describe,
		First: []string{"p", "r", "train"},
	}
}

const syntheticAbout = `tune one log-penalty λ per feature of a logistic regression on synthetic data

  min over λ of Σ_i f_i,  f_i = Σ_e log(1 + exp(-t_e a_e'ω*(λ))) on agent i's validation examples,
  where ω*(λ) minimizes the sum of the same on all training examples + ½ Σ_j e^λ_j ω_j²

x of the paper is λ, y is ω. Agent i draws its features from N(0, i²r²): r is the rate of heterogeneity.`

// synthetic is what the flags of the task choose.
type synthetic struct {
	rate             float64
	features         int // p = q
	train, val, test int // examples of each agent
	reduce, labels   string
}

// flags is the task's Flags.
func (t *synthetic) flags(f *flag.FlagSet) {
	f.Float64Var(&t.rate, "r", 1, "r, heterogeneity rate, a positive `number`: features of agent i are N(0, i²r²)")
	f.IntVar(&t.features, "p", 200, "p = q, `number` of features")
	f.IntVar(&t.train, "train", 500, "training `examples` of each agent, for g_i")
	f.IntVar(&t.val, "val", 500, "validation `examples` of each agent, for f_i")
	f.IntVar(&t.test, "test", 500, "test `examples` drawn like each agent's")
	f.StringVar(&t.reduce, "reduce", "sum",
		"`how` an agent's losses are put together: sum, as the paper prints it, or mean; against a mean the penalty "+
			"weighs as much more as there are examples, and -x0 -4 is a better start")
	f.StringVar(&t.labels, "labels", "sign",
		"`what` an example's label is: sign, of x'w + 0.1z, as a classifier has it, or real, that number itself, as "+
			"the paper prints it")
}

// check is the task's Check. The bound of -r is such that NaN fails it.
func (t *synthetic) check() error {
	for _, count := range []struct {
		flag  string
		value int
	}{{"p", t.features}, {"train", t.train}, {"val", t.val}, {"test", t.test}} {
		if count.value < 1 {
			return dsbo.ConfigErrorf("-%s must be at least 1; it is %d", count.flag, count.value)
		}
	}
	if t.reduce != "sum" && t.reduce != "mean" {
		return dsbo.ConfigErrorf("-reduce must be sum or mean; it is %s", t.reduce)
	}
	if t.labels != "sign" && t.labels != "real" {
		return dsbo.ConfigErrorf("-labels must be sign or real; it is %s", t.labels)
	}
	if !(t.rate > 0) || math.IsInf(t.rate, 0) {
		return dsbo.ConfigErrorf("-r must be a positive number; it is %v", t.rate)
	}
	return nil
}

// load draws the examples of the agents in this process, and makes the model.
func (t *synthetic) load(a experiment.Agents) (task data.Task, m models.Model, err error) {
	c := data.Synthetic{Agents: a.N, Features: t.features, Train: t.train, Val: t.val, Test: t.test,
		Rate: t.rate, Real: t.labels == "real", Seed: a.Seed}
	task = data.Task{Shards: make([]data.Shard, a.N), Features: t.features, AllTrainRows: a.N * t.train}
	for _, i := range a.Local {
		if task.Shards[i], err = c.Shard(i); err != nil {
			return task, nil, err
		}
	}
	return task, models.Logistic{Features: t.features, Mean: t.reduce == "mean", Real: c.Real}, nil
}

// describe is the task's Describe. All agents have equally many held-out examples, but the ones of
// agents in other processes are not loaded, so the largest number is right. The default labels are
// left out of the settings, as checkpoints of earlier versions do not have that setting.
func (t *synthetic) describe(task data.Task, _ models.Model) (map[string]any, string) {
	settings := map[string]any{
		"model": "logistic", "rate": t.rate, "features": t.features, "reduce": t.reduce,
		"train": t.train, "val": t.val, "test": t.test,
	}
	heldOut := 0 // of each agent
	for _, s := range task.Shards {
		heldOut = max(heldOut, s.Holdout.Len())
	}
	line := fmt.Sprintf("synthetic task with r = %g, p = q = %d, %s with %d training and %s, losses as a %s",
		t.rate, t.features, wording.Count(len(task.Shards), "agent"), t.train,
		wording.Count(t.val-heldOut, "validation example"), t.reduce)
	if t.labels != "sign" {
		settings["labels"] = t.labels
		line += ", labels " + t.labels
	}
	return settings, line
}
