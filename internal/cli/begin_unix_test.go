//go:build unix

package cli_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// TestBegin: each signal that asks a command to stop ends its context, so that it can write
// a checkpoint.
func TestBegin(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) { // as nohup has SIGHUP
			continue
		}
		ctx := testkit.Get(cli.Begin())
		testkit.OK(syscall.Kill(os.Getpid(), s))
		<-ctx.Done()
	}
}
