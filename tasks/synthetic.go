package tasks

import (
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
)

// Synthetic returns the paper's synthetic task: a penalty per feature of a logistic regression whose data differ between agents,
// at one rate of heterogeneity or at several.
func Synthetic() experiment.Task { return &synthetic{} }

// synthetic is what the flags of the task choose.
type synthetic struct {
	rates            rates
	features         int // p = q
	train, val, test int // examples of each agent
	reduce           string
}

// paperRates are run without -r.
func paperRates() rates { return rates{0.5, 1, 1.5} }

func (*synthetic) Name() string { return "synthetic" }

func (*synthetic) About() string {
	return `tunes one log-penalty λ per feature for a logistic regression, decentralized

  min over λ of Σ_i f_i,  f_i = Σ_e log(1 + exp(-t_e a_e'ω*(λ))) on agent i's validation examples,
  where ω*(λ) minimizes the sum of the same on all training examples + ½ Σ_j e^λ_j ω_j²

x of the paper is λ, y is ω. Agent i draws its features from N(0, i²r²): r is the rate of heterogeneity.
The task is solved at each rate; each has its run folder, and one report shows them all.`
}

func (t *synthetic) Flags(f *flag.FlagSet) {
	t.rates = nil
	f.Var(&t.rates, "r", "r, heterogeneity rates, one `number` or more with commas between: features of agent i are N(0, i²r²) (default "+
		"0.5,1,1.5"+"; 1 in a run over machines)")
	f.IntVar(&t.features, "p", 200, "p = q, `number` of features")
	f.IntVar(&t.train, "train", 500, "training `examples` of each agent, for g_i")
	f.IntVar(&t.val, "val", 500, "validation `examples` of each agent, for f_i")
	f.IntVar(&t.test, "test", 500, "test `examples` drawn like each agent's")
	f.StringVar(&t.reduce, "reduce", "sum", "`how` an agent's losses are put together: sum, as the paper prints it, or mean; against a mean the penalty weighs as much more as there are examples, and -x0 -4 is a better start")
}

// Check implements [experiment.Checker].
func (t *synthetic) Check() error {
	for _, count := range []struct {
		flag  string
		value int
	}{{"p", t.features}, {"train", t.train}, {"val", t.val}, {"test", t.test}} {
		if count.value < 1 {
			return dsbo.Errorf(dsbo.ErrConfig, "-%s must be at least 1; it is %d", count.flag, count.value)
		}
	}
	if t.reduce != "sum" && t.reduce != "mean" {
		return dsbo.Errorf(dsbo.ErrConfig, "-reduce must be sum or mean; it is %s", t.reduce)
	}
	return nil
}

// Runs implements [experiment.Several]: one run at each rate.
func (t *synthetic) Runs() (string, []experiment.Part) {
	all := t.rates
	if all == nil {
		all = paperRates()
	}
	var parts []experiment.Part
	for _, r := range all {
		one, text := *t, strconv.FormatFloat(r, 'g', -1, 64)
		one.rates = rates{r}
		parts = append(parts, experiment.Part{Task: &one, Name: "r" + text, Label: "r = " + text, Flag: "-r=" + text})
	}
	return "Synthetic task at several rates of heterogeneity", parts
}

// rate returns that of one run.
func (t *synthetic) rate() float64 {
	if t.rates == nil {
		return 1
	}
	return t.rates[0]
}

// Load draws the examples of all agents, whichever of them are here.
func (t *synthetic) Load(a experiment.Agents) (data.Task, models.Model, error) {
	task, err := data.Synthetic{
		Agents: a.N, Features: t.features, Train: t.train, Val: t.val, Test: t.test, Rate: t.rate(), Seed: a.Seed,
	}.Task()
	return task, models.Logistic{Features: t.features, Mean: t.reduce == "mean"}, err
}

// Describe implements [experiment.Describer].
func (t *synthetic) Describe(task data.Task, _ models.Model) (map[string]any, string) {
	return map[string]any{
			"model": "logistic", "rate": t.rate(), "features": t.features, "reduce": t.reduce,
			"train": t.train, "val": t.val, "test": t.test,
		}, fmt.Sprintf("synthetic task with r = %g, p = q = %d, %d agents with %d training and %d validation examples, losses as a %s",
			t.rate(), t.features, len(task.Shards), t.train, t.val, t.reduce)
}

// rates is a list of heterogeneity rates, as a flag.
type rates []float64

// String writes the list as Set reads it.
func (r *rates) String() string {
	var parts []string
	for _, v := range *r {
		parts = append(parts, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(parts, ",")
}

// Set reads numbers with commas between.
func (r *rates) Set(text string) error {
	*r = nil
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%q: rates must be positive numbers with commas between", part)
		}
		for _, u := range *r {
			if u == v {
				return fmt.Errorf("%g is there twice", v)
			}
		}
		*r = append(*r, v)
	}
	return nil
}
