package command

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dsbo"
)

// secretSuffix ends the name of the file beside an agent's run folder that holds the random bytes of its masks, for agents
// without a certificate.
const secretSuffix = ".key"

const secretLength = 32

// readSecret returns the bytes of a secret file, which it makes if there is none: an agent that is started again must have the
// same ones.
func readSecret(path string) ([]byte, error) {
	secret, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil && len(secret) != secretLength {
			err = dsbo.Errorf(dsbo.ErrConfig, "%s must have %d bytes; it has %d", path, secretLength, len(secret))
		}
		return secret, err
	}
	secret = make([]byte, secretLength)
	_, _ = rand.Read(secret) // which never fails
	return secret, writeSecret(path, secret)
}

// writeSecret writes a file that its owner alone can read, all of it or nothing.
func writeSecret(path string, secret []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return dsbo.Errorf(dsbo.ErrConfig, "-out: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	_, err = f.Write(secret)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
