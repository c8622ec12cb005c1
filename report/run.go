package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"dsbo"
	"dsbo/data"
)

// A Run is what a run folder holds.
type Run struct {
	Name    string  // of the folder
	Config  Fields  // what was asked for, with seed, build and machine
	Metrics Metrics // how it went
	Summary Fields  // how it ended; nil if it has not
	Lambda  []float64
	Notes   []string // what was found odd in the folder, but not wrong
}

// Load reads a run folder: config.json and metrics.jsonl, and summary.json and lambda.npy if they are
// there. Unknown fields are kept. Anything missing or broken is an error of one line that names the
// file, and the line in it, and matches [dsbo.ErrConfig]; what a killed process may leave behind,
// a last line cut short, is dropped with a note.
func Load(dir string) (*Run, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%w: run folder %s: %w", dsbo.ErrConfig, dir, cause(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is a file: want the folder of a run", dsbo.ErrConfig, dir)
	}
	r := &Run{Name: filepath.Base(abs)}
	if r.Config, err = loadFields(dir, "config.json"); err != nil {
		return nil, err
	}
	if err := r.loadMetrics(dir); err != nil {
		return nil, err
	}
	r.Summary, err = loadFields(dir, "summary.json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.loadLambda(dir)
	return r, nil
}

// loadFields reads one JSON object.
func loadFields(dir, name string) (Fields, error) {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: run folder %s: %s: %w", dsbo.ErrConfig, dir, name, cause(err))
	}
	fields, err := parseFields(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", dsbo.ErrConfig, path, err)
	}
	return fields, nil
}

func (r *Run) loadMetrics(dir string) error {
	path := filepath.Join(dir, "metrics.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: run folder %s has no metrics: metrics.jsonl: %w", dsbo.ErrConfig, dir, cause(err))
	}
	var cut bool
	if r.Metrics, cut, err = parseMetrics(data); err != nil {
		return fmt.Errorf("%w: %s: %w", dsbo.ErrConfig, path, err)
	}
	if r.Metrics.rows == 0 {
		return fmt.Errorf("%w: run folder %s has no metrics: %s holds no whole evaluation", dsbo.ErrConfig, dir, path)
	}
	if cut {
		r.Notes = append(r.Notes, "The last line of metrics.jsonl is cut short and was left out: the run was stopped while writing it.")
	}
	return nil
}

// loadLambda reads the hyperparameters. They are worth a picture, not an error.
func (r *Run) loadLambda(dir string) {
	raw, err := os.ReadFile(filepath.Join(dir, "lambda.npy"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		r.Lambda, err = parseLambda(raw)
	}
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("lambda.npy is not shown: %v.", cause(err)))
	}
}

// parseLambda returns the numbers of an NPY file in order.
func parseLambda(raw []byte) ([]float64, error) {
	t, err := data.ReadNPY(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	values := make([]float64, 0, t.Rows()*t.Cols())
	for i := range t.Rows() {
		for j := range t.Cols() {
			values = append(values, t.At(i, j))
		}
	}
	return values, nil
}

// cause strips the path from an error of the file system: the caller says it better.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// value returns a number of the run's end: from its summary, else from the last evaluation that has it.
func (r *Run) value(key string) float64 {
	if v := r.Summary.Number(key); !math.IsNaN(v) {
		return v
	}
	return r.Metrics.Last(key)
}

// whole returns what the agents have spent of something together when the run ended, which is after the last
// evaluation where the run was interrupted.
func (r *Run) whole(key string) float64 {
	var agents []map[string]any
	if err := json.Unmarshal([]byte(r.Summary.Get("per_agent")), &agents); err != nil || len(agents) == 0 {
		return r.value(key)
	}
	sum := 0.0
	for _, a := range agents {
		v, ok := a[key].(float64)
		if !ok {
			return r.value(key)
		}
		sum += v
	}
	return sum
}
