// Package cli holds what command lines share: flags in groups, exit codes, interrupts, progress and tables.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"dsbo"
	"dsbo/internal/kernel"
)

// Exit codes of all commands.
const (
	OK          = 0
	Failure     = 1
	Usage       = 2   // the command line or a file is wrong
	Diverged    = 3   // iterates became NaN, infinite or too large
	Interrupted = 130 // SIGINT or SIGTERM
)

// Code returns the exit code of an error, 0 for nil.
func Code(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return OK
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, dsbo.ErrDiverged):
		return Diverged
	case errors.Is(err, dsbo.ErrConfig), errors.Is(err, dsbo.ErrShape), errors.Is(err, dsbo.ErrCapability):
		return Usage
	}
	return Failure
}

// ErrReported marks errors that another process shows to the user.
var ErrReported = errors.New("reported by another process")

// Main runs a command and returns its exit code: see [Interruptible] and [Report]. A wrong value of DSBO_KERNEL is an error
// before the command runs.
func Main(name string, command func(ctx context.Context, args []string, stdout, stderr io.Writer) error) int {
	ctx, stop := Interruptible()
	defer stop()
	err := kernel.Env()
	if err == nil {
		err = command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	return Report(os.Stderr, name, err)
}

// Interruptible returns a context that the first interrupt (SIGINT or SIGTERM) ends, so that a command can write a checkpoint; the
// second one ends the process.
func Interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Report writes the error of a command of that name, if the user has to read it, as one line, and returns the exit code.
func Report(stderr io.Writer, name string, err error) int {
	if err != nil && !errors.Is(err, flag.ErrHelp) && !errors.Is(err, ErrReported) {
		fmt.Fprintf(stderr, "%s: %s\n", name, OneLine(err))
	}
	return Code(err)
}

// OneLine returns an error's text for users: in one line, and without the words that only mark its kind.
func OneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	s = strings.ReplaceAll(s, context.Canceled.Error(), "interrupted")
	for _, kind := range []error{dsbo.ErrConfig, dsbo.ErrShape} {
		s = strings.ReplaceAll(s, kind.Error()+": ", "")
		s = strings.TrimSuffix(s, ": "+kind.Error())
	}
	return s
}
