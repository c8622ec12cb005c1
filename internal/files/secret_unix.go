//go:build unix

package files

import (
	"os"
	"syscall"

	"dsbo"
)

// CheckSecret returns an error that matches [dsbo.ErrConfig] if users other than a file's owner can
// read it; the group of a file of root may, which is how secrets are handed to services. One that
// is not there is left to who opens it.
func CheckSecret(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	others := os.FileMode(0o077)
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid == 0 {
		others = 0o037
	}
	if mode := info.Mode().Perm(); mode&others != 0 {
		return dsbo.ConfigErrorf(
			"%s is secret: its owner alone must be able to read it; its permissions are %04o (chmod 600 mends that)",
			path, mode)
	}
	return nil
}
