// Package linalg has the linear algebra of a run: loops over dense vectors, small symmetric
// matrices, and solves and eigenvalues of a large matrix by its products alone.
//
// vec.go has the loops; symmetric.go the eigenvalues and Cholesky factors of small matrices;
// memory.go and solve.go conjugate gradients whose [Memory] keeps the products of earlier solves;
// matrix.go and eigenvalues.go the curvature [Matrix] of a lower loss and its extreme eigenvalues.
// [ArithmeticDigest] compares the arithmetic of machines.
//
// Every result has the same bits on all machines of one kernel path.
package linalg
