// Package atomicfile replaces files so that a reader, or a machine that stops in the middle, finds the old file or the
// new one, complete.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// BeforeRename, if it is set, is called when the content of a file is on the disk and the file does not have its name
// yet. It is for tests of what is left behind by a process that ends there.
var BeforeRename func(path string)

// Write makes what fill writes the content of the file at path. It writes to a temporary file of the same folder,
// brings that to the disk, renames it and brings the folder to the disk. After an error the old file stands as it was,
// and no temporary file is left.
func Write(path string, fill func(w io.Writer) error) error { return write(path, 0o644, fill) }

func write(path string, mode os.FileMode, fill func(w io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	for _, step := range []func() error{
		func() error { return fill(w) }, w.Flush, func() error { return f.Chmod(mode) }, f.Sync, f.Close,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if BeforeRename != nil {
		BeforeRename(path)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(dir)
}

// WriteBytes is Write with the content at hand.
func WriteBytes(path string, data []byte) error { return Write(path, filler(data)) }

// WriteSecret is WriteBytes of a file that its owner alone can read.
func WriteSecret(path string, data []byte) error { return write(path, 0o600, filler(data)) }

func filler(data []byte) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// SyncDir brings a folder's list of files to the disk, where the system and the file system can.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Sync()
	if runtime.GOOS == "windows" || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
