package files_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

// onBoth runs a test on the system's file system and on one in memory.
func onBoth(t *testing.T, test func(t *testing.T, dir string)) {
	t.Run("system", func(t *testing.T) { test(t, t.TempDir()) })
	t.Run("memory", func(t *testing.T) {
		dir, _ := inMemory(t)
		test(t, dir)
		if left := testkit.Get(os.ReadDir(dir)); len(left) > 0 {
			t.Errorf("the system has got %v", left)
		}
	})
}

// inMemory mounts a file system in memory as a folder, which is on its disk.
func inMemory(t *testing.T) (dir string, m *testkit.Memory) {
	dir, m = t.TempDir(), testkit.NewMemory()
	testkit.OK(m.MkdirAll(dir))
	t.Cleanup(files.Mount(dir, m))
	for above := dir; above != filepath.Dir(above); above = filepath.Dir(above) {
		testkit.OK(m.SyncDir(filepath.Dir(above)))
	}
	return dir, m
}

// TestFailedWriteChangesNothing: a file has the content that was written last, of writes that went
// well.
func TestFailedWriteChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string) {
		path, broken := filepath.Join(dir, "file"), errors.New("broken")
		for _, text := range []string{"one", "another, longer", ""} {
			testkit.OK(files.WriteBytes(path, []byte(text)))
			err := files.Write(path, func(w io.Writer) error {
				return errors.Join(write(w, strings.Repeat("a", 1<<20)), broken)
			})
			if !errors.Is(err, broken) {
				t.Errorf("got %v, want the writer's own error", err)
			}
			if got, err := files.ReadFile(path); err != nil || string(got) != text {
				t.Fatalf("got %q, %v; want %q", got, err, text)
			}
			only(t, dir, "file")
		}
	})
}

// only checks that dir holds one file of that name, and so no temporary one.
func only(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := files.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("folder holds %v, %v; want %s alone", entries, err, name)
	}
}

// TestErrors: both file systems say in the same words of package fs what cannot be.
func TestErrors(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string) {
		file, folder, absent := filepath.Join(dir, "file"), filepath.Join(dir, "folder"), filepath.Join(dir, "absent")
		testkit.OK(files.WriteBytes(file, []byte("text")))
		testkit.OK(files.MkdirAll(filepath.Join(folder, "below")))
		open := func(path string, flag int) error {
			_, err := files.OpenFile(path, flag, 0o666)
			return err
		}
		_, statErr := files.Stat(absent)
		_, listErr := files.ReadDir(absent)
		_, lockErr := files.Lock(absent)
		for name, c := range map[string]struct{ err, want error }{
			"open":               {open(absent, os.O_RDONLY), fs.ErrNotExist},
			"open once":          {open(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL), fs.ErrExist},
			"write in no folder": {files.WriteBytes(filepath.Join(absent, "file"), nil), fs.ErrNotExist},
			"stat":               {statErr, fs.ErrNotExist},
			"list":               {listErr, fs.ErrNotExist},
			"lock":               {lockErr, fs.ErrNotExist},
			"remove":             {files.Remove(absent), fs.ErrNotExist},
			"rename":             {files.Rename(absent, file), fs.ErrNotExist},
			"sync":               {files.SyncDir(absent), fs.ErrNotExist},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: %v, want %v", name, c.err, c.want)
			}
		}
		for name, err := range map[string]error{
			"remove a full folder":  files.Remove(folder),
			"a folder below a file": files.MkdirAll(filepath.Join(file, "below")),
		} {
			if err == nil {
				t.Errorf("%s must be an error", name)
			}
		}
		if info := testkit.Get(files.Stat(folder)); !info.IsDir() || info.Name() != "folder" {
			t.Errorf("%v is no folder", info)
		}
	})
}

// TestAppend: appending to a truncated file continues at its end.
func TestAppend(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string) {
		path := filepath.Join(dir, "file")
		f := testkit.Get(files.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666))
		for _, step := range []error{write(f, "one"), write(f, "two"), f.Truncate(4), write(f, "x"),
			f.Sync(), f.Close()} {
			testkit.OK(step)
		}
		if got := testkit.Get(files.ReadFile(path)); string(got) != "onetx" {
			t.Errorf("%q, want onetx", got)
		}
	})
}

func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// TestLock: one at a time has a folder, and it is the folder that has its name.
func TestLock(t *testing.T) {
	onBoth(t, func(t *testing.T, dir string) {
		if runtime.GOOS == "windows" {
			t.Skip("no locks here")
		}
		path := filepath.Join(dir, "run")
		testkit.OK(files.MkdirAll(path))
		first := testkit.Get(files.Lock(path))
		if _, err := files.Lock(path); !errors.Is(err, files.ErrLocked) {
			t.Errorf("%v, want that it is locked", err)
		}
		testkit.OK(files.Remove(path))
		testkit.OK(files.MkdirAll(path))
		second := testkit.Get(files.Lock(path)) // of another folder
		testkit.OK(errors.Join(first.Close(), second.Close()))
		testkit.OK(testkit.Get(files.Lock(path)).Close())
	})
}

// TestStates: a crash leaves the old content or the new one of a file that is replaced as Write
// does, and other things of one that is not.
func TestStates(t *testing.T) {
	for name, c := range map[string]struct {
		replace func(path string) error
		want    []string
	}{
		"by Write": {func(path string) error { return files.WriteBytes(path, []byte("news")) },
			[]string{"news", "old"}},
		"in place": {
			func(path string) error {
				f := testkit.Get(files.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0))
				return errors.Join(write(f, "news"), f.Sync(), f.Close())
			},
			[]string{"", "\x00\x00\x00\x00", "ne", "news", "old"},
		},
		"renamed before its content is on the disk": {
			func(path string) error {
				f := testkit.Get(files.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE, 0))
				return errors.Join(write(f, "news"), f.Close(), files.Rename(path+".tmp", path),
					files.SyncDir(filepath.Dir(path)))
			},
			[]string{"", "\x00\x00\x00\x00", "ne", "news", "old"},
		},
		"removed and made again": {
			func(path string) error {
				return errors.Join(files.Remove(path), files.WriteBytes(path, []byte("news")))
			},
			[]string{"absent", "news", "old"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, m := inMemory(t)
			path := filepath.Join(dir, "file")
			testkit.OK(files.WriteBytes(path, []byte("old")))
			var got []string
			m.Changed = func(string) {
				for state := range m.States() {
					got = append(got, contentOf(state, path))
				}
			}
			testkit.OK(c.replace(path))
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, c.want) {
				t.Errorf("left are %q, want %q", got, c.want)
			}
			if now := testkit.Get(files.ReadFile(path)); string(now) != "news" {
				t.Errorf("at the end %q", now)
			}
		})
	}
}

func contentOf(m *testkit.Memory, path string) string {
	f, err := m.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return "absent"
	}
	return string(testkit.Get(io.ReadAll(f)))
}

// TestLostNames: of many names that were not brought to the disk, any may be lost, and what lies
// below a lost folder is.
func TestLostNames(t *testing.T) {
	for _, n := range []int{1, 3, 4, 6} {
		m := testkit.NewMemory()
		for i := range n {
			testkit.OK(testkit.Get(m.OpenFile("/"+string(rune('a'+i)), os.O_WRONLY|os.O_CREATE, 0)).Close())
		}
		left := map[string]bool{}
		for state := range m.States() {
			left[state.Digest()] = true
		}
		if want := min(1<<n, 2*n); len(left) != want && n > 4 || n <= 4 && len(left) != 1<<n {
			t.Errorf("%d states of %d names, want %d", len(left), n, want)
		}
	}
	m := testkit.NewMemory()
	testkit.OK(m.MkdirAll("/run/agent"))
	testkit.OK(m.SyncDir("/run"))
	for state := range m.States() {
		_, err := state.Stat("/run")
		if _, below := state.Stat("/run/agent"); (err == nil) != (below == nil) {
			t.Errorf("%v of the folder, %v of what is in it", err, below)
		}
	}
}

// TestFolderOfALostProcess: what is in a folder is safe, also where a process that made it was lost
// after any of its operations.
func TestFolderOfALostProcess(t *testing.T) {
	for last := 0; ; last++ {
		dir, m := inMemory(t)
		folder, operations := filepath.Join(dir, "a", "b", "c"), 0
		m.Changed = func(string) {
			if operations++; operations > last {
				runtime.Goexit()
			}
		}
		var process sync.WaitGroup
		whole := false
		process.Go(func() {
			testkit.OK(files.MkdirAll(folder))
			whole = true
		})
		process.Wait()
		m.Changed = nil
		file := filepath.Join(folder, "file")
		testkit.OK(files.MkdirAll(folder))
		testkit.OK(files.WriteBytes(file, []byte("text")))
		for state := range m.States() {
			if got := contentOf(state, file); got != "text" {
				t.Fatalf("a process was lost after %d operations: the file of the next one is %s after a loss of power",
					last, got)
			}
		}
		if whole {
			return
		}
	}
}

// TestRestart: what has a file open, or a lock, when its process ends does no more harm to the
// next one.
func TestRestart(t *testing.T) {
	m := testkit.NewMemory()
	testkit.OK(m.MkdirAll("/run"))
	f := testkit.Get(m.OpenFile("/run/file", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0))
	testkit.OK(write(f, "kept"))
	lock := testkit.Get(m.Lock("/run"))
	next := m.Restart()
	second := testkit.Get(next.Lock("/run"))
	if err := write(f, "lost"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v, want that the file is closed", err)
	}
	lock.Close()
	if _, err := next.Lock("/run"); !errors.Is(err, files.ErrLocked) {
		t.Errorf("%v, want that the lock is the next process's", err)
	}
	testkit.OK(second.Close())
	if got := contentOf(next, "/run/file"); got != "kept" {
		t.Errorf("%q", got)
	}
}
