package command

import (
	"fmt"

	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/network"
)

// version is the verb version: it prints the version of the program and its kernels.
func (p *program) version(f *call) error {
	if err := f.parse(); err != nil {
		return err
	}
	if err := cli.PrintVersion(f.stdout, p.name); err != nil {
		return err
	}
	_, err := fmt.Fprintf(f.stdout, "messages %d, numbers %d, digest %s\n", wording.MessagesVersion,
		wording.NumbersVersion, network.ThisProgram().Arithmetic)
	return err
}
