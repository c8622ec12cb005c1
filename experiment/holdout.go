package experiment

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"dsbo/data"
	"dsbo/models"
)

// Without -holdout, a tenth of the validation examples is held out if all agents together have
// enough of them, each has some, and they are not many more than the training examples: otherwise λ
// gains more from a tenth more examples than it loses by over-fitting. If there are fewer of them,
// and few per hyperparameter, an unrestrained λ fits these examples alone: a fifth is held out, as
// long as it is enough for a judgement.
const (
	defaultHoldout  = 0.1
	leastValidation = 4000 // of all agents together
	leastOfAgent    = 20
	mostPerTraining = 2 // validation examples for each training example
	holdoutOfFew    = 0.2
	leastOfFew      = 200 // of all agents together
	enoughForEach   = 5   // validation examples for each hyperparameter
)

// defaultHoldoutOf returns the default share of held-out examples for a model: validation and
// training are the numbers of examples of all agents, and least the fewest validation examples of
// one agent. A prior on λ, with a deviation, restrains it as well as held-out examples do.
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

// chooseHoldout sets the share of held-out examples if -holdout names none: at the start of a run
// by all agents' numbers of validation and training examples, in a resumed run from the run folder.
// Agents that joined the run later do not count, so that all choose the same.
func (r *run) chooseHoldout(ctx context.Context, at beginning, l *loaded) error {
	if r.settings.holdoutNamed {
		return nil
	}
	if models.IsCompositional(l.model) { // Φ is no mean over examples, so that single ones do not judge x
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
