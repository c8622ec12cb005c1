package command

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"dsbo"
	"dsbo/internal/disk"
)

// secretSuffix ends the name of the file beside an agent's run folder that holds the random bytes
// of its masks, for agents without a certificate, or with noise.
const secretSuffix = ".key"

const secretLength = 32

// readSecret returns the bytes of a secret file, which it makes if there is none: an agent that is
// started again must have the same ones.
func readSecret(path string) ([]byte, error) {
	if err := disk.CheckSecret(path); err != nil {
		return nil, err
	}
	secret, err := disk.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil && len(secret) != secretLength {
			err = dsbo.ConfigErrorf("%s must have %d bytes; it has %d", path, secretLength, len(secret))
		}
		return secret, err
	}
	secret = make([]byte, secretLength)
	_, _ = rand.Read(secret) // which never fails
	if err := disk.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, dsbo.ConfigErrorf("-out: %w", err)
	}
	if err := disk.WriteSecret(path, secret); err != nil {
		return nil, fmt.Errorf("-out: %w", err)
	}
	return secret, nil
}
