//go:build !mpi || !cgo

package mpi

import "dsbo"

// launcherEndsJobs says that there is no job.
const launcherEndsJobs = true

// newLibrary says that there is none.
func newLibrary() (library, error) {
	return nil, dsbo.ConfigErrorf("MPI needs a program built with -tags mpi and a C compiler; this one was not")
}
