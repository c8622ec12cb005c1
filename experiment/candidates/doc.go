// Package candidates finds the models among which a run chooses at its end: the model of the tuned
// λ, of constants for all entries of λ, and of baselines. A [Finder] solves the lower problem at
// each, by all agents together, or trains where solving is not what a method does.
//
// [Finder.Constants] looks for the best constant (constants.go). [Finder.Descent] goes downhill
// from there where a tuned x is worse (descent.go; downhill.go has the search), and
// [Finder.Backtrack] moves a tuned x that is worse than it back towards it, where the lower problem
// is not convex (backtrack.go).
package candidates
