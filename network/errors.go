package network

import (
	"context"
	"errors"
	"slices"

	"dsbo"
)

// Why an exchange may end, for errors.Is.
var (
	// ErrClosed is what an exchange returns after its Close.
	ErrClosed = errors.New("exchange closed")
	// ErrEnded marks the end of an exchange because another process left it. The error names that one and has its
	// reason; it also matches the kind of that reason, if it is one that [Kind] knows.
	ErrEnded = errors.New("another process ended the exchange")
	// ErrSilent marks the end of an exchange because of another process that said nothing for too long.
	ErrSilent = errors.New("silent for too long")
)

// kinds are the errors that keep their identity on the way to other processes. Their order is part of
// what is sent. The first that an error matches is its kind: a silent neighbour's last error may be one of the others.
func kinds() []error {
	return []error{
		ErrClosed, ErrSilent, dsbo.ErrConfig, dsbo.ErrShape, dsbo.ErrCapability, dsbo.ErrDiverged,
		context.Canceled, context.DeadlineExceeded,
	}
}

// Kind returns the number by which a transport tells other processes what kind of error it was that ended an
// exchange: from 1 for those that keep their identity, ErrClosed, ErrSilent, dsbo.ErrConfig, dsbo.ErrShape,
// dsbo.ErrCapability, dsbo.ErrDiverged, context.Canceled and context.DeadlineExceeded, and 0 for all others.
func Kind(err error) int {
	return 1 + slices.IndexFunc(kinds(), func(k error) bool { return errors.Is(err, k) })
}

// ErrorOfKind returns the error with a number of [Kind], and nil for 0 and for numbers that stand for none.
func ErrorOfKind(kind int) error {
	all := kinds()
	if kind < 1 || kind > len(all) {
		return nil
	}
	return all[kind-1]
}
