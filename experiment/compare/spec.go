package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/files"
)

// A Spec is what is compared: every method on every task, for every seed, at the points of the
// method's grid.
type Spec struct {
	Title   string    // of the page; "": one is made of the tasks
	Tasks   []Task    // at least one
	Methods []Method  // at least one
	Seeds   []uint64  // of data and draws, at least one
	Flags   []string  // of every run, before its method's flags
	Choose  Criterion // by which the best point of a grid is the best
	Show    []Quantity
	Against []Cost
}

// A Task is a command line that names a task of the program, such as "synthetic -r=1".
type Task struct {
	Name   string   // heading, and folder
	Verb   string   // the task's name
	Flags  []string // its flags, and the flags of the run
	Target *float64 // the Φ (or other criterion) to which costs are counted; nil: the lowest that all methods reach
}

// A Method is a method with its flags, and a grid of those that are tried.
type Method struct {
	Name      string   // of its rows and lines
	Algorithm string   // its name in package algo; "": the task's default
	Flags     []string // with {NAME} where the value of the grid's axis of that name belongs
	Grid      Grid
	Trials    int      // points of the grid that may be tried, climbing from its middle; 0: all
	Tasks     []string // names of the tasks that it is for; nil: all
}

// isFor reports whether the method is for a task.
func (m Method) isFor(t Task) bool { return m.Tasks == nil || slices.Contains(m.Tasks, t.Name) }

// Example is a spec of five lines.
const Example = `{
  "tasks":   ["synthetic -r=1 -p=20", "mnist -train=250"],
  "methods": ["newtoncg", "madsbo_tuned", {"method": "dsoba -K=200", "grid": {"alpha": [0.01, 0.1, 1]}}],
  "seeds":   [1, 2, 3]
}`

// file is the JSON of a [Spec].
type file struct {
	Title   string   `json:"title" must:"a text"`
	Tasks   []task   `json:"tasks" must:"a list of tasks, each a command line such as \"synthetic -r=1\" or an object"`
	Methods []method `json:"methods" must:"methods, each a name with flags such as \"dsoba -K=200\" or an object"`
	Seeds   []uint64 `json:"seeds" must:"a list of whole numbers of at least 0"`
	Flags   []string `json:"flags" must:"a list of flags such as \"-wire=float32\""`
	Choose  string   `json:"choose" must:"phi, val_loss or holdout_loss"`
	Show    []string `json:"show" must:"a list of phi, phi_gap, val_loss, holdout_loss, test_loss and test_accuracy"`
	Against []string `json:"against" must:"a list of bytes, calls, seconds and iterations"`
}

type task struct {
	Task   string   `json:"task" must:"a command line such as \"synthetic -r=1\""`
	Name   string   `json:"name" must:"a text"`
	Target *float64 `json:"target" must:"a number"`
}

type method struct {
	Method string   `json:"method" must:"a name with flags such as \"dsoba -K=200\""`
	Name   string   `json:"name" must:"a text"`
	Grid   Grid     `json:"grid" must:"an object of lists of values, such as {\"alpha\": [0.01, 0.1, 1]}"`
	Trials int      `json:"trials" must:"a whole number"`
	Tasks  []string `json:"tasks" must:"a list of names of tasks"`
}

// UnmarshalJSON reads a command line, or an object.
func (t *task) UnmarshalJSON(data []byte) error { return textOr(data, &t.Task, t) }

// UnmarshalJSON reads a name with flags, or an object.
func (m *method) UnmarshalJSON(data []byte) error { return textOr(data, &m.Method, m) }

// textOr reads a text, or else an object.
func textOr(data []byte, text *string, object any) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
		return json.Unmarshal(data, text)
	}
	return files.StrictJSON(data, object)
}

// Read reads the spec in a file, whose name errors begin with.
func Read(path string) (*Spec, error) {
	data, err := os.ReadFile(path)
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
// of objects, which have a name of their own, tasks a target, and methods a grid. Left out, seeds
// are 1 alone, choose is phi, show is phi and test_loss, and against is bytes, calls and seconds.
// Errors name the field, and match [dsbo.ErrConfig].
func Parse(data []byte) (*Spec, error) {
	f := file{Seeds: []uint64{1}, Choose: string(ByPhi), Show: []string{"phi", "test_loss"},
		Against: []string{"bytes", "calls", "seconds"}}
	if err := files.StrictJSON(data, &f); err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	s := &Spec{Title: f.Title, Seeds: f.Seeds, Flags: f.Flags, Choose: Criterion(f.Choose)}
	for _, t := range f.Tasks {
		words := strings.Fields(t.Task)
		if len(words) == 0 {
			return nil, dsbo.ConfigErrorf(
				`field "tasks": "task" must name a task, as in "synthetic -r=1"; it is %q`, t.Task)
		}
		s.Tasks = append(s.Tasks,
			Task{Name: cmp.Or(t.Name, strings.Join(words, " ")), Verb: words[0], Flags: words[1:], Target: t.Target})
	}
	for _, m := range f.Methods {
		words := strings.Fields(m.Method)
		if len(words) == 0 {
			return nil, dsbo.ConfigErrorf(
				`field "methods": "method" must name a method, as in "dsoba -K=200"; it is %q`, m.Method)
		}
		s.Methods = append(s.Methods, Method{
			Name: cmp.Or(m.Name, strings.Join(words, " ")), Algorithm: words[0], Flags: words[1:], Grid: m.Grid,
			Trials: m.Trials, Tasks: m.Tasks,
		})
	}
	for _, name := range f.Show {
		s.Show = append(s.Show, Quantity(name))
	}
	for _, name := range f.Against {
		s.Against = append(s.Against, Cost(name))
	}
	return s, s.validate()
}
