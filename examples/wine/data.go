package main

import (
	"flag"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
	"dsbo/tables"
	"dsbo/tables/features"
)

// cellars is the task: agent i has the wines of the file agent-i, of any format of package tables.
type cellars struct {
	folder string
	recipe features.Recipe // of features, which all cellars have found together
}

// newTask returns the task, with a preset of the method of this program.
func newTask() experiment.Task {
	c := &cellars{}
	return experiment.Task{
		Name: "wine", About: `tune one log-penalty for each measurement of wines that lie in several cellars

Each agent reads the file of its own cellar: half of its wines are for training, a quarter
for validation, the others for the test.`,
		Flags: c.Flags, Load: c.Load, Fingerprint: c.Fingerprint, Finish: c.Finish,
		Presets: []experiment.Preset{{
			Name: "oneloop", DType: "float64", K: 400,
			Method: &oneLoop{Alpha: "0.5"}, // beta follows the curvature
		}},
	}
}

func (c *cellars) Flags(f *flag.FlagSet) {
	f.StringVar(&c.folder, "data", "data", "`folder` of the files agent-0.csv, agent-1.csv, ..., of any format")
}

// Load reads the files of the agents of this process, and makes features of their columns.
func (c *cellars) Load(a experiment.Agents) (task data.Task, m models.Model, err error) {
	wines := make([]*tables.Table, a.N)
	for _, i := range a.Local {
		path, err := c.file(i)
		if err != nil {
			return task, nil, err
		}
		if wines[i], err = tables.Open(path, tables.Options{}); err != nil {
			return task, nil, err
		}
	}
	sites := features.Sites{Tables: wines, Collective: a.Collective, Seed: a.Seed}
	found, err := features.Prepare(sites, features.Options{Target: "quality", Kind: features.Value,
		Split: features.DefaultShares, Rare: 1, Missing: features.MeanOfOthers})
	if err != nil {
		return task, nil, err
	}
	c.recipe = found.Recipe
	return found.Data, ridge{found.Data.Features}, nil
}
