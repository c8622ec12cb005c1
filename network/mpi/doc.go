// Package mpi exchanges between processes over MPI.
package mpi
