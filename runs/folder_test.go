package runs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// folder makes a run folder in a state: "absent", "empty", "half" (killed as it wrote its first
// file), "" (no summary) or a state of summary.json.
func folder(t *testing.T, state string) runs.Folder {
	t.Helper()
	f := runs.Folder(filepath.Join(t.TempDir(), "deep", "run"))
	if state == "absent" {
		return f
	}
	testkit.OK(f.Open(runs.Fresh))
	switch state {
	case "empty":
	case "half":
		testkit.OK(os.WriteFile(f.Path(".config.json.7.tmp"), []byte("{"), 0o644))
	default:
		testkit.OK(f.WriteConfig(runs.Config{Format: runs.Format, Seed: 7, Build: runs.ThisBuild()}))
		if state != "" {
			testkit.OK(f.WriteSummary(map[string]any{"state": state}))
		}
	}
	return f
}

func TestFolderModes(t *testing.T) {
	for _, c := range []struct {
		state                  string
		fresh, resume, replace string // what the error says; "": none
	}{
		{"absent", "", "no run to resume", ""},
		{"empty", "", "no run to resume", ""},
		{"half", "", "no run to resume", ""},
		{"", "unfinished run: -resume", "", ""},
		{"interrupted", "unfinished run: -resume", "", ""},
		{"finished", "finished run: -force", "nothing to resume", ""},
	} {
		for m, want := range map[runs.Mode]string{runs.Fresh: c.fresh, runs.Resume: c.resume, runs.Replace: c.replace} {
			err := folder(t, c.state).Check(m)
			if want == "" && err != nil ||
				want != "" && (!errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), want)) {
				t.Errorf("state %q, mode %d: %v, want %q", c.state, m, err, want)
			}
		}
	}
}

func TestFolderRefusesWhatIsNotItsOwn(t *testing.T) {
	dir := t.TempDir()
	thesis := filepath.Join(dir, "thesis.tex")
	testkit.OK(os.WriteFile(thesis, nil, 0o644))
	for _, m := range []runs.Mode{runs.Fresh, runs.Resume, runs.Replace} {
		if err := runs.Folder(dir).Open(m); !errors.Is(err, dsbo.ErrConfig) ||
			!strings.Contains(err.Error(), "neither empty nor a run folder") {
			t.Errorf("mode %d: %v, want that the folder is refused", m, err)
		}
	}
	if err := runs.Folder(thesis).Check(runs.Fresh); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("%v, want that a file is refused", err)
	}
	if err := runs.Folder(filepath.Join(thesis, "below")).Check(runs.Fresh); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("%v, want that a folder below a file is refused", err)
	}
}

func TestFolderNotWritable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	testkit.OK(os.Chmod(dir, 0o555))
	if _, err := runs.Folder(filepath.Join(dir, "run")).Lock(); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("%v, want that the folder is refused", err)
	}
}

// TestReplaceRemovesTheRun: nothing of the old run is left beside the new one's files.
func TestReplaceRemovesTheRun(t *testing.T) {
	f := folder(t, "finished")
	testkit.OK(f.WriteArray(runs.LambdaFile, []float64{1, 2}, 2))
	testkit.OK(f.Open(runs.Replace))
	entries, err := os.ReadDir(string(f))
	if err != nil || len(entries) != 1 || entries[0].Name() != "config.json" {
		t.Errorf("left: %v, %v; want config.json alone", entries, err)
	}
	if c, err := f.ReadConfig(); err != nil || c.Seed != 7 {
		t.Errorf("configuration %+v, %v", c, err)
	}
}

func TestNPY(t *testing.T) {
	f := folder(t, "empty")
	want := []float64{1, 2, 3, -4, 0.1, 1e300}
	testkit.OK(f.WriteArray(runs.OmegaFile, want, 2, 3))
	file, err := os.ReadFile(f.Path(runs.OmegaFile))
	if err != nil || !bytes.Contains(file, []byte("'shape': (2, 3)")) {
		t.Errorf("omega.npy is %q, %v; want the shape 2, 3", file, err)
	}
	testkit.OK(f.WriteArray(runs.LambdaFile, want, 6))
	got := testkit.Get(f.ReadLambda())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := f.WriteArray(runs.LambdaFile, want, 5); !errors.Is(err, dsbo.ErrShape) ||
		!strings.Contains(err.Error(), "6 numbers in the shape [5]") {
		t.Errorf("%v, want that 6 numbers are not 5", err)
	}
}

// TestLock: one run at a time has a folder, and another one after it.
func TestLock(t *testing.T) {
	f := folder(t, "absent")
	first := testkit.Get(f.Lock())
	switch second, err := f.Lock(); {
	case runtime.GOOS == "windows":
		t.Skip("no locks here")
	case err == nil:
		t.Error("two runs have one folder", second.Close())
	case !strings.Contains(err.Error(), "another process"):
		t.Error(err)
	}
	testkit.OK(first.Close())
	testkit.OK(testkit.Get(f.Lock()).Close())
}
