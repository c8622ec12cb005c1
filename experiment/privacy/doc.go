// Package privacy makes an agent's answers about its data differentially private, and accounts for
// their cost.
//
// An [Oracle] separates an agent's examples from all else: a method, an exchange, a file. It
// answers with noise, so that anything computed from its answers, by anyone, reveals of one example
// at most what the budget (ε, δ) allows. Each agent has this guarantee even if all other agents
// collude: it adds all of its noise itself, and need not trust any sum or mask.
//
// # What is promised
//
// Two data sets of an agent are neighbours if they differ in one row, which may be any other row;
// the number of rows, and which rows train and which validate, are alike and public. For neighbours
// D and D' and each set S of what the agent may send in a run,
//
//	P(sent ∈ S | D) ≤ e^ε P(sent ∈ S | D') + δ.
//
// A row trains or validates, never both: the answers about either kind have the whole budget.
//
// # How
//
// Rows are scaled to norm C at most. The loss is a mean over rows whose terms have bounded
// derivatives (models.Bounded), so that one row moves a gradient by at most 2G/m in norm, with G
// the bound and m the number of rows, and a product with the Hessian by at most κ‖v‖/m: the
// sensitivity Δ. x, y and v are made of earlier answers, and known to all. An answer is rounded to
// a grid of 2^-20 times the noise's deviation, and each entry gets noise of the discrete Gaussian
// distribution on that grid (Canonne, Kamath, Steinke 2020), drawn exactly with whole numbers: no
// rounding of floats leaks more (Mironov 2012). Computation is in float64.
//
// # The accountant
//
// With deviation σΔ an answer has Rényi divergence α/(2σ²) at each order α, and T answers T times
// that, also where each is asked after the earlier ones are known (Mironov 2017, propositions 1 and
// 7; for the discrete Gaussian: theorem 4 of Canonne et al.). [Accountant] turns it into (ε, δ);
// [Multiplier] finds σ for a budget.
//
// # What is not hidden
//
// The duration of a computation, an agent's participation, the numbers of its rows, and what its
// owner publishes elsewhere.
package privacy
