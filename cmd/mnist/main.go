// Command mnist tunes the regularization of a classifier of handwritten digits: one log-penalty λ for
// each pixel, chosen by the validation loss of all agents, none of which shows its pictures to another.
//
//	go run ./cmd/mnist
//
// -h explains the flags.
package main

import (
	"context"
	"io"
	"os"

	"dsbo/internal/cli"
	"dsbo/tasks"
)

func main() { os.Exit(cli.Main("mnist", run)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	j, err := tasks.MNIST(args, stdout)
	if err != nil {
		return err
	}
	return j.Run(ctx, stdout, stderr)
}
