package main

import (
	"flag"
	"fmt"
	"path/filepath"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
)

// cellars is the task: agent i has the wines of the file agent-i, of a format that package table knows, or of our own.
type cellars struct{ folder string }

func (*cellars) Name() string { return "wine" }

func (*cellars) About() string {
	return `tune one log-penalty for each measurement of wines that lie in several cellars

Each agent reads the file of its own cellar: half of its wines are for training, the others for validation.`
}

func (c *cellars) Flags(f *flag.FlagSet) {
	f.StringVar(&c.folder, "data", "data", "`folder` of the files agent-0.csv, agent-1.csv, ..., of any format")
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
		wines, err := readWines(filepath.Join(c.folder, fmt.Sprintf("agent-%d.*", i)))
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
