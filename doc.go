// Package dsbo is the contract of a decentralized stochastic bilevel optimization engine.
//
// Agents 0..n-1, each with private data, together solve
//
//	min_x  Φ(x) = (1/n) Σ_i f_i(x, y*(x))     s.t.  y*(x) = argmin_y (1/n) Σ_i g_i(x, y)
//
// talking only to their neighbours in a graph. The method is MA-DSBO (Chen, Huang, Ma,
// Balasubramanian: "Decentralized Stochastic Bilevel Optimization with Improved per-Iteration
// Complexity", ICML 2023), which needs gradients, Hessian-vector and Jacobian-vector products only.
package dsbo
