// Package algo holds the methods: MA-DSBO (Algorithms 1-3 of the paper) and those it is compared with.
//
// A method is one file: where it comes from, its formula, its parameters, its cost, its Step. All of
// them run one agent, ask a [dsbo.Oracle] and exchange through a [dsbo.Mixer]; none knows the
// problem, the number of agents or the transport. Read madsbo.go, hypergrad.go and higp.go first:
// they follow the paper line by line.
//
//	madsbo        MA-DSBO, to the letter of the paper
//	madsbo_tuned  MA-DSBO with options of our own, each off by default
//	jhip, gbdsbo  the paper's rivals; they need whole Hessians and Jacobians
//	fednest       server and clients: its mixer must be the exact average
//	mdbo          local hypergradients with gradient tracking (biased when data differ)
//	pdsbo_gossip, pdsbo_al   the personalized problem: every agent has its own y
//	dascgd        compositional problems
//	dsoba, sparkle           one loop, one step of each variable an iteration
//	aidcg, itd, stocbio, alset, soba   one agent
//
// Beside them [Lower] solves the lower problem alone, at an x that stays, and [HIGP] and
// [Hypergradient] are Algorithms 1 and 2 by themselves.
//
// Notation of the method docs: mix(v)_i = Σ_j w_ij v_j; H = ∇²_yy g_i, J = ∇²_xy g_i (p×q) and
// b = ∇_y f_i, all at agent i's (x, y); α, β, γ are the steps of x, y, z. Right-hand sides use the
// values from before the line. Everything starts at zero, x at X0; another start may be copied into
// X() before the first Step, the same one on all agents.
//
// Parameters are plain structs in which zero means the default that the field states; a method's
// constructor refuses what cannot work with an error that wraps [dsbo.ErrConfig]. [New] makes a
// method by name from the flat [Params]. Steps allocate nothing once made, and give the same bits
// for the same oracle, mixer and state.
package algo
