package experiment

import (
	"strings"
	"testing"
)

// TestNames: the transport is found in command lines that are wrong elsewhere.
func TestNames(t *testing.T) {
	for line, want := range map[string]bool{
		"-colour=3 -transport mpi":   true,
		"--transport=mpi -K x":       true,
		"mnist -K 3 -transport=mpi":  true,
		"-transport":                 false,
		"-transport local mpi":       false,
		"-transport=local -wire=mpi": false,
		"transport mpi":              false,
		"":                           false,
	} {
		if got := names(strings.Fields(line), "mpi"); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}
