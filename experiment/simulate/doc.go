// Package simulate runs whole agents in one process on virtual time, with faults that are drawn
// from a seed, and checks that they end as they must: each with the bits of a run in one process,
// or of the replay of its membership log; within a bounded time after the last fault; and with
// nothing left behind. An agent that comes when all others have finished may end without a result.
//
// Whole means: the job that the verb agent of dsbo runs (package experiment, with its checkpoints
// and its run folder), its sessions (package network/session) with TLS, certificates and masks,
// and a supervisor that starts it again. What is not the real thing is the wires
// (testkit.Network), the disk (testkit.Memory), the clock (testing/synctest), and the system's
// processes: an agent that is killed is cut off from its machine at once, and its goroutines end
// alone.
//
// A seed is a [Case]: the run's settings, how long everything takes, and its faults. Each number
// is drawn by name (seed, quantity, agent, moment), so that what one part of a run draws depends
// on no other. Goroutines that are ready at one moment run in an order that the Go scheduler
// chooses, and keys are random: these are not repeated. What becomes on its way of what is sent
// does not depend on them, and so a failing seed mostly fails again. Where members stay, two runs
// of a seed with one processor (GOMAXPROCS=1) have the same history to the millisecond,
// apart from what sessions log; where members change, moves follow from the keys.
package simulate
