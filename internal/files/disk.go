package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dsbo"
)

// An FS is a file system, as far as run folders need one. Paths are paths of package filepath;
// errors are [*fs.PathError] and match the errors of package fs.
type FS interface {
	// OpenFile opens a file as os.OpenFile does. New files have the permissions that perm and the
	// process's mask leave.
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	// Stat returns the information about a file or a folder.
	Stat(path string) (fs.FileInfo, error)
	// ReadDir returns the entries of a folder, by their names.
	ReadDir(path string) ([]fs.DirEntry, error)
	// MkdirAll makes a folder, and the folders above it that are not there.
	MkdirAll(path string) error
	// Rename renames a file or a folder, and replaces a file that has the new name.
	Rename(from, to string) error
	// Remove removes a file, or an empty folder.
	Remove(path string) error
	// SyncDir brings the names in a folder to the disk, where the system and the file system can.
	SyncDir(path string) error
	// Lock keeps other processes, and other callers of Lock, from a file or a folder until the
	// result is closed or the process ends. It does not wait: the error matches [ErrLocked] if the
	// lock is taken. A path without a file is an error.
	Lock(path string) (io.Closer, error)
}

// A File is an open file. It belongs to one goroutine at a time.
type File interface {
	io.Reader
	io.Writer // at the end of the file, where it was opened with os.O_APPEND
	io.Closer
	Truncate(size int64) error
	Sync() error // brings the content to the disk
}

// ErrLocked is the error of a lock that is taken by another process.
var ErrLocked = errors.New("is being written by another process: is the run still going?")

// A mounted file system belongs to a folder and all below it.
type mounted struct {
	dir string // absolute
	fs  FS
}

var (
	mountLock sync.RWMutex
	mounts    []mounted // the first match is used
)

// Mount makes of the file system of a folder and all below it, for this process, until unmount is
// called. It is for simulations, and for tests of the files left by a process that ends at a
// certain file operation.
func Mount(dir string, of FS) (unmount func()) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		panic(err) // a process without a working directory
	}
	here := mounted{dir, of}
	mountLock.Lock()
	defer mountLock.Unlock()
	mounts = slices.Insert(mounts, 0, here)
	return func() {
		mountLock.Lock()
		defer mountLock.Unlock()
		i := slices.Index(mounts, here)
		mounts = slices.Delete(mounts, i, i+1)
	}
}

// fileSystemOf returns the file system of a path: of the last folder mounted that has it, else the
// system's own.
func fileSystemOf(path string) FS {
	mountLock.RLock()
	defer mountLock.RUnlock()
	for _, m := range mounts {
		abs, err := filepath.Abs(path)
		if below, other := filepath.Rel(m.dir, abs); err == nil && other == nil && filepath.IsLocal(below) {
			return m.fs
		}
	}
	return System{}
}

// OpenFile is [FS].OpenFile of the path's file system, and so are the functions after it.
func OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	return fileSystemOf(path).OpenFile(path, flag, perm)
}

// Stat returns the information about a file or a folder.
func Stat(path string) (fs.FileInfo, error) { return fileSystemOf(path).Stat(path) }

// ReadDir returns the entries of a folder, by their names.
func ReadDir(path string) ([]fs.DirEntry, error) { return fileSystemOf(path).ReadDir(path) }

// MkdirAll makes a folder and its missing parents, and syncs each name to the disk before it makes
// the next. The lowest folder that exists already is synced too: a process that made it may have
// crashed before its own sync.
func MkdirAll(path string) error { return mkdirAll(fileSystemOf(path), path) }

// mkdirAll is [MkdirAll] on a file system.
func mkdirAll(files FS, path string) error {
	above := filepath.Dir(path)
	_, err := files.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing && above != path {
		if err := mkdirAll(files, above); err != nil {
			return err
		}
	}
	if err := files.MkdirAll(path); err != nil {
		return err
	}
	// a folder that cannot be read belongs to another user
	if err := files.SyncDir(above); missing || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// Rename gives a file or a folder another name.
func Rename(from, to string) error { return fileSystemOf(to).Rename(from, to) }

// Remove removes a file, or an empty folder.
func Remove(path string) error { return fileSystemOf(path).Remove(path) }

// SyncDir brings the names in a folder to the disk.
func SyncDir(path string) error { return fileSystemOf(path).SyncDir(path) }

// Lock keeps other processes from a file or a folder. The error matches [ErrLocked] and names
// the path.
func Lock(path string) (io.Closer, error) { return fileSystemOf(path).Lock(path) }

// The most that [ReadFile] reads: of a text, which takes several times its length as values, and of
// anything else, such as an array or a checkpoint.
const (
	mostText = 256 << 20
	mostRead = 4 << 30
)

// ReadFile returns the content of a file. Texts, by the endings of their names, and files without
// an ending have at most 256 MiB, others 4 GiB. A longer file, or one that is not regular, is an
// error that matches [dsbo.ErrConfig], before it is read.
func ReadFile(path string) ([]byte, error) {
	f, err := OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	most := int64(mostRead)
	if slices.Contains([]string{"", ".json", ".jsonl", ".csv", ".pem", ".txt"}, filepath.Ext(path)) {
		most = mostText
	}
	info, err := Stat(path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	var data []byte
	if length := info.Size(); length <= most {
		data, err = io.ReadAll(io.LimitReader(f, most+1))
	}
	if err == nil && max(info.Size(), int64(len(data))) > most {
		data, err = nil, dsbo.ConfigErrorf("%s must have at most %d bytes; it has %d", path, most, info.Size())
	}
	return data, errors.Join(err, f.Close())
}

// Write replaces the file at path by the bytes that fill writes. A reader, or a crash of the
// machine, finds either the old content or the new one, complete: Write writes a temporary file in
// the same folder, syncs it, renames it and syncs the folder. After an error the old file is
// unchanged, and no temporary file is left.
func Write(path string, fill func(w io.Writer) error) error {
	return write(path, 0o666, func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<16)
		if err := fill(w); err != nil {
			return err
		}
		return w.Flush()
	})
}

// write is [Write] with the permissions of a new file, and without a buffer.
func write(path string, perm fs.FileMode, fill func(w io.Writer) error) (err error) {
	f, name, err := createTemp(path, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			Remove(name)
		}
	}()
	for _, step := range []func() error{func() error { return fill(f) }, f.Sync, f.Close} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := Rename(name, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Probe returns an error if no file can be made in a folder, and leaves none.
func Probe(dir string) error {
	f, name, err := createTemp(filepath.Join(dir, "probe"), 0o666)
	if err != nil {
		return err
	}
	err = f.Close()
	if e := Remove(name); !errors.Is(e, fs.ErrNotExist) { // whoever has the folder may have removed it
		err = errors.Join(err, e)
	}
	return err
}

// createTemp makes the temporary file of [Write].
func createTemp(path string, perm fs.FileMode) (f File, name string, err error) {
	for range 1000 {
		name = filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.tmp", filepath.Base(path), rand.Uint32()))
		f, err = OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, name, err
}

// IsTemporary reports whether name is a temporary file of [Write]. If the process has the folder's
// lock, such a file was left by a killed process.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
}

// WriteBytes is [Write] with the content at hand.
func WriteBytes(path string, data []byte) error { return writeBytes(path, 0o666, data) }

// WriteSecret is [WriteBytes] of a file that its owner alone can read.
func WriteSecret(path string, data []byte) error { return writeBytes(path, 0o600, data) }

func writeBytes(path string, perm fs.FileMode, data []byte) error {
	return write(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
