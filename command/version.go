package command

import (
	"context"
	"fmt"
	"io"

	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/network"
)

const versionIntro = `Prints the version of this program, what it was built by and for, and the kernels: the
implementations of the inner loops, of which the environment variable DSBO_KERNEL
chooses one. Programs of a run must have the same versions of messages and of numbers, and
the same digest of a small computation.`

// version is the verb version: it prints the version of the program and its kernels.
func (p *program) version(_ context.Context, args []string, stdout, _ io.Writer) error {
	if err := cli.NewFlags(p.name+" version", versionIntro, "").Parse(args, stdout); err != nil {
		return err
	}
	if err := cli.PrintVersion(stdout, p.name); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "messages %d, numbers %d, digest %s\n", wording.MessagesVersion,
		wording.NumbersVersion, network.ThisProgram().Arithmetic)
	return err
}
