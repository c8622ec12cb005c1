package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"dsbo/internal/atomicfile"
	"dsbo/internal/must"
)

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"one", "another, longer", ""} {
		must.OK(atomicfile.WriteBytes(path, []byte(text)))
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Fatalf("got %q, %v; want %q", got, err, text)
		}
	}
	only(t, filepath.Dir(path), "file")
}

func TestFailedWriteChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	must.OK(atomicfile.WriteBytes(path, []byte("whole")))
	broken := errors.New("broken")
	err := atomicfile.Write(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the writer's own error", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "whole" {
		t.Errorf("got %q, %v; want the old content", got, err)
	}
	only(t, dir, "file")
}

func TestWriteNamesTheFolder(t *testing.T) {
	err := atomicfile.WriteBytes(filepath.Join(t.TempDir(), "absent", "file"), nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that the folder is not there", err)
	}
}

// only checks that dir holds one file of that name, and so no temporary one.
func only(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("folder holds %v, %v; want %s alone", entries, err, name)
	}
}
