package experiment

import (
	"cmp"
	_ "embed"
	"errors"
	"flag"
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
	"dsbo/train"
)

//go:embed settings.txt
var usages string

// newSettings returns the defaults of flags.
func newSettings() *Settings {
	return &Settings{
		Config: runs.Config{Format: runs.Format, Build: runs.ThisBuild(), Preset: tunedPreset().Name, Agents: 8,
			Graph: "ring", W: 0.5, Mix: network.Plain{}.String(), Transport: transports[0].name,
			DType: "float32", Seed: 1, Evaluate: train.EvaluateExact},
		Engine: "ad", Memory: 4, Delta: 1e-5, Norm: 1, Rivals: true, Report: true,
		Set: assignments{}, taskFlags: map[string]any{}, shapingFlags: map[string]string{},
		defaults: map[string]string{},
	}
}

// addFlags adds the flags of the settings, with the present values as defaults. Usages and groups
// are in settings.txt; f.Explain fills in its placeholders in braces.
func (s *Settings) addFlags(f *cli.Flags, presets []Preset) {
	for name, setting := range map[string]any{
		"preset": &s.Preset, "algorithm": &s.Algorithm, "K": &s.Iterations, "T": &s.T, "N": &s.N,
		"alpha": (*string)(&s.Alpha), "beta": (*string)(&s.Beta), "gamma": (*string)(&s.Gamma),
		"x0": &s.X0, "best-start": &s.X0Best, "set": s.Set,
		"agents": agentsFlag{s}, "graph": &s.Graph, "w": &s.W, "prob": &s.Prob, "mix": &s.Mix,
		"wire": &s.Wire, "transport": &s.Transport, "membership": &s.Membership,
		"batch": &s.Batch, "dtype": &s.DType, "engine": &s.Engine, "seed": &s.Seed, "memory": &s.Memory,
		"holdout": holdoutFlag{s}, "evaluate": &s.Evaluate, "check": &s.ShowData,
		"dp-epsilon": &s.Epsilon, "dp-delta": &s.Delta, "dp-clip": &s.Norm, "explain-privacy": &s.ExplainPrivacy,
		"out": &s.Out, "patience": &s.Patience, "eval-every": &s.EvalEvery, "checkpoint-every": &s.CheckpointEvery,
		"resume": &s.Resume, "force": &s.Force, "keep-checkpoints": &s.KeepCheckpoints, "rivals": &s.Rivals,
		"report": &s.Report, "quiet": &s.Quiet, "v": &s.Verbose, "attached": &s.Attached,
	} {
		switch at := setting.(type) {
		case *string:
			f.StringVar(at, name, *at, "")
		case *int:
			f.IntVar(at, name, *at, "")
		case *uint64:
			f.Uint64Var(at, name, *at, "")
		case *float64:
			f.Float64Var(at, name, *at, "")
		case *bool:
			f.BoolVar(at, name, *at, "")
		case flag.Value:
			f.Var(at, name, "")
		}
	}
	f.TextVar(&s.Matrix, "curvature", s.Matrix, "")
	f.BoolFunc("explain-model", "", func(text string) error { // a flag without a value has "true"
		s.ExplainModel = map[string]string{"true": "text", "text": "text", "dot": "dot"}[text]
		if s.ExplainModel == "" && text != "false" {
			return errors.New("must be text or dot")
		}
		return nil
	})
	f.Explain(strings.NewReplacer("{presets}", presetNames(presets), "{methods}", strings.Join(algo.Names(), ", "),
		"{graphs}", strings.Join(network.Names(), ", "), "{transports}", transportHelp(), "{private}",
		privatePreset().Name, "{results}", runs.Results).Replace(usages))
}

// resolve fills in the preset for all flags that were not given, makes the graph of the flags where
// g is nil, gives it the mixing of -mix, and reports the first setting that cannot work whatever
// the data.
func (j *Job) resolve(g *network.Graph) (parameters, *network.Graph, error) {
	p, err := j.resolveParameters()
	if err == nil && g == nil {
		g, err = j.Settings.network()
	}
	if err != nil {
		return p, nil, err
	}
	w, err := j.Settings.mixing(p.method, g.W)
	return p, &network.Graph{Name: g.Name, W: w}, err
}

// resolveParameters is resolve without the graph. The order matters: differential privacy overrides
// some of the preset's settings, and the task's number of agents comes last, as it may read files.
func (j *Job) resolveParameters() (p parameters, err error) {
	s := j.Settings
	preset, err := j.preset()
	if err != nil {
		return p, err
	}
	preset.fill(s)
	if err := s.applyPrivacy(); err != nil {
		return p, err
	}
	if p, err = s.parameters(preset.Method); err == nil {
		err = s.validate(p.method)
	}
	if err != nil {
		return p, err
	}
	if j.Task.Agents != nil && !s.given["agents"] {
		var n int
		n, err = j.Task.Agents()
		s.Agents = cmp.Or(n, s.Agents)
	}
	return p, errors.Join(err, agentsFlag{s}.check(j.Task))
}

// preset returns the preset that -preset names. Without -preset it is the preset for the method
// that -algorithm names, else the private one for a run with differential privacy, else the task's
// choice. Settings.Preset becomes its name.
func (j *Job) preset() (Preset, error) {
	s := j.Settings
	switch {
	case s.given["preset"]:
	case s.given["algorithm"]:
		p := j.presetFor(s.Algorithm)
		s.Preset = p.Name
		return p, nil
	case s.Epsilon != 0:
		s.Preset = privatePreset().Name
	case j.Task.Preset != nil:
		s.Preset = cmp.Or(j.Task.Preset(), s.Preset)
	}
	i := slices.IndexFunc(j.presets, func(p Preset) bool { return p.Name == s.Preset })
	if i < 0 {
		return Preset{}, dsbo.ConfigErrorf("-preset must be %s; it is %s",
			presetNames(j.presets), s.Preset)
	}
	return j.presets[i], nil
}

// presetFor returns the first of these presets that exists: the one made for a method; for a method
// for one agent, one made for another such method; the first of the task's own; tuned, which is the
// first of all.
func (j *Job) presetFor(method string) Preset {
	i := slices.IndexFunc(j.presets, func(p Preset) bool { return algo.NameOf(p.Method) == method })
	if m, err := algo.New(method); i < 0 && err == nil && algo.TraitsOf(m).OneAgent {
		i = slices.IndexFunc(j.presets, func(p Preset) bool { return algo.TraitsOf(p.Method).OneAgent })
	}
	if i < 0 {
		i = min(1, len(j.Task.Presets))
	}
	return j.presets[i]
}

// validate returns an error for the first setting that cannot work with any data. Conditions are
// negated ranges, so that NaN fails them. The method's Init, for p = q = 1, checks its parameters.
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

// averaging returns how agents find averages and how numbers travel. Error feedback adds the
// rounding error of a value to the next value of the same variable; on int8 only methods with one
// loop use it, as with several loops the error would arrive many values later, as noise. The wire
// is checked, also if the method does not need averages.
func (s *Settings) averaging() (network.AverageOptions, error) {
	o := network.AverageOptions{Seed: s.Seed, Mixed: network.Mixed}
	if err := o.Wire.UnmarshalText([]byte(s.Wire)); err != nil {
		return o, dsbo.ConfigErrorf("-wire must be float64, float32, bf16 or int8; it is %s", s.Wire)
	}
	m, err := algo.New(s.Algorithm)
	if err != nil {
		return o, fmt.Errorf("-algorithm: %w", err)
	}
	o.ErrorFeedback = o.Wire == network.BF16 || o.Wire == network.Int8 && algo.TraitsOf(m).OneLoop
	if algo.TraitsOf(m).Dense != nil {
		o.Mixed = network.Matrices
	}
	return o, nil
}

// ExchangeWire returns the wire of exchanges, after the preset has been filled in.
func (s *Settings) ExchangeWire() network.Wire {
	o, _ := s.averaging() // which has been checked
	return o.Wire
}

// network makes the graph of the flags and sets Settings.Agents to its size. Without -agents a
// graph file decides the size. The default of -w is for rings; for other graphs it becomes 0, by
// which they choose their own weights.
func (s *Settings) network() (*network.Graph, error) {
	n := s.Agents
	if strings.HasSuffix(s.Graph, ".json") && !s.given["agents"] {
		n = 0 // the file's
	}
	if s.Graph != "ring" && !s.given["w"] {
		s.W = 0
	}
	g, err := network.New(s.Graph, n, network.Options{W: s.W, Prob: s.Prob, Seed: s.Seed})
	if err != nil {
		return nil, err
	}
	s.Agents = g.W.N()
	return g, nil
}

// choosePreset sets the flags of the chosen preset that the command line omits. Settings.given has
// the command line's flags while the preset is chosen, and the preset's too afterwards. An unknown
// preset is no error here: resolveParameters reports it.
func (j *Job) choosePreset(f *cli.Flags) error {
	if err := j.chooseModel(f); err != nil {
		return err
	}
	j.Settings.given = f.Given()
	p, err := j.preset()
	if err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.Flags)) {
		if !j.Settings.given[name] {
			if err := f.Set(name, p.Flags[name]); err != nil {
				return err
			}
		}
	}
	j.Settings.given = f.Given()
	return nil
}

// chooseModel sets an omitted -model to the first one that the preset of -preset is made for, and
// returns an error if -model is none of these.
func (j *Job) chooseModel(f *cli.Flags) error {
	given := f.Given()
	i := slices.IndexFunc(j.presets, func(p Preset) bool { return p.Name == j.Settings.Preset })
	if !given["preset"] || i < 0 || j.presets[i].Models == nil { // i < 0: unknown, an error later
		return nil
	}
	fits := j.presets[i].Models
	if !given["model"] {
		return f.Set("model", fits[0])
	}
	if model := f.Lookup("model").Value.String(); !slices.Contains(fits, model) {
		return dsbo.ConfigErrorf("-preset %s is made for -model %s; it is %s", j.Settings.Preset,
			strings.Join(fits, " or "), model)
	}
	return nil
}
