//go:build unix

package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

// TestCheckSecret: secrets that others can read are refused; the group may read the secrets of
// root, but of nobody else.
func TestCheckSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	testkit.OK(files.CheckSecret(path))
	testkit.OK(os.WriteFile(path, nil, 0o600))
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: os.Getuid() != 0,
		0o440: os.Getuid() != 0, 0o604: true, 0o644: true, 0o660: true} {
		testkit.OK(os.Chmod(path, mode))
		if err := files.CheckSecret(path); errors.Is(err, dsbo.ErrConfig) != refused {
			t.Errorf("%04o: %v, want that it is refused: %t", mode, err, refused)
		}
	}
	testkit.OK(os.Chmod(path, 0o640))
	if os.Getuid() == 0 {
		testkit.OK(os.Chown(path, 1000, 1000))
	}
	if err := files.CheckSecret(path); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("%v; a user's key that a group can read must be refused", err)
	}
}
