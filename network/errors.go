package network

import (
	"errors"
	"fmt"

	"dsbo"
)

// ErrClosed is what an exchange returns after its Close.
var ErrClosed = errors.New("exchange closed")

// A settingError matches dsbo.ErrConfig without saying so in its message, so that one can
// stand inside another.
type settingError struct{ error }

func (e settingError) Unwrap() error { return e.error }

// Is reports whether target is dsbo.ErrConfig.
func (e settingError) Is(target error) bool { return target == dsbo.ErrConfig }

func configError(format string, args ...any) error {
	return settingError{fmt.Errorf(format, args...)}
}
