package experiment

import (
	"cmp"
	_ "embed"
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

//go:embed settings.txt
var usages string

// addFlags adds the flags of the settings, whose usages and groups are in settings.txt.
func (s *Settings) addFlags(f *cli.Flags, presets []Preset) {
	s.addMethodFlags(f, presets)
	s.addComputationFlags(f)
	s.addOutputFlags(f)
	f.Explain(strings.NewReplacer("{presets}", presetNames(presets), "{methods}", strings.Join(algo.Names(), ", "),
		"{graphs}", strings.Join(network.Names(), ", "), "{transports}", transportHelp(), "{private}",
		privatePreset().Name, "{results}", runs.Results).Replace(usages))
}

func (s *Settings) addMethodFlags(f *cli.Flags, presets []Preset) {
	s.Set = assignments{}
	f.StringVar(&s.Preset, "preset", presets[0].Name, "")
	f.StringVar(&s.Algorithm, "algorithm", "", "")
	f.IntVar(&s.Iterations, "K", 0, "")
	f.IntVar(&s.T, "T", 0, "")
	f.IntVar(&s.N, "N", 0, "")
	f.StringVar((*string)(&s.Alpha), "alpha", "", "")
	f.StringVar((*string)(&s.Beta), "beta", "", "")
	f.StringVar((*string)(&s.Gamma), "gamma", "", "")
	f.Float64Var(&s.X0, "x0", 0, "")
	f.BoolVar(&s.X0Best, "best-start", false, "")
	f.Var(s.Set, "set", "")
	s.Agents = 8
	f.Var(agentsFlag{s}, "agents", "")
	f.StringVar(&s.Graph, "graph", "ring", "")
	f.Float64Var(&s.W, "w", 0.5, "")
	f.Float64Var(&s.Prob, "prob", 0, "")
	f.StringVar(&s.Mix, "mix", network.Plain{}.String(), "")
	f.StringVar(&s.Wire, "wire", "", "")
	f.StringVar(&s.Transport, "transport", transports[0].name, "")
	f.StringVar(&s.Membership, "membership", "", "")
}

func (s *Settings) addComputationFlags(f *cli.Flags) {
	f.IntVar(&s.Batch, "batch", 0, "")
	f.StringVar(&s.DType, "dtype", "float32", "")
	f.StringVar(&s.Engine, "engine", "ad", "")
	f.TextVar(&s.Matrix, "curvature", dsbo.Hessian, "")
	f.Uint64Var(&s.Seed, "seed", 1, "")
	f.Float64Var(&s.Memory, "memory", 4, "")
	f.Var(holdoutFlag{s}, "holdout", "")
	f.StringVar(&s.Evaluate, "evaluate", "exact", "")
	f.BoolVar(&s.ShowData, "check", false, "")
	f.BoolFunc("explain-model", "", func(text string) error {
		s.ExplainModel = map[string]string{"true": "text", "text": "text", "dot": "dot"}[text]
		if s.ExplainModel == "" && text != "false" {
			return errors.New("must be text or dot")
		}
		return nil
	})
	f.Float64Var(&s.Epsilon, "dp-epsilon", 0, "")
	f.Float64Var(&s.Delta, "dp-delta", 1e-5, "")
	f.Float64Var(&s.Norm, "dp-clip", 1, "")
	f.BoolVar(&s.ExplainPrivacy, "explain-privacy", false, "")
}

func (s *Settings) addOutputFlags(f *cli.Flags) {
	f.StringVar(&s.Out, "out", "", "")
	f.IntVar(&s.Patience, "patience", 0, "")
	f.IntVar(&s.EvalEvery, "eval-every", 0, "")
	f.IntVar(&s.CheckpointEvery, "checkpoint-every", 0, "")
	f.BoolVar(&s.Resume, "resume", false, "")
	f.BoolVar(&s.Force, "force", false, "")
	f.BoolVar(&s.KeepCheckpoints, "keep-checkpoints", false, "")
	f.BoolVar(&s.Rivals, "rivals", true, "")
	f.BoolVar(&s.Report, "report", true, "")
	f.BoolVar(&s.Quiet, "quiet", false, "")
	f.BoolVar(&s.Verbose, "v", false, "")
	f.BoolVar(&s.Attached, "attached", false, "")
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

// preset returns the preset that -preset names, else the task's choice. Without -preset, a method
// other than the default's gets the first of these that exists: the preset made for it, for one
// agent a preset made for such a method, the first of the task's own.
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
	o := network.AverageOptions{Seed: s.Seed}
	if err := o.Wire.UnmarshalText([]byte(s.Wire)); err != nil {
		return o, dsbo.ConfigErrorf("-wire must be float64, float32, bf16 or int8; it is %s", s.Wire)
	}
	m, err := algo.New(s.Algorithm)
	if err != nil {
		return o, fmt.Errorf("-algorithm: %w", err)
	}
	o.ErrorFeedback = o.Wire == network.BF16 || o.Wire == network.Int8 && algo.TraitsOf(m).OneLoop
	return o, nil
}

// ExchangeWire returns the wire of exchanges, after the preset has been filled in.
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

// chooseModel sets an omitted -model to the one that the named preset is made for, and refuses
// other models.
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
