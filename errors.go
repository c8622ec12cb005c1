package dsbo

import (
	"errors"
	"fmt"
)

// Kinds of failure that callers tell apart with errors.Is.
var (
	// ErrConfig marks a setting that cannot work: the user has to change it.
	ErrConfig = errors.New("bad configuration")
	// ErrShape marks data whose lengths do not fit together.
	ErrShape = errors.New("shape mismatch")
	// ErrCapability marks an oracle or model that lacks what a method needs.
	ErrCapability = errors.New("missing capability")
	// ErrDiverged marks a run whose numbers left the range in which they mean something.
	ErrDiverged = errors.New("diverged")
)

// A DivergedError says where a run left the finite numbers. It matches [ErrDiverged].
type DivergedError struct {
	Agent     int
	Iteration int
	Quantity  string  // "x", "y", "z", "loss", ...
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
