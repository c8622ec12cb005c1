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
// an [Averager] averages them over all agents, and an [Algorithm] alternates between asking
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
// What the paper does not have: [Averager], [PenaltyOracle] and [DiagonalOracle],
// for algo/newtoncg.go.
//
// # Where to find what
//
//	y and x are mixed            algo/madsbo.go: lines 6 and 11 of Algorithm 3
//	z and d are mixed            algo/higp.go: lines 4 and 6 of Algorithm 1
//	W is checked                 network/validate.go
//	a network trained by draws   algo/adamcg.go; experiment/candidates finds models by it
//	the default method           algo/newtoncg.go; its pairs and conjugate gradients are internal/linalg
//	a method when members change algo/reform.go
//	against liars                network/mixing.go says what robust mixing promises; clipped.go, trimmed.go
//	an exact average             network/average.go; fixed.go makes whole numbers, reduce.go sums them, polynomial.go has W alone
//	the spanning tree            network/tree.go
//	who takes part               membership: log.go has the changes, epoch.go who is there after them; network/members.go makes W of it
//	how members are decided on   network/membership/paxos: acceptor.go, proposer.go, change.go; network/grpc/chamber.go carries its messages
//	a wire                       network/codec.go encodes, round.go rounds, wiremix.go feeds errors back
//	who connects to whom         network/grpc/config.go; network/relay for those that nobody can reach
//	what agents say to others    network/grpc/doc.go, "Messages"; protocol.go sends them and takes them in
//	who sends what it must not   internal/guard bounds strangers; network/grpc/offence.go bars neighbours
//	masks                        network/grpc/masks; what they hide: network/grpc/doc.go, "Masks"
//	penalty and diagonal         models/diagonal.go, by what a model tells of itself
//	Gauss-Newton products        ad/gaussnewton.go, of outputs that a loss marks
//	losses of a model's outputs  models/outputs.go and poisson.go; models/penalties.go groups the weights
//	the nodes of a loss          ad/family.go has them, op.go what an op is; stock.go rebuilds Gorgonia's own ops from these
//	compiled once for all agents ad/internal/engine: template.go is shared, each agent has a machine.go; models/programs.go keeps it
//	memory of values             ad/internal/engine: layout.go shares it, tail.go needs none, keep.go keeps values for the next product
//	the order of work            ad/internal/engine/plan.go; strips.go cuts what lies between two products, series.go makes one sum of many
//	products of matrices         internal/kernel: gemm_chain.go cuts them and copies panels (gemm_pack.go), conv_tiles.go reads patches
//	                             where they lie in images; ad/convproduct.go finds those
//	huge pages                   internal/kernel asks for them under long vectors
//	several processors           internal/kernel/crew.go shares large products where fewer agents compute than there are processors
//	a wrong derivative           ad/adtest measures along random directions; models/modeltest proves a model by it
//	layers of networks           models/nn: params.go lays out y, layers.go and sequence.go build graphs
//	sparse examples              ad/csr.go checks rows, ad/internal/engine/sparse.go multiplies them
//	noise, ε and δ               privacy: accountant.go, oracle.go; experiment/private.go says what a run may ask
//	what a run will send         experiment/plan, for the verb plan and -explain-privacy; models.go and algo/forecast.go where it is a range
//	losses of single examples    models/score.go; train/compare.go compares two models by them
//	a file is known, and read    tables/format.go; CSV: tables/sniff.go guesses, tables/parse.go parses, tables/settle.go decides
//	held-out examples            data/holdout.go; train/best.go chooses the best iterate by them
//	inputs beside X and T        data.Examples.Columns, models.Batch.Column; models/mask.go for masks that are drawn
//	a model, a method, a task    one file each in models, algo, tasks; a transport is a package in network
//	what sites find together     network/collective has the sums; tables/features/prepare.go makes a recipe of them, experiment/setup.go keeps it
//	own tables                   experiment/tasks/tune.go; tables/features/measure.go says how means are exact, weigh.go how rows weigh
//	each site alone              experiment/sites.go
//	flags of a run               experiment/settings.go; parameters.go makes a method's parameters of them
//	what a run stands            docs/faults.md, with the test of each promise; which machines compute alike: docs/machines.md
//	the loop over k              train/run.go, with stepper.go between two evaluations
//	members change               train/members.go; handover.go is for agents in processes
//	one agent in a process       experiment/peer, for the verb agent and for package simulate
//	a checkpoint                 train/checkpoint.go writes it, train/resume.go reads it, runs/checkpoints.go names it
//	files and crashes            internal/disk has the file systems; runs/lock.go, sums.go and format.go guard a run folder
//	exact Φ, and a model         package exact: solver.go says how; lower.go finds y*, adjoint.go z, wires.go says what narrow wires lose
//	one that is not convex       train/exact/nonconvex.go finds models; internal/linalg has the least eigenvalue and the matrices of -curvature
//	a model's files, predictions modelfile: files.go for model.json, graph.go for ONNX, predict.go
//	what tuning is compared with experiment/models.go: baselines of a model's own, or candidates/constants.go; finish.go keeps one or the tuned x,
//	                             which candidates/descent.go finds where the iterations end above the best constant
//	what x is, in words          models/meaning.go
//	the verdict's words          runs/verdict.go; runs/report/verdict.go shows them
//	what a terminal shows        experiment/console: records under way, and the result with its tables
//	what is sent, counted        network knows what an average, a gathering and a maximum cost (Cost in average.go and bytes.go);
//	                             train/meter.go counts the method's, network/collective the rest; runs/usage.go and verdict.go hold it
//	what a monitor sees          command/monitor.go has /healthz, command/metrics.go what Prometheus reads
//	how good predictions are     assess counts at each site, runs/report/assessment.go draws it
//	the time left                experiment/pace.go; internal/cli/progress.go draws the bar
//	changes in one process       experiment/members.go reads -membership; runs/report/members.go shows the changes
//	the page                     runs/report/page.go, page.html and page.js; runs/report/uplot is the library of its curves
//	methods are compared         experiment/compare/compare.go runs them, rank.go ranks them; paper.json is the paper's figures
//	whole agents on virtual time simulate: case.go draws a run from a seed, faults.go what happens to it; internal/testkit is their network
//	MPI and gRPC differ          train/layout.go and experiment/layout.go, with a file for each layout beside them;
//	                             the exchanges are network/mpi and network/grpc
//
// # Glossary
//
//   - Agent: one of the n participants. It has private examples, an oracle, a method's state,
//     and neighbours.
//   - Average: the exact mean of a vector over all agents, the same bits on each.
//   - Baseline: the model at λ = 0, or at the best constant λ, or another one that a model names,
//     with which a tuned model is compared.
//   - Boundary: a number of iterations after which all agents stand still, for an evaluation or
//     a checkpoint.
//   - Checkpoint: the file from which a run goes on with the same bits.
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
//   - Layout: where the agents of a run are: all in one process, on MPI ranks that start and stop
//     together, or each in a process that may be lost and come back.
//   - Lower problem: min_y Σ g_i(x, y), training. Upper problem: min_x Φ(x), validation.
//   - Mask: numbers that two agents share; one adds them to its words of a sum and the other one
//     subtracts them.
//   - Member: an agent that takes part in an epoch.
//   - Membership log: the changes of who takes part, one line each, the same at all agents
//     (package membership).
//   - Method: an [Algorithm] with its parameters (package algo).
//   - Mixing matrix: W, symmetric and doubly stochastic; w_ij is what agent i gives to the vector
//     of agent j.
//   - Mixing: how an agent combines its vector with its neighbours': plainly, by W, or robustly,
//     against neighbours that lie.
//   - Model: the losses as they are written (package models); of a run, y at the end, the lower
//     solution at one λ.
//   - Oracle: what an agent asks about its own losses.
//   - Personalized problem: one in which each agent has a lower solution of its own.
//   - Rank: a process of an MPI job, which has some of the agents.
//   - Record: one evaluation of a run, a line of metrics.jsonl.
//   - Reduction: whole numbers of all agents combined, to their sum or the largest; averages are
//     made of them.
//   - Roster: all agents that a run knows, members or not.
//   - Run folder: what a run leaves behind (package runs).
//   - Spectral gap: 1 − ρ, with ρ the second largest absolute eigenvalue of W.
//   - Scale: the power of two that a block of numbers in an average, or on a narrow wire, is
//     counted in.
//   - Stage: an iteration, or an evaluation between two; it names the draws of random rounding.
//   - Task: data, a model, and the flags that choose them (package experiment).
//   - Tracker: a variable whose mean over the agents is the mean of another one, such as the
//     agents' gradients (gradient tracking).
//   - Transport: what carries an exchange: memory, MPI, gRPC.
//   - Verdict: what tuning gave against the best constant λ, in one sentence.
//   - Wire: in how many bits numbers travel.
//
// # Reading order
//
// dsbo.go (this contract), algo/madsbo.go with hypergrad.go and higp.go (the paper),
// models/softmax.go (a problem), ad/grad.go and ad/internal/engine/plan.go (how its
// derivatives come about), network/local.go (the exchange), network/average.go and algo/newtoncg.go (the default),
// train/run.go (a run), experiment/task.go (what a task gets), cmd/mnist.
package dsbo
