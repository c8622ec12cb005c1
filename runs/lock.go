package runs

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"dsbo"
	"dsbo/internal/files"
)

// Lock makes the folder if there is none, and keeps other processes from a run in it until the
// result is closed or the process ends. It precedes all reading of the folder, so that its content
// cannot change meanwhile. If another process has the folder, nothing changes and the error matches
// [files.ErrLocked].
//
// A folder that Lock has made, and those above it, are removed when the result is closed and
// nothing is in them.
func (f Folder) Lock() (io.Closer, error) {
	var err error
	for range 100 { // retry if another process, which made the folder, removes it in between
		var l *folderLock
		if l, err = tryLock(f); err == nil {
			return l, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return nil, err
}

// tryLock makes the folder and its missing parents and locks it. It notes the folders that it
// makes, from the deepest, so that Close can remove them if they stay empty.
func tryLock(f Folder) (*folderLock, error) {
	l := new(folderLock)
	for dir := string(f); ; dir = filepath.Dir(dir) {
		if _, err := files.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		l.madeFolders = append(l.madeFolders, dir)
	}
	if err := checkWritable(f); err != nil {
		return nil, err
	}
	if err := files.MkdirAll(string(f)); err != nil {
		return nil, err
	}
	var err error
	l.Closer, err = files.Lock(string(f))
	return l, err
}

// checkWritable returns an error if the folder, or, as long as it does not exist, the nearest
// existing folder above it, is not a folder in which files can be made.
func checkWritable(f Folder) error {
	dir := string(f)
	info, err := files.Stat(dir)
	for ; errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); info, err = files.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	switch {
	case err != nil:
		return dsbo.ConfigErrorf("run folder %s: %w", f, err)
	case !info.IsDir():
		return dsbo.ConfigErrorf("run folder must be a folder; %s is a file", dir)
	}
	if err := files.Probe(dir); err != nil {
		return dsbo.ConfigErrorf("run folder %s cannot be written to: %w", f, err)
	}
	return nil
}

// A folderLock is the lock of a folder.
type folderLock struct {
	io.Closer
	madeFolders []string // folders that were made for it, the deepest first
}

// Close removes what is empty before others may have it.
func (l *folderLock) Close() error {
	for _, dir := range l.madeFolders {
		if files.Remove(dir) != nil { // it is in use
			break
		}
	}
	return l.Closer.Close()
}

// formerFiles are files that agents of earlier versions had, and have no use for any more.
var formerFiles = []string{"masks.bin", "vote.json"}

// RemoveStale removes files that processes were writing when they were killed, and files of earlier
// versions. The folder must be a run's, and locked.
func (f Folder) RemoveStale() error {
	entries, err := files.ReadDir(string(f))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if (files.IsTemporary(e.Name()) || slices.Contains(formerFiles, e.Name())) && !e.IsDir() {
			// it was of a run refused here
			if err := files.Remove(f.Path(e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
