package tune

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// An earlier run is the run of -from.
type earlier struct {
	folder  runs.Folder
	model   *modelfile.Model
	lambdas []runs.Penalty
	x, y    []float64 // start of this run; nil before Load. A nil y: the models have other layers or targets
}

// readEarlier reads the run of -from; nil: there is none.
func (t *tune) readEarlier(agent int) (*earlier, error) {
	if t.from == "" {
		return nil, nil
	}
	path, err := site.ExpandAddress(t.from, agent)
	if err != nil {
		return nil, dsbo.ConfigErrorf("-from %s: %w", t.from, err)
	}
	e := &earlier{folder: runs.Folder(path)}
	if e.model, err = modelfile.Read(e.folder.Path(runs.ModelFile)); err == nil {
		e.lambdas, err = e.folder.ReadLambdaTable()
	}
	if s, unread := e.folder.ReadSummary(); unread == nil && err == nil && s.KeepsLasso() {
		return nil, dsbo.ConfigErrorf("-from %s must be a run with penalties of squares; it has kept a lasso or an "+
			"elastic net, whose λ is another one", path)
	}
	if err != nil {
		return nil, dsbo.ConfigErrorf("-from must be the folder of a run of tune that has finished: %w", err)
	}
	return e, nil
}

// start is the task's Start.
func (t *tune) start() (x, y []float64) {
	if t.earlier != nil {
		y = t.earlier.y
	}
	return t.center, y
}

// prepareByEarlier prepares the sites' tables for a run with differential privacy by an earlier
// run's recipe, since the sums for a new recipe would reveal something of their rows.
func (t *tune) prepareByEarlier(a experiment.Agents, s features.Sites, o features.Options) (*features.Prepared, error) {
	e, err := t.readEarlier(a.Local[0])
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, dsbo.ConfigErrorf(
			"-dp-epsilon: -from must name a run of tune over rows that may be public, whose means, deviations, words " +
				"and classes are taken: " +
				"sums over the sites' own rows would have no noise")
	}
	if name := e.model.Recipe().Target.Name; name != t.target {
		return nil, dsbo.ConfigErrorf("-target must be that of -from, %s; it is %s", name, t.target)
	}
	return features.PrepareBy(s, e.model.Recipe(), o)
}

// startFromEarlier finds where a run of the model m starts by the earlier run of -from, which must
// be the same at all sites.
func (t *tune) startFromEarlier(a experiment.Agents, m models.Model) (err error) {
	if t.earlier == nil {
		return nil
	}
	e, layered, note := t.earlier, m.(models.Layered), ""
	e.x, note = e.startLambda(t.layering(len(layered.Layers())).names)
	a.Log("%s", note)
	if t.shared == auto { // one for all, from which the structures begin
		e.x = []float64{meanOf(e.x)}
	}
	if adapted := e.model.Adapted(t.prepared.Recipe); adapted != nil && adapted.KnowsAny() {
		e.y = startInFolds(t.inFolds(m), adapted.Y(layered))
	}
	if e.y == nil {
		a.Log("the model does not start at that of %s, which has other layers or features, or predicts something else",
			e.folder)
	} else {
		a.Log("the model starts at that of %s", e.folder)
	}
	if a.Private {
		return nil // λ and models that differ are averaged
	}
	return e.agree(a)
}

// agree returns an error if not all sites start at the same place.
func (e *earlier) agree(a experiment.Agents) error {
	digests, err := a.Collective.Texts("fingerprints of the start",
		func(int) (string, error) { return e.digest(), nil })
	if err != nil {
		return err
	}
	for i, d := range digests {
		if d != digests[0] {
			return dsbo.ConfigErrorf(
				"-from must be the same run at all sites; site %d starts elsewhere than site 0", i)
		}
	}
	return nil
}

func meanOf(all []float64) (mean float64) {
	for _, v := range all {
		mean += v / float64(len(all))
	}
	return mean
}

// startLambda returns the start of penalties with these names, and says which have no counterpart:
// these start at the mean of the others.
func (e *earlier) startLambda(names []string) (x []float64, note string) {
	of := map[string]float64{}
	for _, p := range e.lambdas {
		of[p.Name] = p.Lambda
	}
	var known []float64
	var added, dropped []string
	here := map[string]bool{}
	for _, name := range names {
		here[name] = true
		if v, ok := of[name]; ok {
			known = append(known, v)
		} else {
			added = append(added, name)
		}
	}
	for _, p := range e.lambdas {
		if !here[p.Name] {
			dropped = append(dropped, p.Name)
		}
		if len(added) == len(names) { // the mean of all, as none has a counterpart
			known = append(known, p.Lambda)
		}
	}
	mean := meanOf(known)
	for _, name := range added {
		of[name] = mean
	}
	for _, name := range names {
		x = append(x, of[name])
	}
	note = fmt.Sprintf("λ starts at that of %s", e.folder)
	if len(added) > 0 {
		note += fmt.Sprintf("; new ones start at %.3g, the mean of earlier ones (%d of %s): %s",
			mean, len(added), wording.Count(len(names), "penalty"), wording.Some(added))
	}
	if len(dropped) > 0 {
		note += fmt.Sprintf("; earlier ones that are not here (%d): %s", len(dropped), wording.Some(dropped))
	}
	return x, note
}

// findEarlier reads the run of -from, if there is one. Where that has found the same of its sites'
// tables, as of the same rows with the same seed, this run is to find the same model: it starts as
// without -from, and not at a solution, from which a search takes other steps.
func findEarlier(t *tune, a experiment.Agents, found []runs.Found) (e *earlier, err error) {
	if e, err = t.readEarlier(a.Local[0]); err != nil || e == nil || a.Private {
		return e, err
	}
	if there, err := e.folder.Has(runs.SetupFile); !there {
		return e, err
	}
	if setup, err := e.folder.ReadSetup(); err != nil || !begins(setup.Found, found) {
		return e, err
	}
	a.Log("%s is of the same rows and seed: the run is as without -from", e.folder)
	return nil, e.agree(a)
}

// begins reports whether a list begins with another one.
func begins(list, with []runs.Found) bool {
	return len(list) >= len(with) && slices.EqualFunc(list[:len(with)], with, func(a, b runs.Found) bool {
		return slices.Equal(a.Sum, b.Sum) && slices.Equal(a.Texts, b.Texts)
	})
}

// digest returns a digest of the start.
func (e *earlier) digest() string {
	h := sha256.New()
	for _, v := range [][]float64{e.x, e.y} {
		_ = binary.Write(h, binary.LittleEndian, v) // a hash takes all
		fmt.Fprintf(h, " %d\n", len(v))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
