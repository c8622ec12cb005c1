package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"dsbo/internal/build"
	"dsbo/internal/cli"
	"dsbo/internal/kernel"
)

const versionIntro = `Prints the version of this program, what it was built by and for, and the kernels: the
implementations of the inner loops, of which the environment variable DSBO_KERNEL
chooses one.`

func (p *program) version(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := cli.NewFlags(p.name+" version", versionIntro, "")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	b := build.Read()
	version := []string{cmp.Or(b.Version, "(unknown version)")}
	if b.Revision != "" {
		version = append(version, "revision "+b.Revision)
	}
	if b.Modified {
		version = append(version, "modified")
	}
	var kernels []string
	for k := kernel.Generic; k <= kernel.AVX512; k++ {
		if kernel.Supported(k) {
			kernels = append(kernels, k.String())
		}
	}
	_, err := fmt.Fprintf(stdout, "%s %s\n%s, %s/%s\nkernel %s of %s\n", p.name, strings.Join(version, ", "),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Active(), strings.Join(kernels, ", "))
	return err
}
