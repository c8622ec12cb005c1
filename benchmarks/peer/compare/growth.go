package main

import (
	"context"
	"fmt"
	"io"
)

func grow(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "growth")
	return nil
}
