package experiment

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"dsbo/data"
	"dsbo/models"
)

// Rules for the share of held-out examples without -holdout. A tenth is held out if all agents
// together have enough validation examples, each has some, and they are not many more than the
// training examples; otherwise λ would gain more from that tenth than it loses by over-fitting.
// With fewer examples, and few for each hyperparameter, λ without a prior over-fits badly: a fifth
// is held out, unless it would be too small to judge by.
const (
	defaultHoldout  = 0.1
	leastValidation = 4000 // of all agents together
	leastOfAgent    = 20
	mostPerTraining = 2 // validation examples for each training example
	holdoutOfFew    = 0.2
	leastOfFew      = 200 // of all agents together
	enoughForEach   = 5   // validation examples for each hyperparameter
)

// defaultHoldoutOf returns the share of held-out examples for a model by the rules above.
// validation and training count the examples of all agents, and least is the fewest validation
// examples of one agent. A model whose λ has a prior (Restraint with a deviation) needs none of the
// second rule.
func defaultHoldoutOf(validation, training, least float64, m models.Model) float64 {
	p, _ := m.Dims()
	of, ok := m.(models.Restrained)
	restrained := ok && of.Restraint().Deviation > 0
	switch {
	case least < leastOfAgent:
		return 0
	case validation >= leastValidation && validation <= mostPerTraining*training:
		return defaultHoldout
	case leastOfFew <= validation && validation < leastValidation &&
		validation < enoughForEach*float64(p) && !restrained:
		return holdoutOfFew
	}
	return 0
}

// holdoutFlag is the flag -holdout: a share, or auto.
type holdoutFlag struct{ *Settings }

// String implements flag.Value. Package flag asks the zero value too.
func (f holdoutFlag) String() string {
	if f.Settings == nil || !f.holdoutNamed {
		return "auto"
	}
	return strconv.FormatFloat(f.Holdout, 'g', -1, 64)
}

// Set implements flag.Value.
func (f holdoutFlag) Set(text string) (err error) {
	if f.holdoutNamed = text != "auto"; !f.holdoutNamed {
		return nil
	}
	if f.Holdout, err = strconv.ParseFloat(text, 64); err != nil {
		return fmt.Errorf("it must be a number or auto; it is %q", text)
	}
	return nil
}

// chooseHoldout sets the share of held-out examples unless -holdout gives it. At the start of a run
// it follows from the numbers of examples of the starting agents, so that agents that join later
// choose the same; a resumed run takes it from the run folder. Compositional problems hold nothing
// out: Φ is no mean over examples, so that single examples cannot judge x.
func (r *run) chooseHoldout(ctx context.Context, at beginning, l *loaded) error {
	if r.settings.holdoutNamed {
		return nil
	}
	if models.IsCompositional(l.model) {
		r.settings.Holdout = 0
		return nil
	}
	if at.point != nil {
		c, err := r.folder.ReadConfig()
		r.settings.Holdout = c.Holdout
		return err
	}
	counts, err := gatherCounts(ctx, at.team, l.data.Shards[:r.settings.Agents], func(s data.Shard) []float64 {
		return []float64{float64(s.Val.Len()), float64(s.Train.Len())}
	})
	if err != nil {
		return err
	}
	all, training, least := 0.0, 0.0, math.Inf(1)
	for _, c := range counts {
		all, training, least = all+c[0], training+c[1], min(least, c[0])
	}
	r.settings.Holdout = defaultHoldoutOf(all, training, least, l.model)
	return nil
}
