// Package benchmarks measures what the engine's promises cost:
//
//	go test -bench . ./benchmarks
//
// prints, in one run on one machine, derivatives by ad against the same formulas written by hand on the same
// kernels and on gonum's BLAS, a Hessian-vector product against a gradient, and against the whole Hessian in time
// and memory. Contenders take turns within each measurement, so that a busy machine slows all of them.
package benchmarks
