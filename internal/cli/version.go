package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"

	"dsbo/internal/kernel"
	"dsbo/internal/wording"
)

// PrintVersion writes the running program's version after its name, the Go version and platform of
// its build, and its kernels.
func PrintVersion(w io.Writer, name string) error {
	b := wording.Build()
	version := cmp.Or(b.Version, "(unknown version)")
	if b.Revision != "" {
		version += ", revision " + b.Revision
	}
	if b.Modified {
		version += ", modified"
	}
	var kernels []string
	for k := kernel.Generic; k <= kernel.AVX512; k++ {
		if kernel.Supported(k) {
			kernels = append(kernels, k.String())
		}
	}
	_, err := fmt.Fprintf(w, "%s %s\n%s, %s/%s\nkernel %s of %s\n",
		name, version, runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Active(), strings.Join(kernels, ", "))
	return err
}
