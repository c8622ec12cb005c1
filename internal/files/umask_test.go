//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

// TestUmask: new files and folders have the permissions that the process's mask leaves, and secrets
// are their owner's alone.
func TestUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	dir := t.TempDir()
	for name, c := range map[string]struct {
		make func(path string) error
		want os.FileMode
	}{
		"file":   {func(path string) error { return files.WriteBytes(path, nil) }, 0o640},
		"secret": {func(path string) error { return files.WriteSecret(path, nil) }, 0o600},
		"folder": {files.MkdirAll, 0o750},
	} {
		path := filepath.Join(dir, name)
		testkit.OK(c.make(path))
		if got := testkit.Get(os.Stat(path)).Mode().Perm(); got != c.want {
			t.Errorf("%s: permissions %o, want %o", name, got, c.want)
		}
	}
}

// TestLockReleased: a lock is free once it is closed, though a copy of its open file is left, as a
// process has that was started meanwhile.
func TestLockReleased(t *testing.T) {
	dir := t.TempDir()
	lock := testkit.Get(files.Lock(dir))
	left := testkit.Get(syscall.Dup(int(lock.(interface{ Fd() uintptr }).Fd())))
	defer syscall.Close(left)
	testkit.OK(lock.Close())
	testkit.OK(testkit.Get(files.Lock(dir)).Close())
}
