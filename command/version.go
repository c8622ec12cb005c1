package command

import (
	"context"
	"io"

	"dsbo/internal/cli"
)

const versionIntro = `Prints the version of this program, what it was built by and for, and the kernels: the
implementations of the inner loops, of which the environment variable DSBO_KERNEL
chooses one.`

// version is the verb version: it prints the version of the program and its kernels.
func (p *program) version(_ context.Context, args []string, stdout, _ io.Writer) error {
	if err := cli.NewFlags(p.name+" version", versionIntro, "").Parse(args, stdout); err != nil {
		return err
	}
	return cli.PrintVersion(stdout, p.name)
}
