package features_test

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/tables/features"
)

// row returns the features of a row, zeros too.
func row(e *features.Encoder, width, row int) []float64 {
	x := make([]float64, width)
	places, values := e.Row(nil, nil, row)
	for k, place := range places {
		x[place] = values[k]
	}
	return x
}

// wantError checks that an error is the user's to mend and has a text.
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v; it must be one line with %q", err, text)
	}
}
