//go:build !mpi || !cgo

package mpi

import (
	"fmt"

	"dsbo"
)

// newLibrary says that there is none.
func newLibrary() (library, error) {
	return nil, fmt.Errorf("%w: this program was built without MPI, want go build -tags mpi, with a C compiler", dsbo.ErrConfig)
}
