package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/files"
)

// A Spec is what is compared: every method on every task, for every seed, at the points of the
// method's grid.
type Spec struct {
	Title string `json:"title" must:"a text"` // of the page; "": one is made of the tasks
	// each method runs on each of them, but for those that are for some alone
	Tasks []task `json:"tasks" must:"a list of tasks, each a command line such as \"synthetic -r=1\" or an object"`
	// of which no two have one name
	Methods []method `json:"methods" must:"methods, each a name with flags such as \"dsoba -K=200\" or an object"`
	// of data and draws, at least one
	Seeds []uint64 `json:"seeds" must:"a list of whole numbers of at least 0"`
	// how methods start: "constant", the default, at the best constant and its solution, which each
	// run finds before iteration 0 (-best-start); "given", as each method's flags and presets say
	Start string `json:"start" must:"constant or given"`
	// of every run, before its method's flags
	Flags []string `json:"flags" must:"a list of flags such as \"-wire=float32\""`
	// by which the best point of a grid is the best
	Choose quantity `json:"choose" must:"phi, val_loss or holdout_loss"`
}

// A task is a command line that names a task of the program, such as "synthetic -r=1".
type task struct {
	Name   string   // heading, and folder
	Verb   string   // the task's name
	Flags  []string // its flags, and the flags of the run
	Target *float64 // the Φ (or other criterion) to which costs are counted; nil: the lowest that all methods reach
	pinned []string // flags by which all methods solve one problem, whatever their presets
}

// A method is a method with its flags, and a grid of those that are tried.
type method struct {
	Name      string   // of its rows and lines
	Algorithm string   // its name in package algo; "": the task's default
	Flags     []string // with {NAME} where the value of the grid's axis of that name belongs
	Grid      grid
	Trials    int      // points of the grid that may be tried, climbing from its middle; 0: all
	Tasks     []string // names of the tasks that it is for; nil: all
}

// isFor reports whether the method is for a task.
func (m method) isFor(t task) bool { return m.Tasks == nil || slices.Contains(m.Tasks, t.Name) }

// Example is a spec of five lines.
const Example = `{
  "tasks":   ["synthetic -r=1 -p=20", "mnist -train=250"],
  "methods": ["newtoncg", "madsbo_tuned", {"method": "dsoba -K=200", "grid": {"alpha": [0.01, 0.1, 1]}}],
  "seeds":   [1, 2, 3]
}`

// UnmarshalJSON reads a command line, or an object.
func (t *task) UnmarshalJSON(data []byte) (err error) {
	var f struct {
		Task   string   `json:"task" must:"a command line such as \"synthetic -r=1\""`
		Name   string   `json:"name" must:"a text"`
		Target *float64 `json:"target" must:"a number"`
	}
	if err = textOr(data, &f.Task, &f); err == nil {
		t.Target = f.Target
		t.Verb, t.Name, t.Flags, err = commandLine("task", "synthetic -r=1", f.Task, f.Name)
	}
	return err
}

// UnmarshalJSON reads a name with flags, or an object.
func (m *method) UnmarshalJSON(data []byte) (err error) {
	var f struct {
		Method string   `json:"method" must:"a name with flags such as \"dsoba -K=200\""`
		Name   string   `json:"name" must:"a text"`
		Grid   grid     `json:"grid" must:"an object of lists of values, such as {\"alpha\": [0.01, 0.1, 1]}"`
		Trials int      `json:"trials" must:"a whole number"`
		Tasks  []string `json:"tasks" must:"a list of names of tasks"`
	}
	if err = textOr(data, &f.Method, &f); err == nil {
		m.Grid, m.Trials, m.Tasks = f.Grid, f.Trials, f.Tasks
		m.Algorithm, m.Name, m.Flags, err = commandLine("method", "dsoba -K=200", f.Method, f.Name)
	}
	return err
}

// commandLine splits a line into its first word and flags, with a name of its own or none.
func commandLine(field, example, line, own string) (first, name string, flags []string, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return "", "", nil, fmt.Errorf("%q must name a %[1]s, as in %[2]q; it is %[3]q", field, example, line)
	}
	return words[0], cmp.Or(own, strings.Join(words, " ")), words[1:], nil
}

// textOr reads a text, or else an object.
func textOr(data []byte, text *string, object any) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
		return json.Unmarshal(data, text)
	}
	return files.StrictJSON(data, object)
}

// Read reads the spec in a file, whose name errors begin with.
func Read(path string) (*Spec, error) {
	data, err := files.ReadFile(path)
	if err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Parse reads a spec, one JSON object as [Example] is one. Tasks and methods are lists of texts or
// of objects, which have a name of their own, tasks a target, and methods a grid. Left out,
// start is constant, seeds are 1 alone, and choose is phi.
// Errors name the field, and match [dsbo.ErrConfig].
func Parse(data []byte) (*Spec, error) {
	s := &Spec{Start: constantStart, Seeds: []uint64{1}, Choose: phi}
	if err := files.StrictJSON(data, s); err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	if s.Start == constantStart {
		s.Flags = append([]string{"-best-start"}, s.Flags...)
	}
	return s, s.validate()
}
