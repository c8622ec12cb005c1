//go:build unix

package compare

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

// TestKilled: the runs of a comparison that is killed end with it, and keep no processor
// from others.
func TestKilled(t *testing.T) {
	out := t.TempDir()
	life, held := testkit.Get2(os.Pipe()) // that every process holds open until it has ended
	c := exec.Command(testkit.Get(os.Executable()), "compare", out)
	c.Env = append(os.Environ(), lifeVariable+"=3")
	c.ExtraFiles = []*os.File{held}
	testkit.OK(c.Start())
	testkit.OK(held.Close())
	var child int
	t.Cleanup(func() {
		_ = c.Process.Kill() // an error means that it has ended
		if t.Failed() && child != 0 {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	})
	testkit.OK(life.SetReadDeadline(time.Now().Add(time.Minute)))
	if _, err := fmt.Fscanln(life, &child); err != nil {
		t.Fatalf("no run has begun: %v", err)
	}
	testkit.OK(c.Process.Kill())
	_ = c.Wait() // whose error is the kill
	if _, err := io.Copy(io.Discard, life); err != nil {
		t.Errorf("the run goes on when the comparison is killed: %v", err)
	}
}

// TestLockedFolder: a comparison names the run that another process still has, and does not take it
// for one that failed.
func TestLockedFolder(t *testing.T) {
	out := t.TempDir()
	s := testkit.Get(Parse([]byte(endless)))
	testkit.OK(s.checkTasks(all()))
	folder := newTrial(out, s, s.Tasks[0], s.Methods[0], nil, 1).Folder
	lock := testkit.Get(folder.Lock())
	defer lock.Close()
	if _, err := Run(t.Context(), s, Options{Out: out, Tasks: all()}); !errors.Is(err, files.ErrLocked) {
		t.Errorf("error %v, want that the folder of a run is in use", err)
	}
}
