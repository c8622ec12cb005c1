package tune

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/candidates"
	"dsbo/internal/num"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// checkLevels refuses what sites cannot have a level of their own with, by name.
func checkLevels(t *tune) error {
	if t.siteEffects == "off" {
		if t.siteSlopes != nil {
			return dsbo.ConfigErrorf("-site-slopes must be given with -site-effects intercept or auto")
		}
		return nil
	}
	for _, c := range []struct {
		refuses     bool
		flag, value string
	}{
		{kinds[t.kind] == features.Survival, "-task survival", ": each site is a stratum already"},
		{t.cost.class != "", "-cost", ", whose threshold is for one level"},
		{t.siteEffects == intercept && t.model == network, "-model mlp", ": levels are of a linear model"},
		{t.siteEffects == intercept && t.penalty != auto, "-penalty", ": the strength of levels is chosen with it"},
		{t.siteEffects == intercept && t.folds == "0", "-folds 0", ": folds choose how strong levels are"},
	} {
		if c.refuses {
			return dsbo.ConfigErrorf("-site-effects %s must not be given with %s%s", t.siteEffects, c.flag, c.value)
		}
	}
	return nil
}

// findSlopes returns the features of the columns of -site-slopes.
func findSlopes(t *tune) (all []int, err error) {
	for _, name := range t.siteSlopes {
		before := len(all)
		for j, f := range t.prepared.Recipe.Features() {
			if t.prepared.Recipe.Input(f.Input).Name == name && !slices.Contains(all, j) {
				all = append(all, j)
			}
		}
		if len(all) == before {
			return nil, dsbo.ConfigErrorf("-site-slopes must name columns that the model has, once; %s is none", name)
		}
	}
	slices.Sort(all)
	return all, nil
}

// findLevels returns the strategy for the sites' levels, and prepares the validation rows for them.
// If auto cannot try levels, there are none, and the reason is logged.
func findLevels(t *tune, a experiment.Agents) (l candidates.Levels, err error) {
	why := ""
	switch {
	case t.siteEffects == "off":
		return l, nil
	case t.sites < 2:
		why = "there are several sites"
	case t.shared != auto:
		why = "-penalty auto has folds"
	}
	switch {
	case why != "" && t.siteEffects == intercept:
		return l, dsbo.ConfigErrorf("-site-effects intercept can be given where %s", why)
	case why != "":
		a.Log("sites have one level: -site-effects auto tries others where %s", why)
		return l, nil
	}
	for i, s := range t.prepared.Data.Shards {
		if s.Train.Len() > 0 {
			t.prepared.Data.Shards[i].Val.Columns = append(slices.Clone(s.Val.Columns),
				data.Column{Name: models.LevelWeights, Table: s.Train.Weight})
		}
	}
	slopes, err := findSlopes(t)
	return candidates.Levels{Rows: float64(t.prepared.Rows[0]), Sites: t.sites, Slopes: slopes,
		Always: t.siteEffects == intercept}, err
}

// writeModels writes the models of the sites that are here, with a sentence on the level of each,
// and the model of all sites.
func writeModels(own map[int]*modelfile.Model, all *modelfile.Model, folder runs.Folder) error {
	for _, i := range slices.Sorted(maps.Keys(own)) {
		prefix, text := fmt.Sprintf("%s%d.", runs.OwnPrefix, i), levelText(i, all.Recipe().Target,
			own[i].Layers[0].Bias, all.Layers[0].Bias, slopeTexts(own[i], all)...)
		err := own[i].Write(folder, prefix)
		if err == nil {
			err = folder.WriteFile(prefix+runs.LevelFile, []byte(text+"\n"))
		}
		if err != nil {
			return err
		}
	}
	return all.Write(folder, "")
}

// levelText describes the difference of site i's level from the mean of all sites: for classes as
// the logarithm of the odds against the first one. slopes are the texts of its slopes.
func levelText(i int, target features.Target, own, mean []float64, slopes ...string) string {
	what := target.Name
	if target.Kind == features.Class {
		what += " (log-odds against " + target.Classes[0] + ")"
	}
	return fmt.Sprintf("The level of site %d in %s, beside that of all sites: %s. It has not left the site.", i, what,
		strings.Join(append(differences(target, own, mean, ""), slopes...), ", "))
}

// differences describes the differences of own from all, the weights of each output, in units of
// by.
func differences(target features.Target, own, all []float64, by string) (parts []string) {
	for k := range own {
		switch d := own[k] - all[k]; {
		case target.Kind == features.Class && k == 0:
		case target.Kind == features.Class:
			parts = append(parts, fmt.Sprintf("%+.3g for %s%s", d-(own[0]-all[0]), target.Classes[k], by))
		case target.Kind == features.Counts:
			parts = append(parts, fmt.Sprintf("%.3g times the counts%s", num.Exp(d), by))
		default:
			parts = append(parts, fmt.Sprintf("%+.3g%s", d*target.Deviation, by))
		}
	}
	return parts
}

// slopeTexts describes the differences of a site's slopes from the common ones.
func slopeTexts(own, all *modelfile.Model) (parts []string) {
	named := all.Recipe().Features()
	for j, f := range named {
		var slopes, common []float64
		for at := j; at < len(all.Layers[0].Weights); at += len(named) {
			slopes, common = append(slopes, own.Layers[0].Weights[at]), append(common, all.Layers[0].Weights[at])
		}
		if !slices.Equal(slopes, common) {
			by := " by a deviation of " + f.Name
			parts = append(parts, differences(all.Recipe().Target, slopes, common, by)...)
		}
	}
	return parts
}

// modelsOf returns the model y of all sites, and the models with which the sites that are here
// predict, by the rows that train it, times as many as train the folds; nil: sites have one level.
func modelsOf(t *tune, f experiment.FinishedRun, of models.Model, rows data.Task, times float64, y []float64,
	origin modelfile.Origin) (made *modelfile.Model, own map[int]*modelfile.Model, err error) {
	made, err = modelfile.New(t.prepared.Recipe, of.(models.Layered), y, origin)
	if err != nil || f.Levels.Strength == 0 {
		return made, nil, err
	}
	m := f.Levels.Of(of.(models.Linear), times)
	own = map[int]*modelfile.Model{}
	for i, s := range rows.Shards {
		levels, err := models.NewPrograms(m).Levels(s.Train, new(ad.Workspace))
		if err == nil && levels == nil { // the site is elsewhere
			continue
		}
		var its []float64
		if p, _ := m.Dims(); err == nil {
			its, err = levels.Own(make([]float64, p), y)
		}
		if err == nil {
			own[i], err = modelfile.New(t.prepared.Recipe, m, its, origin)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return made, own, addMeanSlopes(f, &made.Layers[0], own)
}

// addMeanSlopes adds the mean of the sites' slopes to the common ones. Penalties draw these to 0 as
// far as slopes of a site's own take their place, where a new site has none.
func addMeanSlopes(f experiment.FinishedRun, all *modelfile.Layer, own map[int]*modelfile.Model) error {
	if f.Levels.SlopeStrength == 0 {
		return nil
	}
	var places []int
	for _, j := range f.Levels.Slopes {
		for ; j < len(all.Weights); j += all.In {
			places = append(places, j)
		}
	}
	sums := make([]float64, len(places)+1)
	err := f.Collective.Sum("slopes of sites' own", sums, func(i int, part []float64) error {
		if own[i] != nil {
			for k, at := range places {
				part[k] = own[i].Layers[0].Weights[at] - all.Weights[at]
			}
			part[len(places)] = 1
		}
		return nil
	})
	all.Weights = slices.Clone(all.Weights)
	for k, at := range places {
		all.Weights[at] += sums[k] / sums[len(places)]
	}
	return err
}
