package network

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsbo"
)

// Causes for which an exchange ends, for errors.Is.
var (
	// ErrClosed is what an exchange returns after its Close.
	ErrClosed = errors.New("exchange closed")
	// ErrEnded marks the end of an exchange because another process left it: see [EndedError].
	ErrEnded = errors.New("another process ended the exchange")
	// ErrSilent marks the end of an exchange because other processes were silent for too long:
	// see [SilentError].
	ErrSilent = errors.New("silent for too long")
)

// A SilentError names the processes of which nothing was heard. It matches [ErrSilent]
// and [dsbo.ErrPeer].
type SilentError struct {
	Processes []string // such as "agent 3", or "rank 2 (agents 4 to 5)"
	Silent    time.Duration
	Last      error // error of the last connection or attempt; nil if there was none
}

func (e *SilentError) Error() string {
	text := fmt.Sprintf("%s has been silent for %v", strings.Join(e.Processes, ", "), e.Silent)
	if e.Last != nil {
		text += ": " + e.Last.Error()
	}
	return text
}

// Unwrap returns what the error matches.
func (e *SilentError) Unwrap() []error { return []error{ErrSilent, dsbo.ErrPeer, e.Last} }

// A PeerError names the process that sent what it must not have sent. It matches [dsbo.ErrPeer].
type PeerError struct {
	Process  string // such as "agent 3"
	Exchange int
	Reason   error
}

func (e *PeerError) Error() string {
	return fmt.Sprintf("%s is at fault in exchange %d: %v", e.Process, e.Exchange, e.Reason)
}

// Unwrap returns what the error matches.
func (e *PeerError) Unwrap() []error { return []error{dsbo.ErrPeer, e.Reason} }

// An EndedError is another process's reason for ending the exchange. It matches [ErrEnded] and the
// kind of that process's error, if [Kind] preserves it. It matches [dsbo.ErrPeer] too, unless the
// run diverged or was interrupted: the settings to be mended, if any, are the other process's.
type EndedError struct {
	Process string // such as "agent 3", or "rank 1 (agents 2 to 3) after 5 exchanges"
	Number  int    // number of the agent or the rank
	Reason  string
	Kind    int
}

func (e *EndedError) Error() string { return fmt.Sprintf("%s ended the run: %s", e.Process, e.Reason) }

// Is reports whether target is ErrEnded, or dsbo.ErrPeer and the other process's error is its
// own affair.
func (e *EndedError) Is(target error) bool {
	if target == dsbo.ErrPeer {
		kind := ErrorOfKind(e.Kind)
		return kind != dsbo.ErrDiverged && kind != context.Canceled
	}
	return target == ErrEnded
}

// Unwrap returns the kind of the other process's error, nil if it is none of those that travel.
func (e *EndedError) Unwrap() error { return ErrorOfKind(e.Kind) }

// kinds are the errors that keep their identity on the way to other processes. Their order is part
// of what is sent. The first that an error matches is its kind: a silent neighbour's last error may
// be one of the others.
func kinds() []error {
	return []error{
		ErrClosed, ErrSilent, dsbo.ErrPeer, dsbo.ErrConfig, dsbo.ErrShape, dsbo.ErrCapability, dsbo.ErrDiverged,
		context.Canceled, context.DeadlineExceeded,
	}
}

// Kind returns the number of an error that ended an exchange, by which transports send its kind to
// other processes: from 1 on for ErrClosed, ErrSilent, dsbo.ErrPeer, dsbo.ErrConfig, dsbo.ErrShape,
// dsbo.ErrCapability, dsbo.ErrDiverged, context.Canceled and context.DeadlineExceeded, and 0 for
// all others.
func Kind(err error) int {
	return 1 + slices.IndexFunc(kinds(), func(k error) bool { return errors.Is(err, k) })
}

// ErrorOfKind returns the error of a number of [Kind], and nil for 0 and unknown numbers.
func ErrorOfKind(kind int) error {
	all := kinds()
	if kind < 1 || kind > len(all) {
		return nil
	}
	return all[kind-1]
}
