// Package data makes the private data of the agents: MNIST, the paper's synthetic task, the split
// of one data set over agents, and the draws of minibatches. A user's own files are tables:
// packages table and features.
//
// [LoadMNIST] gives [Examples]; [NewTask] splits them over agents, and [ShareMNIST] reads the
// examples of some agents alone; [Synthetic] makes a task from nothing, and [HoldOut] sets a part
// of any task's validation examples aside. A [Sampler] turns the name of a draw into row numbers.
//
// All that is random is a pure function of a seed and of what is drawn: PCG of math/rand/v2, whose
// output is fixed by its specification, seeded with a hash of the seed and the purpose. The same
// call gives the same data in every process, so that each agent can make its own.
//
// # Why no library
//
// Splits, draws and batches must have the same bits on every machine and after a resume, by names
// and not by the order in which they are asked for. Libraries of data sets draw from a stream,
// which a lost agent could not take up again.
package data
