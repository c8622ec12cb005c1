package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// RunAttached runs a program with the flag -attached, and returns [exec.Cmd.Run]'s result. The end
// of the command's context, as on an interrupt, sends the program SIGTERM, so that it can write a
// checkpoint, and kills it after wait. The program also ends with this process, however that ends:
// its stdin is a pipe that this process's end closes.
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
