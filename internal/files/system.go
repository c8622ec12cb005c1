package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"dsbo"
)

// System is the file system of the operating system.
type System struct{}

// OpenFile implements [FS]. A path that leads to a FIFO or a device, as in a run folder that
// somebody sent, is an error that matches [dsbo.ErrConfig], and is not waited for.
func (System) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	f, err := OpenRegular(path, flag, perm)
	if err != nil {
		return nil, err // without a nil *os.File in it
	}
	return f, nil
}

// OpenRegular is os.OpenFile of a regular file, and an error that matches [dsbo.ErrConfig] of
// anything else.
func OpenRegular(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = dsbo.ConfigErrorf("%s must be a regular file; its mode is %s", path, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Stat implements [FS].
func (System) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// ReadDir implements [FS].
func (System) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// MkdirAll implements [FS].
func (System) MkdirAll(path string) error { return os.MkdirAll(path, 0o777) }

// Rename implements [FS].
func (System) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements [FS].
func (System) Remove(path string) error { return os.Remove(path) }

// SyncDir implements [FS]. Windows, and some file systems, cannot sync a folder; that is no error.
func (System) SyncDir(path string) error {
	d, err := os.Open(path)
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

// Lock implements [FS]. On file systems without locks it succeeds without one. It locks the file or
// folder that path names: if that was removed or replaced between open and lock, Lock tries again.
func (System) Lock(path string) (io.Closer, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		if !lock(f) {
			return nil, errors.Join(fmt.Errorf("%s %w", path, ErrLocked), f.Close())
		}
		mine, err := f.Stat()
		if err == nil {
			var there fs.FileInfo
			if there, err = os.Stat(path); err == nil && os.SameFile(mine, there) {
				return heldLock{f}, nil
			}
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// A heldLock is an open file with its lock.
type heldLock struct{ *os.File }

// Close releases the lock, also if others have copies of the open file.
func (h heldLock) Close() error {
	unlock(h.File)
	return h.File.Close()
}
