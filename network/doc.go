// Package network has the graphs of agents, their mixing matrices W with the checks that the theory
// needs, and the exchange of vectors between agents.
//
// # Graphs
//
// [New] makes a graph by name ("ring", "star", ...) or from a JSON file, [FromEdges] one of given
// edges. Each comes with a valid mixing matrix: symmetric, doubly stochastic, non-negative and with
// ρ = max(|λ_2|, |λ_n|) < 1, the assumption on W in the paper. [Matrix.Validate] checks it.
//
// Two rules give the weights. With w = 0 they are the Metropolis weights,
//
//	w_ij = 1/(1 + max(d_i, d_j)) on an edge,   w_ii = 1 − Σ_{j≠i} w_ij,
//
// with d_i the number of neighbours of agent i; any connected graph will do. With 0 < w < 1 every
// agent keeps w and shares 1 − w evenly, w_ij = (1 − w)/d, which is the paper's W on the ring (d =
// 2); all agents must then have the same number of neighbours.
//
// # Graph files
//
// A file whose name ends in .json has one object, with either the edges,
//
//	{"agents": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 0]]}
//
// to which one of the two rules gives weights, or the matrix itself:
//
//	{"W": [[0.50, 0.25, 0.25],
//	       [0.25, 0.50, 0.25],
//	       [0.25, 0.25, 0.50]]}
//
// Lists of matrices are used in turn, one an iteration: {"sequence": [W, W, ...]} of symmetric ones
// ([Sequence]), and {"pull": [...], "push": [...]} of edges of one direction ([NewDirected]).
//
// Agents are counted from 0. An edge is named once, in either direction. "agents" is optional
// beside "W". Other fields, null, repeated fields, self loops, repeated edges and agents out of
// range are errors.
//
// # Exchange
//
// A [Team] is the agents of a run that are in this process, with their ways to the others: a
// program that is written for it runs over every transport. [Local] connects agents that are
// goroutines of one process; in package mpi they are on the ranks of an MPI job, and in package
// session each is a process. All give the same bits, because a sum runs over the agents in
// ascending order and each product is rounded before it is added; the conformance suite in
// networktest checks it. Agents of a [TurnTeam] that mix compute in turns, in an order that suits
// the caches.
//
// All transports mix by a [Combiner]. A [Mixing] other than [Plain] ([Failing], [Matchings] or
// [Listed]) has other weights in each iteration. The [Averager] knows them and sets the transport's
// combination, as it does with the codes of compressed vectors.
//
// # Averages
//
// [Averages] give all agents the exact mean of their vectors, the same bits on each, by two sums of
// whole numbers over a spanning tree ([Tree]) of the graph, about two vectors an agent whatever the
// graph is; a transport provides them as a [Reducer]. An [Averager] is an agent's end. Package
// session masks the terms of sums, so that nobody sees one alone; Mix shows an agent's vector to
// its neighbours.
//
// # Wires
//
// A [Wire] is the number of bits in which numbers travel. An [Averager] rounds to it, in Mix and in
// averages, with draws that have names where it rounds at random, so that a run that is resumed, or
// has another transport, has the same bits. [Wire.Encode], [Wire.Decode], [PackWords] and
// [UnpackWords] encode a transport's messages in the number of bytes that [Averager.Sent] counts.
//
// Wire Int8 has one float32 as the scale of 64 numbers. The exponent of the largest alone would
// take 3 bytes less, 65 and not 68, but make the unit up to 2 times as large, 1.47 times in the
// mean square where sizes are spread evenly: .56 bits a number lost for .38 saved.
//
// # How to write a transport
//
// A transport whose [Team] has these methods has the bits of one process: Mix, whose sums have the
// order of the agents' numbers; Reduce ([Reducer]), of whole numbers of all agents, to their sum
// mod 2^bits or the largest; Gather, for small things that are no data. What an agent sends of its
// data goes by Mix or Reduce, so that the tables of docs/privacy.md stay true.
//
// # Why no library
//
// Libraries of collectives, such as MPI's or Gloo, sum floats in an order that depends on the ranks
// and the transport, send all to all, and show each term. Here vectors travel along the edges of a
// graph, and sums are of whole numbers: the same bits on each transport, and terms can be masked.
package network
