package dsbo

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of failure that callers tell apart with errors.Is.
var (
	// ErrConfig marks a setting that cannot work: the user has to change it.
	ErrConfig = errors.New("bad configuration")
	// ErrShape marks data whose lengths do not fit together.
	ErrShape = errors.New("shape mismatch")
	// ErrCapability marks an oracle or model that lacks what a method needs.
	ErrCapability = errors.New("missing capability")
	// ErrDiverged marks a run whose iterates became NaN, infinite or too large.
	ErrDiverged = errors.New("diverged")
	// ErrPeer marks what another process of the run is to blame for, whatever else the error
	// matches: nothing here has to be changed, and this process can be started again.
	ErrPeer = errors.New("another process failed")
)

// Errorf returns an error with the formatted text that matches kind (one of the kinds above),
// without the kind's own words in the text: the text alone describes the fault. Like [fmt.Errorf]
// it wraps the operands of %w.
func Errorf(kind error, format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), kind}
}

// ConfigErrorf is [Errorf] of [ErrConfig].
func ConfigErrorf(format string, args ...any) error { return Errorf(ErrConfig, format, args...) }

// ShapeErrorf is [Errorf] of [ErrShape].
func ShapeErrorf(format string, args ...any) error { return Errorf(ErrShape, format, args...) }

type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.error, e.kind} }

// A Confidential error has a text that only the process that met it may show, as it has values of
// examples.
type Confidential interface {
	error
	// Shared returns what other agents may see in its place.
	Shared() string
}

// Shared returns the text of an error without what its [Confidential] parts keep from other agents.
func Shared(err error) string {
	text := err.Error()
	if c, ok := err.(Confidential); ok {
		return c.Shared()
	}
	switch of := err.(type) {
	case interface{ Unwrap() error }:
		text = sharedPart(text, of.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range of.Unwrap() {
			text = sharedPart(text, part)
		}
	}
	return text
}

// sharedPart returns the text of an error with the text of a wrapped one as other agents may
// see it.
func sharedPart(text string, wrapped error) string {
	if wrapped == nil {
		return text
	}
	return strings.ReplaceAll(text, wrapped.Error(), Shared(wrapped))
}

// A DivergedError is the place where a run's iterates became NaN, infinite or too large. It matches
// [ErrDiverged].
type DivergedError struct {
	Agent     int
	Iteration int
	Quantity  string  // "norm of x", "norm of y", "norm of z", "loss", ...
	Value     float64 // the offending norm or loss
	Advice    string  // which step size would be stable, when known
}

func (e *DivergedError) Error() string {
	s := fmt.Sprintf("diverged: agent %d, iteration %d: %s = %g", e.Agent, e.Iteration, e.Quantity, e.Value)
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// Is reports whether target is ErrDiverged.
func (e *DivergedError) Is(target error) bool { return target == ErrDiverged }
