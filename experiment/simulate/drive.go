package simulate

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dsbo/internal/disk"
	"dsbo/internal/testkit"
)

// newDisk returns an empty disk that has a folder alone.
func newDisk(folder string) *testkit.Memory {
	files := testkit.NewMemory()
	testkit.OK(files.MkdirAll(folder))
	for dir := folder; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		testkit.OK(files.SyncDir(filepath.Dir(dir)))
	}
	return files
}

// attach gives the disk to the next process. The machine's lock is held.
func (m *machine) attach() {
	files := cmp.Or(m.next, m.files)
	files.Before = m.beforeDisk
	if m.changed != nil {
		files.Changed = func(operation string) { m.changed(files, operation) }
	}
	if files == m.files {
		return
	}
	unmount := disk.Mount(filepath.Dir(m.dir), files)
	if m.unmount != nil {
		m.unmount()
	}
	m.files, m.next, m.unmount = files, nil, unmount
}

// detach takes the disk away from the process that has it. The next one finds what that one has
// written, or with crash what was brought to the disk and, as it is drawn, some of the rest. The
// machine's lock is held.
func (m *machine) detach(crash bool, choose draw) {
	if m.next == nil {
		m.next = m.files.Restart()
		m.next.Before, m.next.Changed = nil, nil // until there is a process
	}
	if crash {
		k := int64(0)
		m.next = m.next.Crash(func(n int) int {
			k++
			return choose.of("crash", k).below(n)
		})
	}
}

// has reports whether a file is in the run folder.
func (m *machine) has(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := cmp.Or(m.next, m.files).Stat(filepath.Join(m.dir, name))
	return err == nil
}

// erase leaves nothing for the next process of a machine that was lost.
func (m *machine) erase() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = newDisk(filepath.Dir(m.dir))
}

// rot damages the newest checkpoint of a machine that was lost: it is cut, or one of its numbers is
// another one.
func (m *machine) rot(how draw) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries, _ := m.next.ReadDir(m.dir) // a process that was lost early has no folder
	newest := ""
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "checkpoint.") {
			newest = filepath.Join(m.dir, e.Name())
		}
	}
	f, err := m.next.OpenFile(newest, os.O_RDONLY, 0)
	if err != nil {
		return
	}
	data := testkit.Get(io.ReadAll(f))
	if len(data) <= 100 {
		return
	}
	if how.chance(0.5) {
		data = data[:len(data)/2]
	} else {
		data[len(data)-40]++ // before the checksum of 32 bytes; what is damaged twice is not whole again
	}
	f = testkit.Get(m.next.OpenFile(newest, os.O_WRONLY|os.O_TRUNC, 0))
	testkit.Get(f.Write(data))
	testkit.OK(f.Sync())
}

// beforeDisk takes the time of bringing something to the disk, and has nothing fit a full one.
func (m *machine) beforeDisk(operation, _ string) error {
	m.mu.Lock()
	p, full, slow := m.now, m.faults[fullDisk].count > 0, m.faults[slowDisk].count > 0
	m.mu.Unlock()
	if operation == "write" {
		if full {
			return syscall.ENOSPC
		}
		return nil
	}
	takes := m.of("sync", m.agent).of("moment", int64(time.Since(begin))).between(m.Sync/100, m.Sync)
	if slow {
		takes *= 100
	}
	if p != nil {
		p.spend(takes)
	}
	return nil
}
