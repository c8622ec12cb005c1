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

	"dsbo/internal/cli"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
	"dsbo/runs"
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

// TestTrialEnds: a run that has finished or diverged is kept, unless all are made again. Others
// start the program, whose exit code and last words are how they ended.
func TestTrialEnds(t *testing.T) {
	for name, c := range map[string]struct {
		before runs.State // in the folder
		again  bool
		code   int
		state  runs.State
		kept   bool
	}{
		"finished":     {runs.Finished, false, 1, runs.Finished, true},
		"diverged":     {runs.Diverged, false, 1, runs.Diverged, true},
		"made again":   {runs.Finished, true, 1, runs.Failed, false},
		"interrupted":  {runs.Interrupted, false, 1, runs.Failed, false},
		"wrong flags":  {runs.Failed, false, cli.Usage, refused, false},
		"other method": {runs.Failed, false, cli.Unsuited, notApplicable, false},
	} {
		of := trial{Args: []string{"tune", "-K=1"}, Folder: runs.Folder(t.TempDir())}
		testkit.OK(of.Folder.WriteConfig(runs.Config{Build: runs.ThisBuild(), Task: "tune"}))
		testkit.OK(of.Folder.WriteSummary(runs.Summary{State: c.before}))
		testkit.OK(os.WriteFile(of.Folder.Path(runs.MetricsFile), nil, 0o600))
		program := []string{"sh", "-c", fmt.Sprintf("echo more >&2; echo dsbo: tune: it fell >&2; exit %d", c.code)}
		testkit.OK(of.run(t.Context(), program, 1, c.again))
		if of.State != c.state || of.kept != c.kept || (of.Error == "it fell") == c.kept ||
			(of.Config.Task != "") != c.kept {
			t.Errorf("%s: %s, kept %t, %q", name, of.State, of.kept, of.Error)
		}
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
