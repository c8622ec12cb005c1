package command

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestSecret: an agent that is started again has the same secret, another one has another, and a
// file of another length is refused.
func TestSecret(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out", "agent-0"+secretSuffix)
	first, again := testkit.Get(readSecret(path)), testkit.Get(readSecret(path))
	other := testkit.Get(readSecret(filepath.Join(dir, "agent-1"+secretSuffix)))
	if len(first) != secretLength || !bytes.Equal(first, again) || bytes.Equal(first, other) {
		t.Errorf("secrets %x, again %x, of another agent %x", first, again, other)
	}
	if mode := testkit.Get(os.Stat(path)).Mode().Perm(); mode != 0o600 {
		t.Errorf("the file has mode %o; it must be 600", mode)
	}
	testkit.OK(os.WriteFile(path, first[1:], 0o600))
	if _, err := readSecret(path); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("error %v for a short file must match dsbo.ErrConfig", err)
	}
}

// TestNoisySecret: the masks of noisy numbers belong to the run folder, whose noise is another one
// when it is gone.
func TestNoisySecret(t *testing.T) {
	o := agentOptions{options: options{out: t.TempDir()}, agent: 2}
	first := testkit.Get(o.maskSecret(false))
	if again := testkit.Get(o.maskSecret(false)); !bytes.Equal(first, again) {
		t.Error("the secret without noise is another one")
	}
	fresh := testkit.Get(o.maskSecret(true))
	testkit.OK(os.MkdirAll(string(o.folder()), 0o755))
	testkit.OK(o.folder().WriteConfig(runs.Config{}))
	if again := testkit.Get(o.maskSecret(true)); !bytes.Equal(fresh, again) || bytes.Equal(first, fresh) {
		t.Error("a run must have its secret again, and another run another one")
	}
}
