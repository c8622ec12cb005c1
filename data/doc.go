// Package data makes the agents' private data: MNIST, the paper's synthetic task, the split of one
// data set over agents, and the draws of minibatches. A user's own files are in packages tables and
// features.
//
// [LoadMNIST] gives [Examples]; [NewTask] splits them over agents, and [ShareMNIST] reads the
// examples of some agents alone; [Synthetic] makes a task from nothing, and [HoldOut] sets a part
// of any task's validation examples aside. A [Sampler] turns the name of a draw into row numbers.
//
// All randomness is a pure function of a seed and the purpose of the draw: math/rand/v2's PCG,
// whose output its specification fixes, seeded with a hash of both. The same call gives the same
// data in every process, so that each agent can make its own.
//
// # Why no library
//
// Splits, draws and batches must have the same bits on every machine and after a resume, so they
// depend on names and not on the order of calls. Libraries of data sets draw from a stream, which a
// restarted agent could not rejoin.
package data
