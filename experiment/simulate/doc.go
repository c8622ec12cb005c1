// Package simulate runs whole agents in one process on virtual time, with faults that are drawn
// from a seed, and says whether they end as they must: each with the bits of a run in one process,
// or with an error that names who is at fault; within a bounded time after the last fault; and with
// nothing left behind.
//
// Whole means: the job that the verb agent of dsbo runs (package experiment, with checkpoints,
// rollbacks and the wait for the others), its end of the exchange (package network/grpc) with TLS
// and certificates, its run folder, and a supervisor that starts it again. What is not the real
// thing is the wires (package memnet), the clock (testing/synctest), and the system's processes: an
// agent that is killed is cut off from its machine at once, and its goroutines end alone.
//
// In runs of tests members lie: they compute as all do, and send something else than they have to
// say (the table allLies). What shows of that must change no bit of those that are honest, and
// their errors must name a liar. drawQuickLies says of which runs many seeds are:
//
//	go run ./benchmarks/simulate -lies -from 40000000 -seeds 100000
//
// # What a seed repeats
//
// A seed is a [Case]: the run's settings, how long everything takes, and which faults come when.
// Each number is drawn by name (seed, quantity, agent, moment), never by order, so that what one
// part of a run draws depends on no other. Goroutines of one agent that are ready at one moment run
// in an order that the Go scheduler chooses, select statements choose at random, and TLS keys are
// random: these are not repeated. What becomes on its way of what is sent does not depend on them
// (see package memnet), and so a failing seed fails again: with one processor (GOMAXPROCS=1) two
// runs of a seed have the same [Result.Trace] to the nanosecond, apart from the order in which an
// agent notices at one moment that it has lost several connections. With more processors what
// happens at one moment may come out otherwise, such as which of two ends of a connection is
// refused; faults and the verdict are the same.
package simulate
