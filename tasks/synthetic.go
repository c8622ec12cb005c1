package tasks

import (
	"fmt"
	"io"
	"math"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/cli"
	"dsbo/models"
	"dsbo/network"
	"dsbo/train"
)

// SyntheticIntro is what -h says about the synthetic task.
const SyntheticIntro = `synthetic tunes one log-penalty λ per feature for a logistic regression, decentralized:

  min over λ of Σ_i f_i,  f_i = Σ_e log(1 + exp(-t_e a_e'ω*(λ))) on agent i's validation examples,
  where ω*(λ) minimizes the sum of the same on all training examples + ½ Σ_j e^λ_j ω_j²

x of the paper is λ, y is ω. Agent i draws its features from N(0, i²r²): r is the rate of heterogeneity.`

// A SyntheticTask is the settings of the synthetic task.
type SyntheticTask struct {
	*experiment.Settings
	Rate             float64 // r
	Features         int     // p = q
	Train, Val, Test int     // examples of each agent
	Reduce           string  // sum or mean
}

// NewSynthetic returns the settings with nothing in them but what the flags of [experiment.Settings] need.
func NewSynthetic() *SyntheticTask {
	return &SyntheticTask{Settings: &experiment.Settings{DType: "float64"}}
}

// SyntheticOrder is the order in which presets are shown; the first one is the default.
func SyntheticOrder() []string { return []string{"tuned", "paper"} }

// TaskFlags adds the flags of the task, but for -r, which is the caller's: one rate, or several.
func (t *SyntheticTask) TaskFlags(f *cli.Flags) {
	f.IntVar(&t.Features, "p", 200, "p = q, `number` of features")
	f.IntVar(&t.Train, "train", 500, "training `examples` of each agent, for g_i")
	f.IntVar(&t.Val, "val", 500, "validation `examples` of each agent, for f_i")
	f.IntVar(&t.Test, "test", 500, "test `examples` drawn like each agent's")
	f.StringVar(&t.Reduce, "reduce", "sum", "`how` an agent's losses are put together: sum, as the paper prints it, or mean; against a mean the penalty weighs as much more as there are examples, and -x0 -4 is a better start")
	f.Group("Task", "r", "p", "train", "val", "test", "reduce")
}

// Validate reports the first flag of the task that cannot work.
func (t *SyntheticTask) Validate() error {
	for _, count := range []struct {
		flag  string
		value int
	}{{"p", t.Features}, {"train", t.Train}, {"val", t.Val}, {"test", t.Test}} {
		if count.value < 1 {
			return bad("-%s %d: want at least 1", count.flag, count.value)
		}
	}
	if !(t.Rate > 0) || math.IsInf(t.Rate, 0) {
		return bad("-r %g: want a positive number", t.Rate)
	}
	if t.Reduce != "sum" && t.Reduce != "mean" {
		return bad("-reduce %s: want sum or mean", t.Reduce)
	}
	return nil
}

// Job returns the job of a run with these settings as they are when it starts.
func (t *SyntheticTask) Job() *experiment.Job {
	return &experiment.Job{Task: "synthetic", Settings: t.Settings, Presets: SyntheticPresets(), Load: t.load}
}

// Synthetic makes the job of a command line of the synthetic task at one rate. Errors are as those of [Parse].
func Synthetic(args []string, help io.Writer) (*experiment.Job, error) {
	t := NewSynthetic()
	j := t.Job()
	f := cli.NewFlags("synthetic", SyntheticIntro, experiment.Explain(j.Presets, SyntheticOrder()))
	f.Float64Var(&t.Rate, "r", 1, "r, heterogeneity rate, a `number`: features of agent i are N(0, i²r²)")
	t.TaskFlags(f)
	t.Flags(f, SyntheticOrder())
	if err := j.Parse(f, args, help); err != nil {
		return nil, err
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return j, nil
}

// load makes the problem.
func (t *SyntheticTask) load(team network.Team) (experiment.Problem, error) {
	spec := data.Synthetic{
		Agents: t.Agents, Features: t.Features, Train: t.Train, Val: t.Val, Test: t.Test, Rate: t.Rate, Seed: t.Seed,
	}
	task, err := spec.Task()
	if err != nil {
		return experiment.Problem{}, err
	}
	m := models.Logistic{Features: t.Features, Mean: t.Reduce == "mean"}
	p := experiment.Problem{
		Rows: min(t.Train, t.Val), Convex: true, Lambda: []int{t.Features}, Omega: []int{t.Features},
		Settings: map[string]any{
			"model": "logistic", "rate": t.Rate, "features": t.Features, "reduce": t.Reduce,
			"train": t.Train, "val": t.Val, "test": t.Test,
		},
		Describe: fmt.Sprintf("synthetic task with r = %g, p = q = %d, %d agents with %d training and %d validation examples, losses as a %s",
			t.Rate, t.Features, t.Agents, t.Train, t.Val, t.Reduce),
	}
	p.Problem, err = train.NewPart(team, task, m, models.Config{Seed: t.Seed, Batch: t.Batch, Float32: t.DType == "float32"})
	return p, err
}
