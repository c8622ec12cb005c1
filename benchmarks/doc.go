// Package benchmarks measures what the engine's promises cost:
//
//	go test -bench 'Derivatives|Product' ./benchmarks
//
// prints, in one run on one machine, derivatives by ad against the same formulas written by hand on
// the same kernels and on gonum's BLAS, and a Hessian-vector product against a gradient. Contenders
// take turns within each measurement, so that a busy machine slows all of them. README.md is the
// lab book; paper has what the paper states, the whole Hessian against products too, and peer
// another program to run beside.
package benchmarks
