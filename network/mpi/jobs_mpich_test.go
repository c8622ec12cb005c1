//go:build mpi && mpich && cgo

package mpi

var launchers = []string{"mpirun.mpich", "mpirun"}

var launcherFlags []string

// pythons are where an mpi4py for this MPI may be: Debian's is for Open MPI.
var pythons []string
