package command

import (
	"path/filepath"
	"testing"

	"dsbo/internal/cli"
)

// TestPathsThatCannotBe: a path of the command line where nothing can be made is bad input, which a
// restart does not mend.
func TestPathsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	file := writeCluster(t, dir, 3, nil)
	below := filepath.Join(file, "x") // which is no folder
	for _, args := range [][]string{
		{"pki", "-cluster=" + file, "-out=" + below},
		{"pki", "authority", "-name=n", "-out=" + below},
		{"pki", "request", "-agent=0", "-out=" + below},
		{"agent", "-cluster=" + file, "-agent=0", "-out=" + below},
		{"agent", "-cluster=" + file, "-agent=0", "-out=" + filepath.Join(dir, "out"), "-log-file=" + below},
		{"run", "-cluster=" + file, "-out=" + below},
		{"collect", "-out=" + below, dir},
		{"init", below},
		{"synthetic", "-out=" + below},
	} {
		_, err := command(t, args...)
		wantError(t, err, cli.Usage, "")
	}
}
