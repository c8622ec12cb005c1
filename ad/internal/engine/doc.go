// Package engine compiles values and the steps between them into plans, and runs the plans. It
// knows nothing of derivatives: package ad hands it each node of a graph as an [Op], which declares
// the kernel's use of batch rows and of its inputs' memory.
//
// A [Template] is what is compiled once and shared by many programs: values, steps, and for each
// set of outputs a [Plan] with the layout of its values in scratch memory. A [Machine] has the
// numbers of one program and runs plans over them; its vectors x, y and v and its scratch memory
// are of a [Workspace], which programs share.
//
// Reading order: op.go and rows.go are what goes in. graph.go has values and steps; plan.go orders
// steps into stages and passes over tiles of the batch; strips.go cuts passes into strips of rows;
// tail.go, series.go and layout.go decide where values lie; keep.go decides what stays between
// runs; template.go ties them together. slot.go and machine.go have the numbers, run.go runs plans,
// wave.go shares a pass between processors, and units.go runs a plan for many vectors at once.
//
// # Why not Gorgonia's machines
//
// They interpret a graph node by node: a product of a network of dense layers takes them some 9
// times as long (ad/gorgonia.md). They share neither programs nor scratch memory between the agents
// of a process, and fix no order of sums, on which equal bits on all machines rest.
package engine
