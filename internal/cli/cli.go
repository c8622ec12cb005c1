// Package cli has the common parts of command lines: flags in groups, exit codes, interrupts,
// progress and tables.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/wording"
)

// Exit codes of all commands.
const (
	OK          = 0
	Failure     = 1
	Usage       = 2   // the command line or a file is wrong
	Diverged    = 3   // iterates became NaN, infinite or too large
	Interrupted = 130 // SIGINT, SIGTERM or SIGHUP
)

// Unsuited is the exit code of a program that was started with [AskUnsuited] and whose method or
// model cannot do what was asked with any settings. Without AskUnsuited the code is Usage.
const Unsuited = 4

// AskUnsuited is the environment entry by which a parent process asks for [Unsuited].
const AskUnsuited = "DSBO_UNSUITED=4"

// Code returns the exit code of an error, 0 for nil.
func Code(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return OK
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, dsbo.ErrPeer):
		return Failure
	case errors.Is(err, dsbo.ErrDiverged):
		return Diverged
	case errors.Is(err, dsbo.ErrConfig), errors.Is(err, dsbo.ErrShape):
		return Usage
	case errors.Is(err, dsbo.ErrCapability):
		if slices.Contains(os.Environ(), AskUnsuited) {
			return Unsuited
		}
		return Usage
	}
	return Failure
}

// errReported marks errors that this process, or another one, shows to the user.
var errReported = errors.New("reported already, or by another process")

// Reported marks an error with errReported; its text stays.
func Reported(err error) error { return reported{err} }

type reported struct{ error }

func (r reported) Is(target error) bool { return target == errReported }
func (r reported) Unwrap() error        { return r.error }

// Main runs a command and returns its exit code: [Begin], the command, [End].
func Main(name string, command func(ctx context.Context, args []string, stdout, stderr io.Writer) error) int {
	ctx, err := Begin()
	if err == nil {
		err = command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	return End(name, err)
}

// gcPercent is GOGC's value unless the user gives one.
const gcPercent = 40

// Begin returns the context of a command. The first interrupt (SIGINT, SIGTERM, or SIGHUP unless it
// is ignored) ends it, so that the command can write a checkpoint; the second one ends the process.
// A wrong value of DSBO_KERNEL is an error.
//
// Unless GOGC is set, Begin lowers the garbage collector's target to gcPercent. A steady run makes
// no garbage, so collecting often costs time at the start alone.
func Begin() (context.Context, error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	return ctx, kernel.Env()
}

// End writes a command's error as one line of stderr and returns the exit code.
func End(name string, err error) int {
	if err != nil && !errors.Is(err, flag.ErrHelp) && !errors.Is(err, errReported) {
		Report(os.Stderr, name, err)
	}
	return Code(err)
}

// Report writes a command's error as one line.
func Report(stderr io.Writer, name string, err error) {
	fmt.Fprintf(stderr, "%s: %s\n", name, OneLine(err))
}

// OneLine returns an error's text for users, in one line.
func OneLine(err error) string {
	s := wording.Plain(strings.Join(strings.Fields(err.Error()), " "))
	return strings.ReplaceAll(s, context.Canceled.Error(), "interrupted")
}

// Printf writes as [fmt.Fprintf] does, with each argument that is a string [wording.Plain]: a name
// that a user has given a folder or a run neither ends a line nor moves the cursor.
func Printf(w io.Writer, format string, args ...any) error {
	plain := slices.Clone(args)
	for i, a := range plain {
		if s, ok := a.(string); ok {
			plain[i] = wording.Plain(s)
		}
	}
	_, err := fmt.Fprintf(w, format, plain...)
	return err
}
