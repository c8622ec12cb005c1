package main

import (
	"flag"
	"fmt"
	"path/filepath"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
	"dsbo/table"
)

// cellars is the task: agent i has the wines of the file agent-i.csv.
type cellars struct{ folder string }

func (*cellars) Name() string { return "wine" }

func (*cellars) About() string {
	return `tune one log-penalty for each measurement of wines that lie in several cellars

Each agent reads the file of its own cellar: half of its wines are for training, the others for validation.`
}

func (c *cellars) Flags(f *flag.FlagSet) {
	f.StringVar(&c.folder, "data", "data", "`folder` of the files agent-0.csv, agent-1.csv, ...")
}

func (*cellars) Presets() []experiment.Preset {
	return []experiment.Preset{{
		Name: "oneloop", DType: "float64", K: 400,
		Method: &oneLoop{Alpha: 0.5}, // beta follows the curvature
	}}
}

// Load reads the files of the agents that are in this process, and no others.
func (c *cellars) Load(a experiment.Agents) (task data.Task, m models.Model, err error) {
	task.Shards = make([]data.Shard, a.N)
	for _, i := range a.Here {
		t, err := table.Open(filepath.Join(c.folder, fmt.Sprintf("agent-%d.csv", i)), table.Options{})
		if err != nil {
			return task, nil, err
		}
		wines, err := examples(t)
		if err != nil {
			return task, nil, err
		}
		half, err := data.NewTask(wines, data.Examples{}, data.Split{Agents: 1, Seed: a.Seed})
		if err != nil {
			return task, nil, err
		}
		task.Features, task.Shards[i] = half.Features, half.Shards[0]
		task.Shards[i].Train.ID = nil // numbers of the wines in this cellar alone
	}
	return task, ridge{task.Features}, nil
}

// examples are the rows of a table: its last column is the quality of a wine, which the others are to tell.
func examples(t *table.Table) (data.Examples, error) {
	features := len(t.Columns) - 1
	x, quality := make([]float64, 0, t.Rows()*features), make([]float64, 0, t.Rows())
	for row := range t.Rows() {
		for j, c := range t.Columns {
			if c.Kind != table.Number || c.Missing(row) {
				return data.Examples{}, &table.FileError{File: t.Name, Column: c.Name, Reason: "each wine must have a number here"}
			}
			if j < features {
				x = append(x, float64(c.Number(row)))
			} else {
				quality = append(quality, float64(c.Number(row)))
			}
		}
	}
	measured, err := ad.FloatTable(t.Rows(), features, x)
	if err != nil {
		return data.Examples{}, err
	}
	target, err := ad.FloatTable(t.Rows(), 1, quality)
	return data.Examples{X: measured, Target: target}, err
}
