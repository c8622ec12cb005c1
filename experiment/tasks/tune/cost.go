package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// A missCost is the flag -cost: what a missed example of a class costs, in false alarms.
type missCost struct {
	class string
	cost  float64
}

// String implements flag.Value.
func (c *missCost) String() string {
	if c.class == "" {
		return ""
	}
	return c.class + "=" + strconv.FormatFloat(c.cost, 'g', -1, 64)
}

// Set implements flag.Value.
func (c *missCost) Set(text string) error {
	i := strings.LastIndexByte(text, '=')
	if i < 1 {
		return fmt.Errorf("it must be a class and what missing it costs, such as ill=5; it is %q", text)
	}
	v, err := strconv.ParseFloat(text[i+1:], 64)
	if err != nil || !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("the cost must be a positive number of false alarms; it is %q", text[i+1:])
	}
	*c = missCost{text[:i], v}
	return nil
}

// check returns the number of the class in a target.
func (c missCost) check(t features.Target) (k int, err error) {
	if t.Kind != features.Class {
		return 0, dsbo.ConfigErrorf("-cost is for classes; the target %s is a %s", t.Name, t.Kind)
	}
	if k = slices.Index(t.Classes, c.class); k < 0 {
		return 0, dsbo.ConfigErrorf("-cost must name a class of %s, which are %s; it is %s", t.Name,
			strings.Join(t.Classes, ", "), c.class)
	}
	return k, nil
}

// addThreshold chooses the threshold of -cost on the validation rows, and adds its result on the
// test rows, whose counts are given.
func (t judge) addThreshold(a *runs.Assessment, test assessor) error {
	if t.cost.class == "" {
		return nil
	}
	target := t.prepared.Recipe.Target
	k, err := t.cost.check(target)
	if err != nil {
		return err
	}
	parts, err := t.validators()
	if err != nil {
		return err
	}
	all := newAssessor(target)
	if err := t.sumCounts("counts of validation predictions", all, assessor.Numbers, func(i int, own assessor) {
		validation := t.prepared.Data.Shards[i].Val
		for row, x := range eachRow(validation) {
			for fold, part := range parts {
				if len(parts) == 1 || validation.Weight.At(row, fold) > 0 { // the row is not of the fold's training
					own.addRow(part.PredictFeatures(x.places, x.values), validation, row, counting)
				}
			}
		}
	}); err != nil {
		return err
	}
	chosen, on := all.(classAssessor), test.(classAssessor)
	h := &runs.Threshold{Class: t.cost.class, Cost: t.cost.cost, Probability: chosen.Threshold(k, t.cost.cost),
		Chosen: chosen.Examples()}
	h.Own, h.Others = on.At(k, 0)
	h.At.Found, h.At.Alarms = on.At(k, h.Probability)
	for of, row := range on.Confusion() {
		if of == k {
			h.Likeliest.Found = row[k]
		} else {
			h.Likeliest.Alarms += row[k]
		}
	}
	a.Threshold = h
	return nil
}

// validators returns models that have not seen the validation rows: the one that is made, or with
// cross-validation the model of each fold, at the λ that is kept.
func (t judge) validators() (parts []*modelfile.Model, err error) {
	of, ys := t.m.(models.Layered), t.run.Parts
	if len(ys) == 0 { // the run has not kept the models of folds
		one, ok := t.m.(models.Linear)
		if t.prepared.Folds == 0 || !ok {
			return []*modelfile.Model{t.made}, nil
		}
		if p, _ := one.Dims(); p != len(t.run.X) { // a structure was chosen: λ has an entry for each feature
			one.Penalties = models.PerFeature{}
		}
		folds := models.Folds{Of: one, Count: t.prepared.Folds}
		solved, err := t.run.Solve(t.prepared.Data, folds, t.run.X)
		if err != nil {
			return nil, err
		}
		for k := range folds.Count {
			weights, intercepts := folds.Fold(solved.Y, k)
			ys = append(ys, slices.Concat(weights, intercepts))
		}
	}
	parts = make([]*modelfile.Model, len(ys))
	for k, y := range ys {
		if parts[k], err = modelfile.New(t.prepared.Recipe, of, y, t.made.Origin); err != nil {
			return nil, err
		}
	}
	return parts, nil
}
