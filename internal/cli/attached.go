package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// RunAttached runs a program with the flag -attached to its end, and returns what [exec.Cmd.Run]
// does. It ends when the command's context does, as on an interrupt, so that it can write a
// checkpoint, and is killed if that takes longer than wait. It ends when this process does too,
// however that ends: its stdin, a pipe, ends then.
func RunAttached(c *exec.Cmd, wait time.Duration) error {
	c.SysProcAttr = ownGroup()
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = wait
	if _, err := c.StdinPipe(); err != nil {
		return err
	}
	return c.Run()
}

// UntilStdinEnds returns a context that ends when stdin does: with the process that has started
// this one by [RunAttached].
func UntilStdinEnds(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until it ends, for whatever reason
		stop()
	}()
	return ctx, stop
}
