//go:build mpi && mpich && cgo

package mpi

var launchers = []string{"mpirun.mpich", "mpirun"}

var launcherFlags []string

// statusOfKilled is the exit status of a job, by chance, of which the launcher has killed processes
// because one has aborted it.
const statusOfKilled = 9

// pythons are where an mpi4py for this MPI may be: Debian's is for Open MPI.
var pythons []string
