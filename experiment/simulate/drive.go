package simulate

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"dsbo/internal/disk"
	"dsbo/internal/testkit"
)

// A drive is the disk of a machine. Bringing things to it takes time, it may be full or slow, and
// who is killed has lost it.
type drive struct {
	*machine

	state sync.Mutex
	files *testkit.Memory // nil: the process that had it is lost, and the next one has not begun
	next  *testkit.Memory // what that one will find
	full  int             // faults because of which nothing fits
	slow  int             // faults because of which all takes long

	// changed, if it is set, is called after each operation that changes files, as the process that
	// has asked for it does.
	changed func(files *testkit.Memory, operation string)
}

// newDrive returns an empty one, and what takes it away. It is the file system of the machine's
// folder and all below.
func newDrive(m *machine, folder string) (d *drive, unmount func(), err error) {
	files, err := newDisk(folder)
	if err != nil {
		return nil, nil, err
	}
	d = &drive{machine: m, files: files}
	return d, disk.Mount(folder, d), nil
}

// newDisk returns one that has a folder alone.
func newDisk(folder string) (*testkit.Memory, error) {
	files := testkit.NewMemory()
	if err := files.MkdirAll(folder); err != nil {
		return nil, err
	}
	for dir := folder; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if err := files.SyncDir(filepath.Dir(dir)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// detach takes the drive away from the process that has it. The next one finds what that one has
// written, or with crash what was brought to the disk and, as it is drawn, some of the rest.
func (d *drive) detach(crash bool, choose draw) {
	d.state.Lock()
	defer d.state.Unlock()
	if d.files != nil {
		d.next, d.files = d.files.Restart(), nil
	}
	if crash {
		k := int64(0)
		d.next = d.next.Crash(func(n int) int {
			k++
			return choose.of("crash", k).below(n)
		})
	}
}

// erase leaves nothing for the next process.
func (d *drive) erase() {
	d.state.Lock()
	defer d.state.Unlock()
	d.next, _ = newDisk(filepath.Dir(d.dir)) // which has been made before
}

// rot damages the newest checkpoint of a process that was lost: it is cut, or one of its numbers is
// another one.
func (d *drive) rot(how draw) {
	d.state.Lock()
	defer d.state.Unlock()
	if d.next == nil {
		return
	}
	entries, _ := d.next.ReadDir(d.dir) // a process that was lost early has no folder
	newest := ""
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "checkpoint.") {
			newest = filepath.Join(d.dir, e.Name())
		}
	}
	f, err := d.next.OpenFile(newest, os.O_RDONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err == nil && len(data) > 100 {
		if how.chance(0.5) {
			data = data[:len(data)/2]
		} else {
			data[len(data)-40]++ // before the checksum of 32 bytes; what is damaged twice is not whole again
		}
		_ = rewrite(d.next, newest, data) // a memory is not full
	}
}

// rewrite replaces a file's content.
func rewrite(files *testkit.Memory, path string, data []byte) error {
	f, err := files.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// attach gives the drive to the next process.
func (d *drive) attach() {
	d.state.Lock()
	defer d.state.Unlock()
	if d.files == nil {
		d.files, d.next = d.next, nil
	}
	if files := d.files; d.changed != nil {
		files.Changed = func(operation string) { d.changed(files, operation) }
	}
}

// now returns the files, as long as the process that asks has them.
func (d *drive) now() (*testkit.Memory, error) {
	d.state.Lock()
	defer d.state.Unlock()
	if d.files == nil {
		return nil, fs.ErrClosed
	}
	return d.files, nil
}

// fits returns an error if nothing fits the drive.
func (d *drive) fits() error {
	d.state.Lock()
	defer d.state.Unlock()
	if d.full > 0 {
		return syscall.ENOSPC
	}
	return nil
}

// sync takes the time of bringing something to the disk.
func (d *drive) sync() {
	d.mu.Lock()
	p := d.machine.now
	d.mu.Unlock()
	if p == nil {
		return
	}
	d.state.Lock()
	slow := d.slow > 0
	d.state.Unlock()
	takes := d.of("sync", d.agent).of("moment", int64(time.Since(begin))).between(d.Sync/100, d.Sync)
	if slow {
		takes *= 100
	}
	p.spend(takes)
}

// onDisk runs an operation on the files.
func onDisk[T any](d *drive, operation, path string,
	run func(files *testkit.Memory, path string) (T, error)) (v T, err error) {
	files, err := d.now()
	if err != nil {
		return v, &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return run(files, path)
}

// OpenFile implements [disk.FS].
func (d *drive) OpenFile(path string, flag int, perm fs.FileMode) (disk.File, error) {
	return onDisk(d, "open", path, func(files *testkit.Memory, path string) (disk.File, error) {
		f, err := files.OpenFile(path, flag, perm)
		if err != nil {
			return nil, err
		}
		return driveFile{f, d, path}, nil
	})
}

// Stat implements [disk.FS].
func (d *drive) Stat(path string) (fs.FileInfo, error) {
	return onDisk(d, "stat", path, (*testkit.Memory).Stat)
}

// ReadDir implements [disk.FS].
func (d *drive) ReadDir(path string) ([]fs.DirEntry, error) {
	return onDisk(d, "open", path, (*testkit.Memory).ReadDir)
}

// MkdirAll implements [disk.FS].
func (d *drive) MkdirAll(path string) error {
	return d.change("mkdir", path, (*testkit.Memory).MkdirAll)
}

// Rename implements [disk.FS].
func (d *drive) Rename(from, to string) error {
	return d.change("rename", from, func(files *testkit.Memory, from string) error { return files.Rename(from, to) })
}

// Remove implements [disk.FS].
func (d *drive) Remove(path string) error {
	return d.change("remove", path, (*testkit.Memory).Remove)
}

// SyncDir implements [disk.FS].
func (d *drive) SyncDir(path string) error {
	d.sync()
	return d.change("sync", path, (*testkit.Memory).SyncDir)
}

// Lock implements [disk.FS].
func (d *drive) Lock(path string) (io.Closer, error) {
	return onDisk(d, "lock", path, (*testkit.Memory).Lock)
}

func (d *drive) change(operation, path string, run func(files *testkit.Memory, path string) error) error {
	_, err := onDisk(d, operation, path, func(files *testkit.Memory, path string) (any, error) {
		return nil, run(files, path)
	})
	return err
}

// A driveFile is an open file of a drive.
type driveFile struct {
	disk.File
	drive *drive
	path  string
}

// Write implements [disk.File]. On a full drive a part of the text is written.
func (f driveFile) Write(p []byte) (int, error) {
	if full := f.drive.fits(); full != nil {
		n, err := f.File.Write(p[:len(p)/2])
		if err == nil {
			err = &fs.PathError{Op: "write", Path: filepath.Clean(f.path), Err: full}
		}
		return n, err
	}
	return f.File.Write(p)
}

// Sync implements [disk.File].
func (f driveFile) Sync() error {
	f.drive.sync()
	return f.File.Sync()
}

// fill begins or ends a fault because of which nothing fits.
func (d *drive) fill(begins bool) { d.addFault(&d.full, begins) }

// slowDown begins or ends a fault because of which all that is brought to the disk takes a hundred
// times as long.
func (d *drive) slowDown(begins bool) { d.addFault(&d.slow, begins) }

// addFault counts a fault that begins or ends.
func (d *drive) addFault(count *int, begins bool) {
	d.state.Lock()
	defer d.state.Unlock()
	if begins {
		*count++
	} else {
		*count--
	}
}
