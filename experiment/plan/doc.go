// Package plan lists what a run sends before it is run: each quantity that is made of an agent's
// data and leaves it, how often it does, and who sees it. From these follow the bytes and messages
// of a run.
//
// [New] makes the [Plan] of a [Run]; experiment.Job.Plan makes both for a command line. What
// depends on what a run finds is a [Range], until a pilot has counted it: to foretell it takes the
// run itself.
//
// The method's own Cost lists what travels in iterations. What a quantity costs on the way is known
// to package network alone.
package plan
