//go:build mpi && !mpich && cgo

package mpi

// #cgo pkg-config: ompi-c
import "C"

// launcherEndsJobs is whether mpirun ends a job if one process fails before MPI_Init while other
// processes wait for it there.
const launcherEndsJobs = true
