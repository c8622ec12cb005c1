package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/cli"
	"dsbo/network"
	"dsbo/runs"
)

// addFlags adds the flags of the settings.
func (s *Settings) addFlags(f *cli.Flags, presets []Preset) {
	s.addMethodFlags(f, presets)
	s.addNetworkFlags(f)
	s.addComputationFlags(f)
	s.addPrivacyFlags(f)
	s.addOutputFlags(f)
}

func (s *Settings) addMethodFlags(f *cli.Flags, presets []Preset) {
	s.Set = assignments{}
	f.StringVar(&s.Preset, "preset", presets[0].Name,
		"`name` of the settings that Method and -batch have by default, which -h all lists: "+
			presetNames(presets))
	f.StringVar(&s.Algorithm, "algorithm", "", "`name` of the method: "+strings.Join(algo.Names(), ", ")+
		" (default: the preset's); without -preset it has the settings of the preset that is made for it, else those "+
		"of the task's first preset")
	f.IntVar(&s.Iterations, "K", 0, "K, outer `iterations` (default: the preset's; 6 where a choice by folds follows)")
	f.IntVar(&s.T, "T", 0, "T, `steps` of y in an outer iteration (default: the preset's)")
	f.IntVar(&s.N, "N", 0,
		"N, `steps` of z in an outer iteration, for the Hessian-inverse-gradient product (default: the preset's)")
	f.StringVar((*string)(&s.Alpha), "alpha", "",
		"α_k, `step` of x and weight of its moving average: a number, c/sqrt(k+1), c/(k+1), c/sqrt(K), c*(1-k/K), or "+
			"numbers with commas between (default: the preset's)")
	f.StringVar((*string)(&s.Beta), "beta", "",
		"β_k, `step` of y, in the same forms, or c/L with the largest curvature L of an agent at the start, less as "+
			"penalties make it grow and as members change, or auto: 1/L (default: the preset's)")
	f.StringVar((*string)(&s.Gamma), "gamma", "",
		"γ, `step` of z, in the same forms as β_k; auto: four fifths of the bound (1+λ_min(W))²/(2L), which is "+
			"0.4/L on a ring with -w 0.5 (default: the preset's)")
	f.Float64Var(&s.X0, "x0", 0, "x_0 = λ at the start, one `number` for all entries (default: the preset's)")
	f.BoolVar(&s.X0Best, "best-start", false, "start at the constant λ of the least Φ and its solution y, which the "+
		"agents find before iteration 0, at the run's cost; x that is no penalties starts at 0")
	f.Var(s.Set, "set",
		"any other parameter of the method as `name=value`, for instance mom_z=0.9 or clip=[1,12]; may be given more "+
			"than once; with a name that it does not have, such as x=0, it says which it has (default: the preset's)")
	f.Group("Method", "preset", "algorithm", "K", "patience", "T", "N", "alpha", "beta", "gamma", "x0", "best-start",
		"set")
}

func (s *Settings) addNetworkFlags(f *cli.Flags) {
	s.Agents = 8
	f.Var(agentsFlag{s}, "agents",
		"n, `number` of agents, or the numbers of their files, such as 0,2,5 (default 8, or as many as the task has "+
			"data for)")
	f.StringVar(&s.Graph, "graph", "ring",
		"`name` of the graph, or a file that ends in .json: "+strings.Join(network.Names(), ", "))
	f.Float64Var(&s.W, "w", 0.5,
		"w_ii, each agent's `weight` on itself; its neighbours share the rest; 0: Metropolis weights (default 0.5 on "+
			"the ring, 0 elsewhere)")
	f.Float64Var(&s.Prob, "prob", 0, "`probability` of an edge of erdos-renyi (default 2·ln(n)/n)")
	f.StringVar(&s.Mix, "mix", network.Plain{}.String(),
		"`how` an agent combines what neighbours send: plain, the sum with the weights of W; or, drawn anew in "+
			"each iteration, failing:p, where an edge fails with probability p, or matchings, of pairs of neighbours")
	f.StringVar(&s.Average, "average", "tree",
		"`how` agents find exact averages: tree, by sums over a spanning tree of the graph; or mix, by rounds of "+
			"exchanges with W alone, which are not masked; evaluation and models take the tree all the same")
	f.StringVar(&s.Wire, "wire", "",
		"`type` in which numbers travel: float64, float32, bf16 or int8 (default: the preset's)")
	f.StringVar(&s.Transport, "transport", transports[0].name,
		"`how` agents exchange: "+transportHelp()+
			"; the verbs agent and run of dsbo run each agent as a process of its own")
	f.StringVar(&s.Membership, "membership", "",
		"`file` with the changes of who takes part, a line of JSON each, as the membership.jsonl of a run folder: "+
			"the run in this process goes through the same changes")
	f.Group("Network", "agents", "graph", "w", "prob", "mix", "average", "wire", "transport", "membership")
}

func (s *Settings) addComputationFlags(f *cli.Flags) {
	f.IntVar(&s.Batch, "batch", 0, "`examples` in a draw ξ or φ, 0 for all (default: the preset's)")
	f.StringVar(&s.DType, "dtype", "float32",
		"`type` of the oracles' numbers, float32 or float64; evaluation is in float64 (default: the preset's)")
	f.StringVar(&s.Engine, "engine", "ad", "`what` computes derivatives: ad, or gorgonia, its TapeMachine, slowly")
	f.TextVar(&s.Matrix, "curvature", dsbo.Hessian,
		"`matrix` of second derivatives in products, for lower problems that are not convex: hessian, gauss-newton "+
			"(as if the model's outputs were linear, which has no negative eigenvalue) or damped (the Hessian, "+
			"raised by its least eigenvalue)")
	f.Uint64Var(&s.Seed, "seed", 1, "`number` that all draws depend on")
	f.Float64Var(&s.Memory, "memory", 4,
		"`GiB` that the matrices of jhip and gbdsbo may take, all agents of a process together")
	f.Var(holdoutFlag{s}, "holdout",
		"`share` of the validation examples that tunes nothing: it chooses the best iterate and shows over-fitting; "+
			"0 for none, auto for 0.1 where all agents together have at least 4000 validation examples, and at most "+
			"twice as many as training examples; 0.2 where they have 200 to 3999, and fewer than five for each "+
			"hyperparameter, unless the model has a prior of these; else 0 (default auto)")
	f.StringVar(&s.Evaluate, "evaluate", "exact",
		"`how` far records look: exact, to Φ and its gradient by solutions that all agents find together, which "+
			"costs exchanges; or off, to losses alone")
	f.BoolVar(&s.ShowData, "check", false,
		"print how each column of the tables here is read, what is missing or dropped and why, and do not run")
	f.BoolFunc("explain-model",
		"print what the losses and their derivatives compute, step by step, with shapes, flops and bytes, for the "+
			"first agent's draws, and do not run; -explain-model=dot prints their graphs in the `language` of Graphviz",
		func(text string) error {
			s.ExplainModel = map[string]string{"true": "text", "text": "text", "dot": "dot"}[text]
			if s.ExplainModel == "" && text != "false" {
				return errors.New("must be text or dot")
			}
			return nil
		})
	f.Group("Computation", "batch", "dtype", "engine", "curvature", "seed", "memory", "holdout", "evaluate", "check",
		"explain-model")
}

func (s *Settings) addPrivacyFlags(f *cli.Flags) {
	f.Float64Var(&s.Epsilon, "dp-epsilon", 0,
		"`ε` of differential privacy for each row of each agent: all that an agent sends has noise for it, records "+
			"and models at the end are left out, and the preset is "+privatePreset().Name+"; 0: none")
	f.Float64Var(&s.Delta, "dp-delta", 1e-5, "`δ` of differential privacy: below 1 by far more than an agent has rows")
	f.Float64Var(&s.Norm, "dp-clip", 1,
		"`norm` to which an agent scales rows of features that are longer, where there is differential privacy")
	f.BoolVar(&s.ExplainPrivacy, "explain-privacy", false,
		"print what an agent will send of its data, how often and who sees it, and do not run")
	f.Group("Privacy", "explain-privacy", "dp-epsilon", "dp-delta", "dp-clip")
}

func (s *Settings) addOutputFlags(f *cli.Flags) {
	f.StringVar(&s.Out, "out", "", "run `folder` (default: a new one in "+runs.Results+
		", named by preset and seed, which must not be inside a Go package)")
	f.IntVar(&s.Patience, "patience", 0,
		"end the iterations when the held-out loss is above the least by more than chance in this number of "+
			"`evaluations` in a row, at least 2; 0: never (default: the preset's)")
	f.IntVar(&s.EvalEvery, "eval-every", 0,
		"`iterations` from one evaluation to the next (default: the preset's, else K/10); where it is given, each "+
			"looks as far as -evaluate says, on float32 too")
	f.IntVar(&s.CheckpointEvery, "checkpoint-every", 0,
		"`iterations` from one checkpoint to the next (default K/10, and no more often than evaluations)")
	f.BoolVar(&s.Resume, "resume", false, "go on with the unfinished run in the folder (the newest in "+runs.Results+
		"), with its settings")
	f.BoolVar(&s.Force, "force", false, "replace the run in the folder")
	f.BoolVar(&s.KeepCheckpoints, "keep-checkpoints", false,
		"keep the last checkpoints of a run that has finished, not the newest alone")
	f.BoolVar(&s.Rivals, "rivals", true,
		"find models of other hyperparameters at the end, such as constants, and look for better ones from there; "+
			"with -rivals=false the model at those of the iterations alone, as methods are compared (default true)")
	f.BoolVar(&s.Report, "report", true,
		"write report.html and its figures at the end; with -report=false they can be had later, from the verb "+
			"report of dsbo (default true)")
	f.BoolVar(&s.Quiet, "quiet", false, "write nothing to stderr but errors")
	f.BoolVar(&s.Verbose, "v", false,
		"print all that was found: with a run over tables what tuning gave, models and cost too, as other tasks do")
	f.BoolVar(&s.Attached, "attached", false,
		"for a program that starts runs: stop when stdin ends, as on an interrupt")
	f.Group("Output", "out", "eval-every", "checkpoint-every", "keep-checkpoints", "resume", "force", "rivals",
		"report", "quiet", "v", "attached")
}

// resolve fills in the preset for all flags that were not given, makes the graph, and reports the
// first setting that cannot work whatever the data.
func (j *Job) resolve() (parameters, *network.Graph, error) {
	p, err := j.resolveParameters()
	if err != nil {
		return p, nil, err
	}
	g, err := j.Settings.network(j.givenFlags)
	if err == nil {
		g.W, err = j.Settings.mixing(p.method, g.W)
	}
	return p, g, err
}

// resolveParameters is resolve without the graph.
func (j *Job) resolveParameters() (parameters, error) {
	s, given := j.Settings, j.givenFlags
	preset, err := j.preset()
	if err != nil {
		return parameters{}, err
	}
	preset.fill(s, given)
	if err := s.applyPrivacy(given); err != nil {
		return parameters{}, err
	}
	p, err := presetParameters(preset.Method, s.Algorithm)
	if err == nil {
		err = s.setParameters(&p, given)
	}
	if err == nil {
		err = s.validate(p.method)
	}
	if err != nil {
		return p, err
	}
	if j.Task.Agents != nil && !given["agents"] {
		var n int
		n, err = j.Task.Agents()
		s.Agents = cmp.Or(n, s.Agents)
	}
	return p, errors.Join(err, agentsFlag{s}.check(j.Task))
}

// preset returns the preset that -preset names, else the one that the task chooses. Without
// -preset, a method other than the default's has the preset that is made for it, else, for one
// agent, one that is made for such a method, else the first of the task's own, if it has some.
func (j *Job) preset() (Preset, error) {
	s := j.Settings
	switch open := !j.givenFlags["preset"] && !j.givenFlags["algorithm"]; {
	case open && s.Epsilon != 0:
		s.Preset = privatePreset().Name
	case open && j.Task.Preset != nil:
		s.Preset = cmp.Or(j.Task.Preset(), s.Preset)
	}
	i := slices.IndexFunc(j.presets, func(p Preset) bool { return p.Name == s.Preset })
	if j.givenFlags["algorithm"] && !j.givenFlags["preset"] {
		i = slices.IndexFunc(j.presets, func(p Preset) bool { return algo.NameOf(p.Method) == s.Algorithm })
		if m, err := algo.New(s.Algorithm); i < 0 && err == nil && algo.TraitsOf(m).OneAgent {
			i = slices.IndexFunc(j.presets, func(p Preset) bool { return algo.TraitsOf(p.Method).OneAgent })
		}
		if i < 0 {
			i = min(1, len(j.Task.Presets))
		}
		s.Preset = j.presets[i].Name
	}
	if i < 0 {
		return Preset{}, dsbo.ConfigErrorf("-preset must be %s; it is %s",
			presetNames(j.presets), s.Preset)
	}
	return j.presets[i], nil
}

// setParameters sets the parameters for which flags were given.
func (s *Settings) setParameters(p *parameters, given map[string]bool) error {
	for _, v := range []struct {
		flag  string
		value int
	}{{"T", s.T}, {"N", s.N}} {
		if given[v.flag] {
			if v.value < 1 {
				return dsbo.ConfigErrorf("-%s must be at least 1; it is %d", v.flag, v.value)
			}
			p.set(v.flag, v.value)
		}
	}
	for _, v := range []struct {
		flag string
		step algo.Schedule
	}{{"alpha", s.Alpha}, {"beta", s.Beta}, {"gamma", s.Gamma}} {
		if given[v.flag] {
			if err := checkStep(v.flag, v.step, s.Iterations); err != nil {
				return err
			}
			p.set(v.flag, v.step)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Set)) {
		if err := algo.Decode(p.method, fmt.Appendf(nil, "{%q:%s}", name, s.Set[name])); err != nil {
			return fmt.Errorf("-set %s=%s: %w", name, s.Set[name], err)
		}
	}
	return nil
}

// checkStep returns an error if a flag's value is no schedule. Steps of y and z may follow the
// curvature; these are checked with the method.
func checkStep(flag string, step algo.Schedule, K int) error {
	if flag != "alpha" && step.OfCurvature() {
		return nil
	}
	if _, err := step.For(K); err != nil {
		return fmt.Errorf("-%s: %w", flag, err)
	}
	return nil
}

// validate reports the first setting that cannot work whatever the data.
func (s *Settings) validate(m algo.Method) error {
	for _, v := range []struct {
		flag         string
		value, least int
	}{{"K", s.Iterations, 1}, {"agents", s.Agents, 1}, {"batch", s.Batch, 0}, {"patience", s.Patience, 0},
		{"eval-every", s.EvalEvery, 0}, {"checkpoint-every", s.CheckpointEvery, 0}} {
		if v.value < v.least {
			return dsbo.ConfigErrorf("-%s must be at least %d; it is %d", v.flag, v.least, v.value)
		}
	}
	switch {
	case s.DType != "float32" && s.DType != "float64":
		return dsbo.ConfigErrorf("-dtype must be float32 or float64; it is %s", s.DType)
	case s.Engine != "ad" && s.Engine != "gorgonia":
		return dsbo.ConfigErrorf("-engine must be ad or gorgonia; it is %s", s.Engine)
	case !(s.Memory > 0 && s.Memory < 1e6):
		return dsbo.ConfigErrorf("-memory must be a positive number of GiB; it is %v", s.Memory)
	case !(s.Holdout >= 0 && s.Holdout < 1):
		return dsbo.ConfigErrorf("-holdout must be at least 0 and below 1; it is %v", s.Holdout)
	case s.Average != "tree" && s.Average != "mix":
		return dsbo.ConfigErrorf("-average must be tree or mix; it is %s", s.Average)
	case s.Evaluate != "exact" && s.Evaluate != "off":
		return dsbo.ConfigErrorf("-evaluate must be exact or off; it is %s", s.Evaluate)
	case math.IsNaN(s.X0) || math.IsInf(s.X0, 0):
		return dsbo.ConfigErrorf("-x0 must be finite; it is %v", s.X0)
	}
	if _, err := s.averaging(); err != nil {
		return err
	}
	if _, err := layoutOf(s.Transport); err != nil {
		return err
	}
	return algo.Clone(m).Init(1, 1, s.Iterations)
}

// averaging returns how agents find exact averages, and how their numbers travel.
func (s *Settings) averaging() (network.AverageOptions, error) {
	o := network.AverageOptions{ByMix: s.Average == "mix", Seed: s.Seed}
	if err := o.Wire.UnmarshalText([]byte(s.Wire)); err != nil {
		return o, dsbo.ConfigErrorf("-wire must be float64, float32, bf16 or int8; it is %s", s.Wire)
	}
	m, err := algo.New(s.Algorithm)
	if err != nil {
		return o, fmt.Errorf("-algorithm: %w", err)
	}
	traits := algo.TraitsOf(m)
	if o.ByMix && o.Wire == network.Int8 && traits.FullDigits {
		return o, dsbo.ConfigErrorf(
			"-average mix rounds in each of its rounds, and on -wire int8 that leaves %s no digits: take -wire bf16 "+
				"or -average tree",
			s.Algorithm)
	}
	o.ErrorFeedback = o.Wire == network.BF16 || o.Wire == network.Int8 && traits.OneLoop
	return o, nil
}

// ExchangeWire returns the type in which a transport may send the vectors of exchanges, after the
// preset has been filled in.
func (s *Settings) ExchangeWire() network.Wire {
	o, _ := s.averaging() // which has been checked
	return o.Wire
}

// network makes the graph. The number of agents may come from a graph file.
func (s *Settings) network(given map[string]bool) (*network.Graph, error) {
	n, file := s.Agents, strings.HasSuffix(s.Graph, ".json")
	if file && !given["agents"] {
		n = 0
	}
	if s.Graph != "ring" && !given["w"] {
		s.W = 0
	}
	g, err := network.New(s.Graph, n, network.Options{W: s.W, Prob: s.Prob, Seed: s.Seed})
	if err != nil {
		return nil, err
	}
	s.Agents = g.W.N()
	return g, nil
}

// choosePreset gives the flags that the command line leaves out and the preset knows its values,
// and with that all flags that were given.
func (j *Job) choosePreset(f *cli.Flags) error {
	if err := j.chooseModel(f); err != nil {
		return err
	}
	j.givenFlags = f.Given()
	p, err := j.preset()
	if err != nil {
		return nil // resolveParameters refuses it
	}
	for _, name := range slices.Sorted(maps.Keys(p.Flags)) {
		if !j.givenFlags[name] {
			if err := f.Set(name, p.Flags[name]); err != nil {
				return err
			}
		}
	}
	j.givenFlags = f.Given()
	return nil
}

// chooseModel gives -model, where the command line leaves it out, the value that a preset it names
// is made for, and refuses others.
func (j *Job) chooseModel(f *cli.Flags) error {
	given := f.Given()
	i := slices.IndexFunc(j.presets, func(p Preset) bool { return p.Name == j.Preset })
	if !given["preset"] || i < 0 || j.presets[i].Models == nil { // a name that is unknown is refused later
		return nil
	}
	fits := j.presets[i].Models
	if !given["model"] {
		return f.Set("model", fits[0])
	}
	if model := f.Lookup("model").Value.String(); !slices.Contains(fits, model) {
		return dsbo.ConfigErrorf("-preset %s is made for -model %s; it is %s", j.Preset,
			strings.Join(fits, " or "), model)
	}
	return nil
}
