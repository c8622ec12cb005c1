//go:build !mpi || !cgo

package mpi

import "dsbo"

// launcherEndsJobs is true without MPI: there is no job.
const launcherEndsJobs = true

func newLibrary() (library, error) {
	return nil, dsbo.ConfigErrorf("MPI needs a program built with -tags mpi and a C compiler; this one was not")
}
