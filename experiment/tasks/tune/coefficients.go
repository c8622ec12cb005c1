package tune

import (
	"cmp"
	"math"
	"slices"

	"dsbo/data"
	"dsbo/experiment/site"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// Limits of coefficients: the most columns listed, and the most features for which columns are
// measured.
const (
	toldCoefficients = 10
	mostMeasured     = 4000
)

// A contrast is a coefficient: of a feature relative to its column's reference word, on a class
// relative to the reference class.
type contrast struct {
	feature, class int
	kept           float64 // by the kept model's weights
}

// addFeatures adds the features that matter most. For a linear model these are the coefficients of
// the columns with the largest weights in kept, which predicts, with intervals by a separate fit;
// for a network they are importances.
func (t judge) addFeatures(a *runs.Assessment, kept *modelfile.Model) error {
	if _, ok := t.m.(models.Linear); !ok {
		return t.addImportances(a)
	}
	t.made, a.Effects = kept, &runs.Effects{Rows: a.Made}
	fit, err := t.fitEffects(a.Effects)
	if err != nil {
		return err
	}
	chosen := t.largest(fit.Effects)
	var quantile float64
	var marked map[contrast]bool
	if fit.Refused == "" {
		quantile, marked = confidence(fit, chosen, a.Effects)
	}
	t.addCoefficients(a, fit, chosen, quantile, marked)
	return nil
}

// fitEffects fits the columns of the rows that made the model. It sets told's reason for having no
// fit, and its p value.
func (t judge) fitEffects(told *runs.Effects) (*assess.Fit, error) {
	tables := t.tables()
	fit := &assess.Fit{Effects: assess.Unmeasured(tables), Refused: unmeasured(t.prepared)}
	if fit.Refused == "" {
		e, err := assess.NewEffects(tables)
		if err != nil {
			return nil, err
		}
		told.Events = e.Events()
		if told.NoFeature, err = e.Chance(t.seed); err != nil {
			return nil, err
		}
		if fit, err = e.Fit(); err != nil {
			return nil, err
		}
	}
	told.Refused = fit.Refused
	return fit, nil
}

// confidence returns how many errors the intervals of the chosen coefficients reach to either side,
// and which of all coefficients are beyond chance.
func confidence(fit *assess.Fit, chosen []contrast, told *runs.Effects) (quantile float64, marked map[contrast]bool) {
	marked = map[contrast]bool{}
	var all []contrast
	var chances []float64
	for _, j := range fit.Told() {
		for _, k := range fit.Others() {
			all, chances = append(all, contrast{feature: j, class: k}), append(chances, fit.Chance(fit.Effect(j, k)))
		}
	}
	for k, beyond := range assess.BeyondChance(chances) {
		marked[all[k]] = beyond && !told.ByChance()
	}
	told.Of = len(all)
	for _, c := range chosen {
		if fit.Why[c.feature] == "" {
			told.Shown++
		}
	}
	return fit.Quantile(max(1, told.Shown), max(1, told.Of)), marked
}

// addCoefficients adds the chosen coefficients, and how much their columns give.
func (t judge) addCoefficients(a *runs.Assessment, fit *assess.Fit, chosen []contrast, quantile float64,
	marked map[contrast]bool) {
	r, scale := t.prepared.Recipe, 1.0
	if r.Target.Kind == features.Value {
		scale = r.Target.Deviation
	}
	for _, c := range chosen {
		column, unit := fit.Columns[c.feature], scale // unit: from deviations to the file's units
		one := runs.Coefficient{Feature: column.Name, Column: r.Input(column.Group).Name, Why: fit.Why[c.feature]}
		if !column.Level && !column.Blank {
			one.Deviation = r.Input(column.Group).Deviation
			unit /= one.Deviation
		}
		one.Value = runs.Number(c.kept * unit)
		if fit.Classes > 0 {
			one.Class, one.ReferenceClass = r.Target.Classes[c.class], r.Target.Classes[fit.Class]
		}
		one.Reference = one.ReferenceClass
		if ref := fit.Reference[c.feature]; ref >= 0 {
			one.Reference = fit.Columns[ref].Name
		}
		effect := assess.Effect{Value: math.NaN(), Error: math.NaN()}
		if fit.Refused == "" && one.Why == "" {
			effect = fit.Effect(c.feature, c.class)
			one.BeyondChance = marked[contrast{feature: c.feature, class: c.class}]
			isListed := slices.ContainsFunc(a.Effects.Columns, // by another of its levels or classes
				func(c runs.ColumnEffect) bool { return c.Column == one.Column })
			if !isListed && !column.Blank && !fit.IsEndless(column.Group) {
				v, low, high := fit.Importance(column.Group, quantile)
				a.Effects.Columns = append(a.Effects.Columns, runs.ColumnEffect{Column: one.Column,
					Value: runs.Number(v * scale), Low: runs.Number(low * scale), High: runs.Number(high * scale)})
			}
		}
		reach := float64(quantile * effect.Error)
		one.Estimate, one.Error = runs.Number(effect.Value*unit), runs.Number(effect.Error*unit)
		one.Low, one.High = runs.Number((effect.Value-reach)*unit), runs.Number((effect.Value+reach)*unit)
		a.Coefficients = append(a.Coefficients, one)
	}
	slices.SortStableFunc(a.Effects.Columns, func(a, b runs.ColumnEffect) int { return cmp.Compare(b.Value, a.Value) })
}

// unmeasured returns the reason why columns are not measured, "" if they are. It is the same at all
// sites.
func unmeasured(p *features.Prepared) string {
	switch n := len(p.Recipe.Features()); {
	case p.Rows[0] == 0: // nobody knows it
		return "differential privacy has no sums by which one could say how sure the coefficients are"
	case p.Recipe.Sparse != nil:
		return "how sure the coefficients of sparse columns are is not found"
	case n > mostMeasured:
		return "too many columns to say how sure the coefficients are"
	}
	return ""
}

// tables returns the rows of which the model is made, and the validation rows that chose its
// penalties, of all sites. Weights are the file's, which count rows where they are whole; those
// that balance classes change no effect.
func (t judge) tables() assess.Tables {
	all := tablesWithoutRows(t.tune)
	all.Sum = t.run.Collective.Sum
	for _, shard := range t.prepared.Data.Shards {
		parts := []data.Examples{shard.Train}
		if t.prepared.Folds == 0 {
			parts = append(parts, shard.Val)
		}
		var site assess.Site
		for _, e := range parts {
			for row := range e.Len() {
				site.Target = append(site.Target, targetOf(e, row))
				n := e.Rows(row)
				if all.Kind == assess.Hazard {
					n = rowsAt(e, row)
				}
				if t.prepared.Whole {
					site.Count = append(site.Count, n)
				} else {
					site.Weight = append(site.Weight, n)
				}
			}
		}
		site.Rows, site.Read = len(site.Target), reader(parts, len(all.Columns))
		all.Sites = append(all.Sites, site)
	}
	return all
}

// tablesWithoutRows returns the columns of the sites' tables, and what they are to predict.
func tablesWithoutRows(t *tune) assess.Tables {
	kinds := map[features.TargetKind]assess.Kind{features.Value: assess.Number, features.Class: assess.Class,
		features.Counts: assess.Count, features.Survival: assess.Hazard}
	r := t.prepared.Recipe
	return assess.Tables{Kind: kinds[r.Target.Kind], Classes: len(r.Target.Classes), Columns: columnsOf(r),
		Breslow: t.ties == breslow}
}

// reader returns a function that writes the features of rows to x, width numbers a row. Rows are
// numbered through one part or two.
func reader(parts []data.Examples, width int) func(from, to int, x []float64) {
	return func(from, to int, x []float64) {
		clear(x)
		var places []int32
		var values []float64
		for row := from; row < to; row++ {
			e, at := parts[0], row
			if n := e.Len(); row >= n {
				e, at = parts[1], row-n
			}
			places, values = e.X.Nonzero(places[:0], values[:0], at)
			for k, j := range places {
				x[(row-from)*width+int(j)] = values[k]
			}
		}
	}
}

// columnsOf returns the features as columns of effects.
func columnsOf(r features.Recipe) (list []assess.Column) {
	first := 0
	for j, f := range r.Features() {
		if j == 0 || f.Input != list[j-1].Group {
			first = j
		}
		in := r.Input(f.Input)
		_, missing, _ := in.Layout()
		list = append(list, assess.Column{Name: f.Name, Group: f.Input, Level: in.Kind == tables.Word,
			Blank: j-first == missing})
	}
	return list
}

// largest returns the contrasts of the columns whose kept weights are largest, in deviations of the
// features: whole columns, until there are toldCoefficients. Where a column is blank counts as one
// of its own.
func (t judge) largest(e *assess.Effects) (list []contrast) {
	// By the first column of a group: the largest weight, and the contrasts.
	sizes, of := make([]float64, len(e.Columns)), make([][]contrast, len(e.Columns))
	var groups []int // their first columns
	for j, c := range e.Columns {
		if n := len(groups); n == 0 || c.Blank || e.Columns[groups[n-1]].Group != c.Group {
			groups = append(groups, j)
		}
		g := groups[len(groups)-1]
		for _, k := range e.Others() {
			if kept := t.kept(e, j, k); kept != 0 {
				sizes[g] = max(sizes[g], math.Abs(kept)*e.Deviation[j])
				of[g] = append(of[g], contrast{j, k, kept})
			}
		}
	}
	slices.SortStableFunc(groups, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	for _, g := range groups {
		if len(list) < toldCoefficients {
			list = append(list, of[g]...)
		}
	}
	return list
}

// kept returns the contrast of column j on class k by the kept model's weights: relative to the
// reference class and, of a level, to the reference level of its word column, whose own contrast is
// 0. A missing word is relative to the mean of all levels, by their shares of the rows.
func (t judge) kept(e *assess.Effects, j, k int) (v float64) {
	layer := t.made.Layers[0]
	weight := func(j int) float64 {
		w := layer.Weights[k*layer.In+j]
		if e.Classes > 0 {
			w -= layer.Weights[e.Class*layer.In+j]
		}
		return w
	}
	v = weight(j)
	for l, c := range e.Columns {
		switch {
		case e.Reference[j] == l:
			v -= weight(l)
		case e.Columns[j].Blank && c.Level && !c.Blank && c.Group == e.Columns[j].Group:
			v -= float64(e.Share[l] * weight(l))
		}
	}
	return v
}

// effectSums returns what is sent to find coefficients, for a plan: not all of it where there are
// no intervals, or a network is kept.
func effectSums(t *tune) (list []site.Quantity) {
	if t.taken == network || unmeasured(t.prepared) != "" {
		return nil
	}
	for _, s := range tablesWithoutRows(t).Sums() { // none of it is certain
		list = append(list, site.Sum(s.Name, s.Length, site.Range{Most: s.Most}))
	}
	return list
}
