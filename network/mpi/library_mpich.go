//go:build mpi && mpich && cgo

package mpi

// #cgo pkg-config: mpich
import "C"

// launcherEndsJobs says whether mpirun ends a job of which one process has failed before MPI_Init
// while others wait for it there.
const launcherEndsJobs = false
