package tasks

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/plan"
	"dsbo/internal/elementary"
	"dsbo/internal/wording"
	"dsbo/models"
)

// Synthetic returns the paper's synthetic task: a penalty per feature of a logistic regression whose data differ between agents,
// at one rate of heterogeneity or at several.
func Synthetic() experiment.Task { return &synthetic{} }

// synthetic is what the flags of the task choose.
type synthetic struct {
	rate             string
	rates            []float64 // the numbers in rate
	features         int       // p = q
	train, val, test int       // examples of each agent
	reduce           string
}

func (*synthetic) Name() string { return "synthetic" }

func (*synthetic) About() string {
	return `tune one log-penalty λ per feature of a logistic regression on synthetic data

  min over λ of Σ_i f_i,  f_i = Σ_e log(1 + exp(-t_e a_e'ω*(λ))) on agent i's validation examples,
  where ω*(λ) minimizes the sum of the same on all training examples + ½ Σ_j e^λ_j ω_j²

x of the paper is λ, y is ω. Agent i draws its features from N(0, i²r²): r is the rate of heterogeneity.
The task is solved at each rate; each has its run folder, and one report shows them all.`
}

func (t *synthetic) Flags(f *flag.FlagSet) {
	f.StringVar(&t.rate, "r", "0.5,1,1.5", "r, heterogeneity rates, one `number` or more with commas between: features of agent i are N(0, i²r²) "+
		"(default 0.5,1,1.5; 1 in a run over machines)")
	f.IntVar(&t.features, "p", 200, "p = q, `number` of features")
	f.IntVar(&t.train, "train", 500, "training `examples` of each agent, for g_i")
	f.IntVar(&t.val, "val", 500, "validation `examples` of each agent, for f_i")
	f.IntVar(&t.test, "test", 500, "test `examples` drawn like each agent's")
	f.StringVar(&t.reduce, "reduce", "sum", "`how` an agent's losses are put together: sum, as the paper prints it, or mean; against a mean the penalty weighs as much more as there are examples, and -x0 -4 is a better start")
}

// Check implements [experiment.Checker].
func (t *synthetic) Check() (err error) {
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
	t.rates, err = parseRates(t.rate)
	return err
}

// Experience implements [experiment.Experienced]: the fewer features, the better they separate the classes, and the farther is the
// search for the best constant.
func (t *synthetic) Experience() plan.Experience {
	share := max(0, elementary.Log(float64(t.features)/20)) / elementary.Log(10) // 0 at 20 features, 1 at 200
	at := func(few, many float64) float64 { return few + float64((many-few)*min(share, 1.5)) }
	return plan.Experience{
		Experience:     algo.Experience{Constants: int(math.Round(at(16, 10))), FurtherShare: 0.1},
		RecordProducts: at(25, 46), Models: at(8, 4.3), ModelProducts: 47,
	}
}

// Runs implements [experiment.Series]: one run at each rate.
func (t *synthetic) Runs() (string, []experiment.Part) {
	var parts []experiment.Part
	for _, r := range t.rates {
		one, text := *t, strconv.FormatFloat(r, 'g', -1, 64)
		one.rates = []float64{r}
		parts = append(parts, experiment.Part{Task: &one, Name: "r" + text, Label: "r = " + text, Flag: "-r=" + text})
	}
	return "Synthetic task at several rates of heterogeneity", parts
}

// single returns the rate of one run. That of a run over machines without -r is 1.
func (t *synthetic) single() float64 {
	if len(t.rates) > 1 {
		return 1
	}
	return t.rates[0]
}

// Load draws the examples of the agents that are here.
func (t *synthetic) Load(a experiment.Agents) (task data.Task, m models.Model, err error) {
	c := data.Synthetic{Agents: a.N, Features: t.features, Train: t.train, Val: t.val, Test: t.test, Rate: t.single(), Seed: a.Seed}
	task = data.Task{Shards: make([]data.Shard, a.N), Features: t.features, AllTrainRows: a.N * t.train}
	for _, i := range a.Local {
		if task.Shards[i], err = c.Shard(i); err != nil {
			return task, nil, err
		}
	}
	return task, models.Logistic{Features: t.features, Mean: t.reduce == "mean"}, nil
}

// Describe implements [experiment.Describer].
func (t *synthetic) Describe(task data.Task, _ models.Model) (map[string]any, string) {
	return map[string]any{
			"model": "logistic", "rate": t.single(), "features": t.features, "reduce": t.reduce,
			"train": t.train, "val": t.val, "test": t.test,
		}, fmt.Sprintf("synthetic task with r = %g, p = q = %d, %s with %d training and %s, losses as a %s",
			t.single(), t.features, wording.Count(len(task.Shards), "agent"), t.train, wording.Count(t.val, "validation example"), t.reduce)
}

// parseRates reads numbers with commas between.
func parseRates(text string) (list []float64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		switch {
		case err != nil || !(v > 0) || math.IsInf(v, 0):
			return nil, dsbo.Errorf(dsbo.ErrConfig, "-r must be positive numbers with commas between; it is %s", text)
		case slices.Contains(list, v):
			return nil, dsbo.Errorf(dsbo.ErrConfig, "rates of -r must differ; %g is there twice", v)
		}
		list = append(list, v)
	}
	return list, nil
}
