// Package assess is what sites find together of a fitted model, by sums over their rows alone: how
// good its predictions are, which columns have an effect, and how survival times go on.
//
// # Measures
//
// Predictions are measured by counts that sites add up, so that none leaves its site: ROC curves,
// calibration and confusions of classes, residuals of numbers, deviances of counts, each measure
// with an [Interval]. An example counts as many rows as its weight.
//
// Each site fills in a [Classes], a [Residuals] or a [Counts]; the sums of their Numbers over all
// sites equal the Numbers of a site with all examples. Curves, and areas under them, are right to
// the width of a bin; all other measures are exact.
//
// # Effects
//
// [Effects] are of each column of several sites' tables on the prediction, with intervals of 95 %
// coverage, and a test whether any column has one.
//
// The intervals are of a fit of their own, which no penalty pulls towards 0: by least squares, or
// with Jeffreys' prior (Firth 1993; Kosmidis, Firth 2009), which is nearly unbiased, and finite
// where classes separate. Each site has a level of its own, so that effects are within sites. Sites
// exchange only sums over their rows, after each has eliminated its level. The entry of a word that
// only one site has is of that site's rows alone, since other sites add 0.
//
// [NewEffects] chooses the columns, [Effects.Chance] tests whether any of them has an effect, and
// [Effects.Fit] finds the effects with their errors.
//
// # Survival times
//
// A [Baseline] hazard follows from events and time at risk in bins of a grid that pooled counts
// alone shape, so that no time of a row leaves its site. Libraries put a step at each event time of
// the pooled rows, which shows these times.
package assess
