package testkit

import (
	"io"
	"io/fs"
	"os"
	"time"
)

// A memoryFile is an open file of a Memory.
type memoryFile struct {
	m      *Memory
	n      *node
	path   string
	flag   int
	offset int // where the next read and, without os.O_APPEND, write begins
}

// operate runs one operation on the file.
func (f *memoryFile) operate(operation string, change bool, run func()) error {
	return f.m.lockAndRun(operation, f.path, change, func() error {
		run()
		return nil
	})
}

func (f *memoryFile) Read(p []byte) (n int, err error) {
	err = f.operate("read", false, func() {
		n = copy(p, f.n.data[min(f.offset, len(f.n.data)):])
		f.offset += n
	})
	if err == nil && n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// Write implements [io.Writer]. If Before returns an error, it writes the first half of p.
func (f *memoryFile) Write(p []byte) (int, error) {
	full := f.m.begin("write", f.path)
	if full != nil {
		p = p[:len(p)/2]
	}
	err := f.operate("write", true, func() {
		if f.flag&os.O_APPEND != 0 {
			f.offset = len(f.n.data)
		}
		data := make([]byte, max(len(f.n.data), f.offset+len(p)))
		copy(data, f.n.data)
		copy(data[f.offset:], p)
		f.n.set(data, f.offset)
		f.offset += len(p)
	})
	if err != nil {
		return 0, err
	}
	return len(p), full
}

func (f *memoryFile) Truncate(size int64) error {
	return f.operate("truncate", true, func() {
		data := make([]byte, size)
		copy(data, f.n.data)
		f.n.set(data, int(size))
	})
}

func (f *memoryFile) Sync() error {
	if err := f.m.begin("sync", f.path); err != nil {
		return err
	}
	return f.operate("sync", true, func() { f.n.saved, f.n.changes = f.n.data, nil })
}

func (f *memoryFile) Close() error { return f.operate("close", false, func() {}) }

type memoryInfo struct {
	name   string
	size   int64
	folder bool
}

func (i memoryInfo) Name() string       { return i.name }
func (i memoryInfo) Size() int64        { return i.size }
func (i memoryInfo) IsDir() bool        { return i.folder }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) Sys() any           { return nil }

func (i memoryInfo) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o777
	}
	return 0o666
}
