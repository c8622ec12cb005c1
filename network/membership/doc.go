// Package membership is the members of a run, and the iterations at which they change.
//
// The roster of a run is its agents 0..n-1, and those that are admitted later. A run is a sequence
// of epochs 0, 1, 2, ...: an [Epoch] has members, some of the roster, and edges of the roster's
// graph that it does without. All of the roster are members of epoch 0. Each later epoch begins
// with a [Change], one line of the membership log, which is the same at all agents:
//
//	{"epoch":1,"iteration":12,"session":4097,"id":"5f0c...","members":[0,1,2,4],"proposer":1,
//	 "time":"2026-11-22T12:00:00Z","why":["agent 3 left"]}
//
// Together with the data a [Log] determines the bits of a run: the matrix of an epoch follows from
// the roster's graph and the epoch (network.Matrix.Members), and a method's state at a change from
// the members' states (algo.Reform).
//
// Agents are named by their numbers in the roster, members or not; within an epoch they have
// positions 0, 1, ... in the order of these numbers ([Epoch.Position]). The package knows neither
// networks nor files, but for the log's form.
package membership
