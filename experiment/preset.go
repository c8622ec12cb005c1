package experiment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
)

// tunedPreset is the preset of every task, and its default: the same settings for any problem, size
// and graph. If the problem does not give the penalty's part of the Hessian, which the search for a
// start needs, x starts at -x0.
func tunedPreset() Preset {
	return Preset{
		Name: "tuned", Wire: "float32", K: 20, EvalEvery: 1, Patience: 2,
		Method: &algo.NewtonCG{Clip: []float64{-14, 12}}, // for methods named beside the preset
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

// ToTheLetter returns the flags of a preset that follows a publication exactly: no validation
// examples are held out, no search follows the iterations, and the last iterate is the result.
// others are the task's own.
func ToTheLetter(others map[string]string) map[string]string {
	flags := map[string]string{"holdout": "0", "rivals": "false"}
	maps.Copy(flags, others)
	return flags
}

// PaperPreset returns the preset of MA-DSBO as published, with steps that follow the curvature;
// others are the task's own flags for the publication's problem.
func PaperPreset(others map[string]string) Preset {
	return Preset{Name: "paper", DType: "float64", K: 100, Flags: ToTheLetter(others),
		Method: &algo.MADSBO{T: 10, N: 10, Alpha: "0.5", Beta: "auto", Gamma: "auto"}}
}

// presetsOf returns the presets of a task: tuned, the task's own, paper and madsbo_tuned unless the
// task has its own of these names, and private. madsbo_tuned is the method of private, without a
// budget of answers: with more steps of y and z, more momentum on z, and longer steps of x.
func presetsOf(t Task) []Preset {
	list := append([]Preset{tunedPreset()}, t.Presets...)
	tuned := algo.Clone(privatePreset().Method).(*algo.Tuned)
	tuned.T, tuned.N, tuned.MomZ, tuned.Lr = 20, 20, 0.9, "0.15*(1-k/K)"
	for _, p := range []Preset{
		PaperPreset(nil),
		{Name: "madsbo_tuned", DType: "float64", K: 60, Method: tuned},
	} {
		if !slices.ContainsFunc(list, func(own Preset) bool { return own.Name == p.Name }) {
			list = append(list, p)
		}
	}
	return append(list, privatePreset())
}

// fill sets all settings without a given flag to the preset's values. Two have further exceptions:
// the curvature matrix suits the preset's own method only, and -best-start chooses x0 itself.
func (p Preset) fill(s *Settings) {
	own, given := algo.NameOf(p.Method), s.given
	setDefault(&s.Algorithm, own, given["algorithm"])
	setDefault(&s.Batch, p.Batch, given["batch"])
	setDefault(&s.Iterations, p.K, given["K"])
	setDefault(&s.X0, p.X0, given["x0"] || s.X0Best)
	setDefault(&s.Matrix, p.Matrix, given["curvature"] || s.Algorithm != own)
	setDefault(&s.Patience, p.Patience, given["patience"])
	setDefault(&s.EvalEvery, p.EvalEvery, given["eval-every"])
	setDefault(&s.DType, cmp.Or(p.DType, "float32"), given["dtype"])
	setDefault(&s.Wire, cmp.Or(p.Wire, network.Float64.String()), given["wire"])
}

// PinnedFlags returns flags which, added to a task's command line, make all presets solve the same
// problem: -holdout=auto, and every task flag that the line omits and some preset changes, with its
// present value.
func PinnedFlags(t Task, args []string) ([]string, error) {
	j, err := Parse(t, args, io.Discard)
	if err != nil {
		return nil, err
	}
	var pinned []string
	if !j.Settings.given["holdout"] {
		pinned = []string{"-holdout=auto"}
	}
	for _, p := range j.presets {
		for name := range p.Flags {
			if value, own := j.Settings.taskFlags[name]; own && !j.Settings.given[name] {
				pinned = append(pinned, fmt.Sprintf("-%s=%v", name, value))
			}
		}
	}
	slices.Sort(pinned)
	return slices.Compact(pinned), nil // several presets may change the same flag
}

// setDefault sets a setting that was not given.
func setDefault[T any](setting *T, value T, given bool) {
	if !given {
		*setting = value
	}
}

// presetsHelp returns the help on presets: for each one a line of flags, and a line with its
// method's parameters as JSON.
func presetsHelp(presets []Preset) string {
	lines := []string{"Presets"}
	for _, p := range presets {
		params, _ := json.Marshal(p.Method) // its fields are numbers, texts and lists, which never fail
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
		for _, name := range slices.Sorted(maps.Keys(p.Flags)) {
			line += fmt.Sprintf(" -%s %s", name, p.Flags[name])
		}
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
