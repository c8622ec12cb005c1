package command

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dsbo"
	"dsbo/internal/must"
)

// TestSecret: an agent that is started again has the same secret, another one has another, and a file of another length is refused.
func TestSecret(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out", "agent-0"+secretSuffix)
	first, again := must.Get(readSecret(path)), must.Get(readSecret(path))
	other := must.Get(readSecret(filepath.Join(dir, "agent-1"+secretSuffix)))
	if len(first) != secretLength || !bytes.Equal(first, again) || bytes.Equal(first, other) {
		t.Errorf("secrets %x, again %x, of another agent %x", first, again, other)
	}
	if mode := must.Get(os.Stat(path)).Mode().Perm(); mode != 0o600 {
		t.Errorf("the file has mode %o; it must be 600", mode)
	}
	must.OK(os.WriteFile(path, first[1:], 0o600))
	if _, err := readSecret(path); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("error %v for a short file must match dsbo.ErrConfig", err)
	}
}
