// Package cli holds what the commands share: flags in groups, exit codes, interrupts, progress and tables.
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
	Usage       = 2   // a setting that cannot work
	Diverged    = 3   // the numbers left the finite ones
	Interrupted = 130 // the context of Main was ended
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

// ErrSaid marks errors that another process tells the user.
var ErrSaid = errors.New("said elsewhere")

// Main runs a command and returns its exit code. The first interrupt (SIGINT or SIGTERM) ends the
// context, and the command can put its things in order; the second one ends the process. An error is one line on
// stderr; a value of DSBO_KERNEL that cannot be followed is one, before anything else.
func Main(name string, command func(ctx context.Context, args []string, stdout, stderr io.Writer) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err := kernel.Env()
	if err == nil {
		err = command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) && !errors.Is(err, ErrSaid) {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, OneLine(err))
	}
	return Code(err)
}

// OneLine returns an error's text in one line, without the words that only mark its kind and in words for users.
func OneLine(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	s = strings.ReplaceAll(s, context.Canceled.Error(), "interrupted")
	for _, kind := range []error{dsbo.ErrConfig, dsbo.ErrShape} {
		s = strings.ReplaceAll(s, kind.Error()+": ", "")
		s = strings.TrimSuffix(s, ": "+kind.Error())
	}
	return s
}
