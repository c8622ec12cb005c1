package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// longMNIST is a run with a line on stderr after each iteration.
func longMNIST(dir, out string, more ...string) []string {
	return append(strings.Fields("mnist -data "+dir+" -out "+out+
		" -agents 3 -train 30 -val 30 -preset madsbo_tuned -batch 10 -K 60 -T 1 -N 1 -eval-every 1 -checkpoint-every "+
		"4 -seed 5 -report=false"), more...)
}

// TestDiskFull: the error is one line, and existing files stay whole.
func TestDiskFull(t *testing.T) {
	disk, dir := t.TempDir(), t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	testkit.OK(testkit.WriteMNIST(dir, 200, 30))
	out := filepath.Join(disk, "run")
	err := run(t.Context(), longMNIST(dir, out, "-quiet"), io.Discard, io.Discard)
	if cli.Code(err) != cli.Failure || !errors.Is(err, syscall.ENOSPC) || strings.Contains(cli.OneLine(err), "\n") {
		t.Errorf("%v, want that the disk is full", err)
	}
	entries := testkit.Get(os.ReadDir(out))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s is left over", e.Name())
		}
	}
	if got, err := runs.Folder(out).State(); got == runs.Finished || err != nil {
		t.Errorf("state %q, %v", got, err)
	}
}
