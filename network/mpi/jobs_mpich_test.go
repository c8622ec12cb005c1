//go:build mpi && mpich && cgo

package mpi

var launchers = []string{"mpirun.mpich", "mpirun"}

var launcherFlags []string
