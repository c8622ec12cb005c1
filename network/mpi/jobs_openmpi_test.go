//go:build mpi && !mpich && cgo

package mpi

var launchers = []string{"mpirun.openmpi", "mpirun"}

var launcherFlags = []string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}

// statusOfKilled is the status of no job here: the status belongs to the process which failed.
const statusOfKilled = -1

// pythons are where an mpi4py for this MPI may be.
var pythons = []string{"python3", "/usr/bin/python3"}
