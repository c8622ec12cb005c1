package testkit

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"dsbo/internal/files"
)

// A Memory is a file system in memory that distinguishes synced data from the rest: content synced
// by File.Sync, names by SyncDir. [Memory.States] and [Memory.Crash] give the states that a crash
// may leave. It uses memory for its content and for unsynced changes. It has no permissions and no
// times, and renames within a folder alone. It is safe for use by several goroutines.
type Memory struct {
	// Changed, if it is set, is called after each operation, by its goroutine, with a text such as
	// "rename .a.tmp to a".
	Changed func(operation string)
	// Before, if set, is called before each write and sync, by its goroutine. Its error ends the
	// operation, after half of the bytes are written.
	Before func(operation, path string) error

	mu   sync.Mutex
	root *node // nil: the processes that used it have ended
}

// A node is a file or a folder.
type node struct {
	folder bool
	locked bool

	// content as processes see it; never changed in place, since children may share it
	data    []byte
	saved   []byte    // as it is on the disk
	changes []content // since

	names       map[string]*node // names in a folder, as processes see them
	savedNames  map[string]*node
	nameChanges []map[string]*node // unsynced: names with their nodes at the time, nil if removed
}

// A content is a file's content after a change, which has written bytes from at on.
type content struct {
	data []byte
	from int
}

func newFolder() *node {
	return &node{folder: true, names: map[string]*node{}, savedNames: map[string]*node{}}
}

// NewMemory returns an empty file system.
func NewMemory() *Memory { return &Memory{root: newFolder()} }

// Restart returns a file system with the same content, for the process after a killed one. m, and
// all files open on it, are unusable from then on, and locks are released. Unsynced data survive,
// since the system did not crash.
func (m *Memory) Restart() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := &Memory{root: m.root, Changed: m.Changed, Before: m.Before}
	m.root = nil
	next.root.unlock()
	return next
}

func (n *node) unlock() {
	n.locked = false
	for _, child := range n.names {
		child.unlock()
	}
}

// operate runs one operation on the parent folder of path, nil if missing, and the name in it.
func (m *Memory) operate(operation, path string, change bool, run func(dir *node, name string) error) error {
	return m.lockAndRun(operation, path, change, func() error { return m.resolve(path, run) })
}

// lockAndRun runs one operation, unless the processes that used the file system have ended, and
// reports it to Changed if it changes something.
func (m *Memory) lockAndRun(operation, path string, change bool, run func() error) error {
	m.mu.Lock()
	err := error(fs.ErrClosed)
	if m.root != nil {
		err = run()
	}
	m.mu.Unlock()
	if err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	if change && m.Changed != nil {
		m.Changed(operation + " " + path)
	}
	return nil
}

// begin returns why a write or a sync must not be.
func (m *Memory) begin(operation, path string) error {
	if m.Before == nil {
		return nil
	}
	if err := m.Before(operation, path); err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return nil
}

// resolve finds the folder and name of a path. The root is the name "" in itself.
func (m *Memory) resolve(path string, run func(dir *node, name string) error) error {
	dir, name := m.root, ""
	for _, part := range strings.Split(filepath.ToSlash(filepath.Clean(path)), "/") {
		if part == "" || part == "." {
			continue
		}
		if name != "" {
			next := dir.names[name]
			if next == nil {
				return fs.ErrNotExist
			}
			if !next.folder {
				return syscall.ENOTDIR
			}
			dir = next
		}
		name = part
	}
	return run(dir, name)
}

// child returns the node of a name in a folder, nil if there is none.
func (n *node) child(name string) *node {
	if name == "" {
		return n
	}
	return n.names[name]
}

// setNames sets the nodes of names in a folder. A nil node removes the name.
func (n *node) setNames(to map[string]*node) {
	for name, of := range to {
		if of == nil {
			delete(n.names, name)
		} else {
			n.names[name] = of
		}
	}
	n.nameChanges = append(n.nameChanges, to)
}

// set changes a file's content, and keeps data.
func (n *node) set(data []byte, at int) {
	n.data = data
	n.changes = append(n.changes, content{data, at})
}

// OpenFile implements [FS].
func (m *Memory) OpenFile(path string, flag int, _ fs.FileMode) (files.File, error) {
	f := &memoryFile{m: m, path: path, flag: flag}
	changes := false
	err := m.operate("open", path, false, func(dir *node, name string) error {
		f.n = dir.child(name)
		switch {
		case f.n == nil && flag&os.O_CREATE == 0:
			return fs.ErrNotExist
		case f.n == nil:
			f.n, changes = new(node), true
			dir.setNames(map[string]*node{name: f.n})
		case flag&os.O_EXCL != 0:
			return fs.ErrExist
		case f.n.folder:
			return syscall.EISDIR
		case flag&os.O_TRUNC != 0:
			f.n.set(nil, 0)
			changes = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if changes && m.Changed != nil {
		m.Changed("create " + path)
	}
	return f, nil
}

// Stat implements [FS].
func (m *Memory) Stat(path string) (info fs.FileInfo, err error) {
	err = m.operate("stat", path, false, func(dir *node, name string) error {
		n := dir.child(name)
		if n == nil {
			return fs.ErrNotExist
		}
		info = memoryInfo{filepath.Base(path), int64(len(n.data)), n.folder}
		return nil
	})
	return info, err
}

// ReadDir implements [FS].
func (m *Memory) ReadDir(path string) (entries []fs.DirEntry, err error) {
	err = m.operate("open", path, false, func(dir *node, name string) error {
		n := dir.child(name)
		switch {
		case n == nil:
			return fs.ErrNotExist
		case !n.folder:
			return syscall.ENOTDIR
		}
		for _, name := range slices.Sorted(maps.Keys(n.names)) {
			of := n.names[name]
			entries = append(entries, fs.FileInfoToDirEntry(memoryInfo{name, int64(len(of.data)), of.folder}))
		}
		return nil
	})
	return entries, err
}

// MkdirAll implements [FS].
func (m *Memory) MkdirAll(path string) error {
	if above := filepath.Dir(path); above != path {
		if err := m.MkdirAll(above); err != nil {
			return err
		}
	}
	return m.operate("mkdir", path, true, func(dir *node, name string) error {
		switch n := dir.child(name); {
		case n == nil:
			dir.setNames(map[string]*node{name: newFolder()})
		case !n.folder:
			return syscall.ENOTDIR
		}
		return nil
	})
}

// Rename implements [FS], within one folder.
func (m *Memory) Rename(from, to string) error {
	if filepath.Dir(from) != filepath.Dir(to) {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrInvalid}
	}
	last := filepath.Base(to)
	return m.operate("rename to "+last, from, true, func(dir *node, name string) error {
		n := dir.names[name]
		if n == nil {
			return fs.ErrNotExist
		}
		if name != last {
			dir.setNames(map[string]*node{name: nil, last: n})
		}
		return nil
	})
}

// Remove implements [FS].
func (m *Memory) Remove(path string) error {
	return m.operate("remove", path, true, func(dir *node, name string) error {
		switch n := dir.names[name]; {
		case n == nil:
			return fs.ErrNotExist
		case len(n.names) > 0:
			return syscall.ENOTEMPTY
		}
		dir.setNames(map[string]*node{name: nil})
		return nil
	})
}

// SyncDir implements [FS].
func (m *Memory) SyncDir(path string) error {
	if err := m.begin("sync", path); err != nil {
		return err
	}
	return m.operate("sync folder", path, true, func(dir *node, name string) error {
		n := dir.child(name)
		if n == nil {
			return fs.ErrNotExist
		}
		n.savedNames, n.nameChanges = maps.Clone(n.names), nil
		return nil
	})
}

// Lock implements [FS].
func (m *Memory) Lock(path string) (io.Closer, error) {
	var n *node
	err := m.operate("lock", path, false, func(dir *node, name string) error {
		if n = dir.child(name); n == nil {
			return fs.ErrNotExist
		}
		if n.locked {
			return files.ErrLocked
		}
		n.locked = true
		return nil
	})
	if err != nil {
		if n != nil {
			err = fmt.Errorf("%s %w", path, files.ErrLocked)
		}
		return nil, err
	}
	return memoryLock{m, n}, nil
}

type memoryLock struct {
	m *Memory
	n *node
}

func (l memoryLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.m.root == nil { // the lock may be the next process's
		return fs.ErrClosed
	}
	l.n.locked = false
	return nil
}
