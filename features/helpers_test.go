package features_test

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
)

// wantError checks that an error is the user's to mend and has a text.
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v; it must be one line with %q", err, text)
	}
}
