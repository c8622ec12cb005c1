package candidates

import (
	"context"

	"dsbo/models"
	"dsbo/train"
)

// Levels is the strategy for the sites' own levels ([models.Level]).
type Levels struct {
	Rows  float64 // training rows of all sites; 0: sites have one level
	Sites int     // of whose losses g is the mean
	// Strength is the number of rows of curvature 1 that weigh as much as the prior of a site's
	// level; 0: not chosen yet.
	Strength      float64
	Slopes        []int   // features that may have a slope of each site's own too; nil: none
	SlopeStrength float64 // as Strength, of slopes; 0: sites have none yet
	Always        bool    // whatever the folds' verdict
}

// LevelStrengths are tried.
var LevelStrengths = []float64{.1, 1, 10, 100}

// Of returns a linear model with these levels, of a share of the rows.
func (l Levels) Of(m models.Linear, share float64) models.Linear {
	if each := float64(l.Sites) / (l.Rows * share); l.Strength > 0 {
		m.Level.Ridge = l.Strength * each
		if l.SlopeStrength > 0 {
			m.Level.Slopes, m.Level.SlopeRidge = l.Slopes, l.SlopeStrength*each
		}
	}
	return m
}

// WithLevels returns the models of the parts of one penalty for all, at the strength that suits
// models with one level, where c has levels, and the criterion by which they are judged.
func (s *Structures) WithLevels(ctx context.Context, c CrossFit) (parts train.Fit, criterion float64, err error) {
	f, err := c.newCrossFit(ctx)
	if err != nil {
		return parts, 0, err
	}
	one := *s.List[0]
	t, err := f.at(&one, one.Strength, one.y, partsTol(f.rows))
	return f.crossFitted(t.y), t.criterion(), err
}

// One returns the strength of one penalty for all.
func (s *Structures) One() float64 { return s.List[0].Strength }
