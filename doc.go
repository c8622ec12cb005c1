// Package dsbo is the contract of an engine for decentralized stochastic bilevel optimization.
//
// Agents 0..n-1, each with private data, together solve problem (1)-(2) of the paper,
//
//	min_x  Φ(x) = (1/n) Σ_i f_i(x, y*(x))     s.t.  y*(x) = argmin_y (1/n) Σ_i g_i(x, y)
//
// talking only to their neighbours in a graph. For hyperparameters, x is the logarithm of
// regularization weights, y a model, g_i the training loss and f_i the validation loss of agent i.
// The paper has MA-DSBO (Chen, Huang, Ma, Balasubramanian: "Decentralized Stochastic Bilevel
// Optimization with Improved per-Iteration Complexity", ICML 2023), whose agents mix vectors with
// their neighbours. The default is a method of our own, newtoncg, whose agents find exact averages
// over all of them. Both ask for gradients, Hessian-vector and Jacobian-vector products only.
//
// # How to use it
//
// To tune hyperparameters, run a command: cmd/mnist and cmd/synthetic, or cmd/dsbo, which has a
// verb for everything. To tune the hyperparameters of a model of your own, write its two losses
// (package models) and an experiment.Task that loads the data; package command makes a program of
// it. To run a method inside of a program of yours, fill in a train.Config and call train.Run, as
// the example of this package does. To write a method, take the contract below: an [Oracle] answers
// an agent's questions about its own f_i and g_i, a [Mixer] exchanges vectors with the neighbours,
// [Capabilities] are what some of them can besides, and an [Algorithm] alternates between asking
// and exchanging.
//
// # From the paper to the code
//
//	paper                       code
//	agent i's F_i, G_i          models.Model: Upper, Lower (Gorgonia graphs)
//	∇f_i, ∇_y g_i, ∇²_yy g_i v, ∇²_xy g_i v
//	                            Oracle: UpperGrad, LowerGrad, HVP, JVP; ad.Derivs behind it
//	ξ̃, ξ, φ (draws)             Sample: Lower, Curvature, Upper; data.Sampler
//	W, ρ                        network.Matrix, its Rho
//	Σ_j w_ij v_j                Mixer: Mix
//	Algorithm 1 (HIGP)          algo/higp.go
//	Algorithm 2 (hypergradient) algo/hypergrad.go
//	Algorithm 3 (MA-DSBO)       algo/madsbo.go
//	α_k, β_k, γ                 algo.Schedule: Alpha, Beta, Gamma of a method
//	K, T, N                     K of train.Config; T, N of a method
//	x, y, z, u, r, s, d         the same letters in algo
//	Φ(x̄), ∇Φ(x̄)                 exact.Solver
//
// What the paper does not have: averages, and the penalty and the diagonal of the Hessian, of
// [MixerCapabilities] and [OracleCapabilities], for algo/newtoncg.go.
//
// # Where to find what
//
// Algorithms, in algo; where a method is one file, its head cites it:
//
//	line 6 of Algorithm 3    algo/madsbo.go, step: y and, with it, x of line 11 are mixed
//	Algorithm 1              algo/higp.go, run: lines 4 and 6 mix z and d
//	the default method       algo/newtoncg.go; its conjugate gradients: internal/linalg/memory.go
//	its traits               algo/method.go: Method, Traits; schedule.go and bind.go: steps
//	when members change      algo/reform.go
//
// Problems:
//
//	a model                  models, one file each; names.go lists them, model.go what it may tell
//	losses, layers           models/outputs.go, penalties.go, models/nn
//	an op, differentiated    ad/op.go; a row of define in elementwise.go, reduce.go and others
//	a node, Gorgonia's ops   ad/family.go makes nodes; stock.go rebuilds Gorgonia's own ops
//	Hessian-vector products  ad/derivs.go; compiled once for all agents: ad/internal/engine
//	products of matrices     internal/kernel: gemm_chain.go cuts them, conv_tiles.go reads patches
//	examples, draws, splits  data; held-out examples: data/holdout.go
//	a wrong derivative       ad/adtest; models/modeltest proves a model
//
// The exchange:
//
//	W and its checks         network/graph.go, matrix.go, validate.go
//	an exact average         network/average.go; fixed.go, reduce.go, tree.go
//	a wire                   network/wire.go encodes and rounds, wiremix.go feeds back
//	sessions over gRPC       network/session/doc.go; exchange.go, meeting.go, tick.go
//	masks                    network/masks
//	who decides on members   network/register: decide.go, plan.go; the log: network/membership
//	certificates             network/pki
//	proxies, a relay         network/relay
//	MPI                      network/mpi
//
// A run:
//
//	a flag such as -alpha    experiment/settings.go, parameters.go
//	a step α_k at k          algo/bind.go, check.go; its field: state.go
//	the loop over k          train/run.go, stepper.go; evaluation: evaluate.go
//	exact Φ, ∇Φ, and models  train/exact: lower.go finds y*, adjoint.go z
//	a checkpoint             train/checkpoint.go, save.go, resume.go; names: runs/checkpoints.go
//	from a task to a result  experiment/job.go, attempt.go; flags: settings.go, presets: preset.go
//	one process, MPI, gRPC   experiment/layout.go, ranks.go, agent.go
//	the best constant        experiment/candidates; as a start (-best-start): experiment/start.go
//	what a run keeps         experiment/finish.go, kept.go
//	what a run will send     experiment/site
//	noise, ε and δ           experiment: oracle.go, curator.go, accountant.go, private.go
//	what a site allows, sent experiment/site, needs.go; command/disclosure.go
//	the verdict, the page    runs/verdict.go, runs/report; drawings: experiment/compare
//	own tables               tables; features: tables/features; model files: tables/modelfile
//	which columns count      tables/assess: coefficients with their errors, tests
//	survival times           models/cox.go, ad/risk.go; tables/assess: the baseline hazard
//	a task                   experiment/tasks, tune below it; comparisons: experiment/compare
//	simulated runs           experiment/peer; what a run stands: docs/faults.md
//	verbs                    command; cluster files: experiment/site
//
// CONTRIBUTING.md lists where to add a model, a method, a task, a transport or an op.
//
// # Glossary
//
//   - Agent: one of the n participants. It has private examples, an oracle, a method's state,
//     and neighbours.
//   - Average: the exact mean of a vector over all agents, the same bits on each.
//   - Baseline: the model at λ = 0, or at the best constant λ, or another one that a model names,
//     with which a tuned model is compared.
//   - Boundary: a number of iterations after which all agents pause, for an evaluation or
//     a checkpoint.
//   - Checkpoint: the file from which a run resumes with the same bits.
//   - Consensus error: how far the agents' copies of a variable are apart, (1/n) Σ_i ‖v_i − v̄‖².
//   - Curvature: L_max, the largest eigenvalue of ∇²_yy g_i; step sizes of y and z follow it.
//   - Draw: a minibatch, named by a [Sample]; the same name is the same examples.
//   - Epoch: a part of a run in which its members stay the same; a change begins the next one.
//   - Exchange: one call of Mix by all agents: each sends a vector to each neighbour and
//     receives theirs.
//   - Hypergradient: ∇Φ(x) = ∇_x f − ∇²_xy g z with z = (∇²_yy g)⁻¹ ∇_y f.
//   - Hold-out: validation examples that tune nothing; they choose the best iterate and
//     show over-fitting.
//   - HVP, JVP: Hessian-vector product (∇²_yy g_i) v, Jacobian-vector product (∇²_xy g_i) v.
//   - Kernel: the assembly, or plain Go, behind products of matrices; DSBO_KERNEL chooses.
//   - λ: the hyperparameters of a task as its user knows them, x of the paper.
//   - Layout: the placement of a run's agents: all in one process, on MPI ranks that start and stop
//     together, or each in a process that may be lost and come back.
//   - Lower problem: min_y Σ g_i(x, y), training. Upper problem: min_x Φ(x), validation.
//   - Mask: numbers that two agents share; one adds them to its words of a sum and the other one
//     subtracts them.
//   - Meeting: agents without a current session find the next one.
//   - Member: an agent that takes part in a session.
//   - Membership log: the changes of members, one line each, the same at all agents
//     (package membership).
//   - Method: an [Algorithm] with its parameters (package algo).
//   - Mixing matrix: W, symmetric and doubly stochastic; w_ij is what agent i gives to the vector
//     of agent j.
//   - Mixing: how an agent combines its vector with its neighbours': plainly, by W, or by
//     weights that change from iteration to iteration.
//   - Model: the losses as they are written (package models); of a run, y at the end, the lower
//     solution at one λ.
//   - Oracle: the answers about an agent's own losses.
//   - Point: a checkpoint, the setup or the result, with which a session can begin.
//   - Personalized problem: one in which each agent has a lower solution of its own.
//   - Rank: a process of an MPI job, which has some of the agents.
//   - Record: one evaluation of a run, a line of metrics.jsonl.
//   - Reduction: whole numbers of all agents combined, to their sum or the largest; averages are
//     made of them.
//   - Register: an agent's promises and begun sessions, on its disk (package register).
//   - Roster: all agents that a run knows, members or not.
//   - Run folder: the files of a run (package runs).
//   - Session: a chain of exchanges among members that does not go back; whatever goes wrong ends
//     it, and the next one begins with a point.
//   - Spectral gap: 1 − ρ, with ρ the second largest absolute eigenvalue of W.
//   - Scale: the power of two that a block of numbers in an average, or on a narrow wire, is
//     counted in.
//   - Stage: an iteration, or an evaluation between two; it names the draws of random rounding.
//   - Task: data, a model, and the flags that choose them (package experiment).
//   - Tracker: a variable whose mean over the agents is the mean of another one, such as the
//     agents' gradients (gradient tracking).
//   - Transport: what carries an exchange: memory, MPI, gRPC.
//   - Verdict: the gain of tuning over the best constant λ, in one sentence.
//   - Wire: the number of bits in which numbers travel.
//
// # Reading order
//
// dsbo.go (this contract), algo/madsbo.go with hypergrad.go and higp.go (the paper),
// models/softmax.go (a problem), ad/grad.go (how its derivatives come about), network/local.go (the
// exchange), network/average.go and algo/newtoncg.go (the default), train/run.go (a run),
// experiment/task.go (what a task gets), cmd/mnist.
package dsbo
