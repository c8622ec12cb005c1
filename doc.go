// Package dsbo is the contract of an engine for decentralized stochastic bilevel optimization.
//
// Agents 0..n-1, each with private data, together solve problem (1)-(2) of the paper,
//
//	min_x  Φ(x) = (1/n) Σ_i f_i(x, y*(x))     s.t.  y*(x) = argmin_y (1/n) Σ_i g_i(x, y)
//
// talking only to their neighbours in a graph. For hyperparameters, x is the logarithm of regularization
// weights, y a model, g_i the training loss and f_i the validation loss of agent i. The method is MA-DSBO (Chen, Huang, Ma,
// Balasubramanian: "Decentralized Stochastic Bilevel Optimization with Improved per-Iteration
// Complexity", ICML 2023): it exchanges vectors and asks for gradients, Hessian-vector and
// Jacobian-vector products only.
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
//	α_k, β_k, γ                 algo.Schedule: Alpha, Beta, Gamma
//	K, T, N                     K of train.Config; T, N of the methods in algo
//	x, y, z, u, r, s, d         the same letters in algo
//	Φ(x̄), ∇Φ(x̄)                 train.Exact
//
// # Reading order
//
// dsbo.go (this contract), algo/madsbo.go with hypergrad.go and higp.go (the paper), models/softmax.go (a
// problem), ad/grad.go and ad/plan.go (how its derivatives come about), network/local.go (the exchange),
// train/run.go (a run), cmd/mnist.
package dsbo
