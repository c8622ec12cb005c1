// Package plan says what a run will send and need before it is run: each quantity that is made of
// an agent's data and leaves it, how often it does, and who sees it; from these the bytes
// and messages of a run, and the memory of a site.
//
// [New] makes the [Plan] of a [Run]; experiment.Job.Plan makes both for a command line. Where
// numbers depend on what a run finds they are a [Range], with what is usual on the tasks of this
// module, until a [Pilot] has found them out.
//
// What travels in iterations is listed by the method's own Cost (iterations.go), what records send
// in records.go, what models at the end send in models.go. What a quantity costs on the way is
// known to package network alone.
package plan
