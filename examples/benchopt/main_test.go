package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/models/modeltest"
)

// kinds are a small problem of each kind, with its arrays.
var kinds = map[string]struct {
	problem problem
	arrays  map[string]int // sizes
}{
	"logistic": {problem{Train: 12, Val: 6, P: 3, Q: 3, Features: 3},
		map[string]int{"x_train": 36, "x_val": 18, "x0": 3, "y0": 3}},
	"cleaning": {problem{Train: 12, Val: 6, P: 12, Q: 6, Features: 3, Classes: 2, Ridge: .2},
		map[string]int{"x_train": 36, "x_val": 18, "x0": 12, "y0": 6}},
	"quadratic": {problem{P: 2, Q: 3}, map[string]int{"inner_cross": 6, "inner_linear_inner": 3,
		"outer_cross": 6, "outer_linear_inner": 3, "outer_linear_outer": 2, "x0": 2, "y0": 3}},
}

// write writes a problem to a folder: arrays of unlike numbers, labels by turns, and Hessians that
// are multiples of 1.
func write(t *testing.T, kind string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	k := kinds[kind]
	k.problem.Kind = kind
	text, err := json.Marshal(k.problem)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	array := func(name string, size int, at func(i int) float64) {
		var b bytes.Buffer
		for i := range size {
			_ = binary.Write(&b, binary.LittleEndian, at(i)) // a buffer takes all
		}
		file(name+".f64", b.Bytes())
	}
	file("problem.json", text)
	for name, size := range k.arrays {
		array(name, size, func(i int) float64 { return math.Sin(float64((len(name) + i) * (i + 1))) })
	}
	for name, rows := range map[string]int{"t_train": k.problem.Train, "t_val": k.problem.Val} {
		array(name, rows, func(i int) float64 {
			return map[bool][]float64{true: {1, -1}, false: {0, 1}}[k.problem.Classes == 0][i%2]
		})
	}
	squares := map[string]int{"inner_hess_inner": k.problem.Q, "outer_hess_inner": k.problem.Q,
		"outer_hess_outer": k.problem.P}
	for name, n := range squares {
		array(name, n*n, func(i int) float64 { return float64(len(name)) / 8 * max(0, 1-float64(i%(n+1))) })
	}
	return folder
}

func TestTask(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			experimenttest.TestTask(t, newTask(), "-data="+write(t, kind))
		})
	}
}

func TestModels(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			p := &problem{folder: write(t, kind)}
			task, model, err := p.load(experiment.Agents{N: 1, Local: []int{0}})
			if err != nil {
				t.Fatal(err)
			}
			modeltest.TestModel(t, model, task.Shards[0])
		})
	}
}
