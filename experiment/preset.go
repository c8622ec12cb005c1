package experiment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/cli"
	"dsbo/network"
)

// tunedPreset is the preset of every task, and its default: the same settings whatever the problem,
// its size and the graph. Where the problem does not tell the penalty's part of the Hessian, by
// which the search for a start goes, x starts at -x0.
func tunedPreset() Preset {
	return Preset{
		Name: "tuned", Wire: "float32", K: 20, EvalEvery: 1, Patience: 5,
		Method: &algo.NewtonCG{Relative: true, DgEvery: 2, Cut: 1e-3, Most: 8, Reach: 0.9, Constants: 16,
			Clip: []float64{-14, 12}},
	}
}

// privatePreset is the preset of runs with differential privacy, for all tasks. Its method asks for
// gradients and products alone, as often as is known beforehand. More of them would have more noise
// each, and fewer leave y behind: on MNIST this is between.
func privatePreset() Preset {
	return Preset{
		Name: "private", DType: "float64", Wire: "float32", K: 20,
		Method: &algo.Tuned{
			T: 8, N: 4, Alpha: "0.5", Beta: "1/L", Gamma: "auto", WarmZ: true, TrackY: true, MomY: 0.9, ReuseB: true,
			XStep: "adam", Lr: "0.1*(1-k/K)", Clip: []float64{-6, 12},
		},
	}
}

// presetsOf returns the presets of a task but private: tuned, the task's own, and where these have
// none of the name, paper and madsbo_tuned with steps that follow the curvature.
func presetsOf(t Task) []Preset {
	list := append([]Preset{tunedPreset()}, t.Presets...)
	tuned := algo.Clone(privatePreset().Method).(*algo.Tuned)
	tuned.T, tuned.N, tuned.MomZ, tuned.Lr = 20, 20, 0.9, "0.15*(1-k/K)"
	for _, p := range []Preset{
		{Name: "paper", DType: "float64", K: 100,
			Method: &algo.MADSBO{T: 10, N: 10, Alpha: "0.5", Beta: "auto", Gamma: "auto"}},
		{Name: "madsbo_tuned", DType: "float64", K: 60, Method: tuned},
	} {
		if !slices.ContainsFunc(list, func(own Preset) bool { return own.Name == p.Name }) {
			list = append(list, p)
		}
	}
	return list
}

// allPresets returns all presets that -preset names, given the others.
func allPresets(others []Preset) []Preset { return append(slices.Clone(others), privatePreset()) }

// A Preset is a named set of defaults for -preset: a method, its parameters, and a few settings of
// the run.
type Preset struct {
	Name string // of -preset
	// values of the task's flag -model that it is made for, the first of them the default with it;
	// nil: any
	Models []string
	DType  string // the default of -dtype; "": float32
	Wire   string // the default of -wire; "": float64
	// Method holds the method's parameters. Schedules among them may be c/L, c*L or auto, which
	// follow the curvature L at the start; beta, gamma and lg do so too when they are left open.
	Method algo.Method
	K      int // outer iterations
	// EvalEvery is the default of -eval-every, 0 for its own.
	EvalEvery int
	Patience  int                  // the default of -patience
	X0        float64              // start of every entry of x, for methods that do not search for one
	Batch     int                  // the default of -batch
	Matrix    dsbo.CurvatureMatrix // the default of -curvature with the preset's own method
}

// chooseModel gives -model, where the command line leaves it out, the value that a preset it names
// is made for, and refuses others.
func (j *Job) chooseModel(f *cli.Flags) error {
	given := f.Given()
	i := slices.IndexFunc(j.presets, func(p Preset) bool { return p.Name == j.Settings.Preset })
	if !given["preset"] || i < 0 || j.presets[i].Models == nil { // a name that is unknown is refused later
		return nil
	}
	fits := j.presets[i].Models
	if !given["model"] {
		return f.Set("model", fits[0])
	}
	if model := f.Lookup("model").Value.String(); !slices.Contains(fits, model) {
		return dsbo.Errorf(dsbo.ErrConfig, "-preset %s is made for -model %s; it is %s", j.Settings.Preset,
			strings.Join(fits, " or "), model)
	}
	return nil
}

// fill sets the settings for which no flags were given to the preset's.
func (p Preset) fill(s *Settings, given map[string]bool) {
	own := algo.NameOf(p.Method)
	setDefault(&s.Algorithm, own, given["algorithm"])
	setDefault(&s.Batch, p.Batch, given["batch"])
	setDefault(&s.Iterations, p.K, given["K"])
	setDefault(&s.X0, p.X0, given["x0"])
	setDefault(&s.Matrix, p.Matrix, given["curvature"] || s.Algorithm != own)
	setDefault(&s.Patience, p.Patience, given["patience"])
	setDefault(&s.EvalEvery, p.EvalEvery, given["eval-every"])
	setDefault(&s.DType, cmp.Or(p.DType, "float32"), given["dtype"])
	setDefault(&s.Wire, cmp.Or(p.Wire, network.Float64.String()), given["wire"])
}

// setDefault sets a setting that was not given.
func setDefault[T any](setting *T, value T, given bool) {
	if !given {
		*setting = value
	}
}

// presetsHelp returns the presets and their settings, for the help.
func presetsHelp(presets []Preset) string {
	lines := []string{"Presets"}
	for _, p := range presets {
		params, err := json.Marshal(p.Method)
		if err != nil {
			params = []byte(err.Error())
		}
		line := "  " + p.Name + ":"
		if p.Models != nil {
			line += " -model " + p.Models[0]
		}
		line += fmt.Sprintf(" -algorithm %s -K %d -batch %d", algo.NameOf(p.Method), p.K, p.Batch)
		if p.X0 != 0 {
			line += fmt.Sprintf(" -x0 %g", p.X0)
		}
		if p.Matrix != dsbo.Hessian {
			line += fmt.Sprintf(" -curvature %v", p.Matrix)
		}
		line += fmt.Sprintf(" -dtype %s -wire %s", cmp.Or(p.DType, "float32"), cmp.Or(p.Wire, "float64"))
		lines = append(lines, line, "        "+string(params))
	}
	return strings.Join(lines, "\n")
}

// presetNames returns the names of the presets, for the help and errors.
func presetNames(presets []Preset) string {
	var names []string
	for _, p := range presets {
		names = append(names, p.Name)
	}
	return strings.Join(names, " or ")
}
