// Package experiment makes a program of a [Task], which is a data set, a model and their flags:
// [Main] is all of its main function. The program has flags and presets, checks them, chooses the
// steps by the curvature, runs a method on all agents, finds the models of the best λ, of λ = 0 and
// of the best constant λ, and leaves a run folder with a report. -resume continues an interrupted
// run.
//
// Where the agents are is a layout: in this process (layout.go), in the ranks of an MPI job
// (ranks.go), or one in each of several processes (agent.go), for which package command has the
// verbs.
//
// The flags are in settings.go, presets in preset.go, and parameters.go makes a method's parameters
// of them. A run begins in job.go, and attempt.go has the stages of its attempts in their order,
// whose values are in stages.go: problem.go loads the data and makes the problem of them,
// structured.go and start.go find where x starts, steps.go chooses the steps, and package train
// runs the iterations. watch.go shows how far it is, with the time left that pace.go predicts.
// finish.go finds the models (models.go, package candidates) and gives the verdict on them; kept.go
// writes the kept model; record.go has the summary. Package site predicts a run's traffic.
//
// console.go prints results on a terminal: a line for each record of a running run, and at its end
// the verdict, the table of models, and the places of further files. Lines have 80 columns at most.
//
// # Differential privacy
//
// With -dp-epsilon an agent's answers about its data are differentially private, and their cost is
// accounted for.
//
// A [privateOracle] separates an agent's examples from all else: a method, an exchange, a file. It
// answers with noise, so that anything computed from its answers, by anyone, reveals of one example
// at most what the budget (ε, δ) allows. Each agent has this guarantee even if all other agents
// collude: it adds all of its noise itself, and need not trust any sum or mask.
//
// Two data sets of an agent are neighbours if they differ in one row, which may be any other row;
// the number of rows, and which rows train and which validate, are alike and public. For neighbours
// D and D' and each set S of what the agent may send in a run,
//
//	P(sent ∈ S | D) ≤ e^ε P(sent ∈ S | D') + δ.
//
// A row trains or validates, never both: the answers about either kind have the whole budget.
//
// Rows are scaled to norm C at most. The loss is a mean over rows whose terms have bounded
// derivatives (models.Bounded), so that one row moves a gradient by at most 2G/m in norm, with G
// the bound and m the number of rows, and a product with the Hessian by at most κ‖v‖/m: the
// sensitivity Δ. x, y and v are made of earlier answers, and known to all. An answer is rounded to
// a grid of 2^-20 times the noise's deviation, and each entry gets noise of the discrete Gaussian
// distribution on that grid (Canonne, Kamath, Steinke 2020), drawn exactly with whole numbers: no
// rounding of floats leaks more (Mironov 2012). Computation is in float64.
//
// With deviation σΔ an answer has Rényi divergence α/(2σ²) at each order α, and T answers T times
// that, also where each is asked after the earlier ones are known (Mironov 2017, propositions 1 and
// 7; for the discrete Gaussian: theorem 4 of Canonne et al.). [epsilonOf] turns it into (ε, δ);
// [noiseMultiplier] finds σ for a budget.
//
// Not hidden are the duration of a computation, an agent's participation, the numbers of its rows,
// and what its owner publishes elsewhere.
package experiment
