// Package algo has the methods: MA-DSBO (Algorithms 1-3 of the paper), its rivals, and newtoncg,
// our own.
//
// A [Method] is a struct whose exported fields are its parameters, where zero means the default
// that the field states:
//
//	m := &algo.MADSBO{Alpha: "0.5/sqrt(k+1)", Beta: "0.1", T: 5}
//
// It is one file with the method's citation, formula, parameters, cost and step, and one line of
// the table in method.go; a method of another module takes [Register] in place of that line, or
// none. All of them run one agent, ask a [dsbo.Oracle] and exchange through a [dsbo.Mixer],
// newtoncg through its averages; none knows the problem, the number of agents or the transport.
// Read madsbo.go, hypergrad.go and higp.go first: they follow the paper line by line.
//
//	madsbo        MA-DSBO, to the letter of the paper
//	madsbo_tuned  MA-DSBO with options of our own, each off by default
//	newtoncg      our own: exact averages, conjugate gradients with recycled products, Adam on x
//	jhip, gbdsbo  the paper's rivals; they need whole Hessians and Jacobians
//	fednest       server and clients: its mixer must be the exact average
//	mdbo          local hypergradients with gradient tracking (biased when data differ)
//	pdsbo_gossip, pdsbo_al   the personalized problem: every agent has its own y
//	dascgd        compositional problems
//	dsoba, sparkle           one loop, one step of each variable an iteration
//	dbifo, c2dfb, fab, f2sa  gradients alone: a penalty, by differences of order 1 or 2
//	sundsbo       gradients alone, for lower losses that are not convex
//	aidcg, itd, stocbio, alset, soba, subbio, lancbio   one agent
//
// Beside them [HIGP] and [Hypergradient] are Algorithms 1 and 2 by themselves.
//
// Notation of the method docs: mix(v)_i = Σ_j w_ij v_j; H = ∇²_yy g_i, J = ∇²_xy g_i (p×q) and b =
// ∇_y f_i, all at agent i's (x, y); α, β, γ are the steps of x, y, z. Right-hand sides use the
// values from before the line. Everything starts at zero; another start of x may be copied into X()
// after Init, the same on all agents.
//
// [New] makes a method by name, and [Decode] sets its parameters from JSON. Init refuses parameters
// that cannot work, with an error that matches [dsbo.ErrConfig]. Steps allocate nothing once made,
// and give the same bits for the same oracle, mixer and state.
//
// # How to write a method
//
// A method reads like its formula: a comment has citation, formula, certainty and cost, and each
// line of step is a line of the formula.
//
//   - A method of another module embeds [Iterates], which give it state, defaults, checks and steps
//     that follow the curvature, as in examples/wine/method.go; here a method embeds methodState,
//     whose Step begins a turn, calls the method's step and returns the turn's error.
//   - A parameter's default and bounds are tags of its field, which prepare reads.
//   - State has all that a resume needs; carried makes a vector and registers it.
//   - A method that averages over all agents asks its turn for average of a term, which each
//     agent's oracle makes, and counts averages in its Cost. If nothing else differs from agent to
//     agent it calls averagesTerms: one method then serves all agents of a process.
//   - Where agents may come and go, a tracker names what it tracks, and restarts what is true for
//     the old members alone.
//   - An improvement of a published method is a named field; the method as published keeps its
//     bits.
//   - With its defaults a method lowers Φ of the synthetic task. Steps that need other bounds than
//     plain descent's have Bounds in their Traits, which also define [Auto].
//   - The suites of the transports run every method for several agents.
//
// # Why the methods are ours
//
// Papers come with scripts of their own, each with its own exchange, draws and problem, which
// cannot be compared at equal cost, resumed or distributed. Here all methods answer to one
// contract, so that a difference between two is the methods' own; golden trajectories tie each to
// an independent program.
package algo
