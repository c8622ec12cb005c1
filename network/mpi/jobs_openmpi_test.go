//go:build mpi && !mpich && cgo

package mpi

var launchers = []string{"mpirun.openmpi", "mpirun"}

var launcherFlags = []string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}
