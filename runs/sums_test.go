package runs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

// TestDamage: a flipped bit anywhere in any file that a folder lists is named; one in the digests
// of the list makes a file differ too.
func TestDamage(t *testing.T) {
	f := Folder(t.TempDir())
	testkit.OK(f.WriteConfig(Config{Format: Format, Build: ThisBuild()}))
	testkit.OK(f.WriteArray(LambdaFile, []float64{1, 2, 3}, 3))
	testkit.OK(f.WriteSummary(Summary{State: Finished}))
	m := testkit.Get(f.OpenMetrics())
	testkit.OK(m.Truncate())
	testkit.OK(m.Write(Record{Iteration: 1}))
	testkit.OK(m.Close())
	testkit.OK(f.Verify())
	list := testkit.Get(listedSums(f))
	if len(list) != 4 {
		t.Fatalf("%d files are listed, want 4", len(list))
	}
	for _, name := range []string{ConfigFile, LambdaFile, SummaryFile, MetricsFile, SumsFile} {
		path := f.Path(name)
		whole := testkit.Get(os.ReadFile(path))
		for at := 0; at < len(whole); at += 1 + len(whole)/20 {
			flipped := slices.Clone(whole)
			flipped[at] ^= 1
			testkit.OK(os.WriteFile(path, flipped, 0o666))
			err := f.Verify()
			if name == SumsFile && err == nil {
				continue // in the name of a file, or the case of a digit
			}
			if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), path) && name != SumsFile {
				t.Fatalf("%s: byte %d was changed: %v, want an error that names the file", name, at, err)
			}
		}
		testkit.OK(os.WriteFile(path, whole, 0o666))
	}
	testkit.OK(f.Verify())
	testkit.OK(os.Remove(f.Path(SumsFile)))
	if err := f.Verify(); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), SumsFile) {
		t.Errorf("the list was removed: %v, want an error that names it", err)
	}
	testkit.WantError(t, "ended", CheckListed(f), dsbo.ErrConfig, "must list the files")
	testkit.OK(os.WriteFile(f.Path(ConfigFile), []byte("{}"), 0o666))
	testkit.OK(CheckListed(f)) // of a format without a list
}

// TestSumsSurviveCrashes: whenever the machine stops as a listed file is written, replaced or
// appended to, what is left is whole.
func TestSumsSurviveCrashes(t *testing.T) {
	dir := t.TempDir()
	m := testkit.NewMemory()
	testkit.OK(m.MkdirAll(dir))
	for above := dir; above != filepath.Dir(above); above = filepath.Dir(above) {
		testkit.OK(m.SyncDir(filepath.Dir(above)))
	}
	unmount := files.Mount(dir, m)
	t.Cleanup(unmount)
	f, states := Folder(dir), map[string]*testkit.Memory{}
	m.Changed = func(string) {
		for s := range m.States() {
			states[s.Digest()] = s
		}
	}
	for _, text := range []string{"old", "new", "newest"} {
		testkit.OK(f.WriteFile("file", []byte(text)))
		metrics := testkit.Get(f.OpenMetrics())
		testkit.OK(metrics.Truncate())
		testkit.OK(metrics.Write(Record{}))
		testkit.OK(metrics.Close())
	}
	m.Changed = nil
	if len(states) < 50 {
		t.Errorf("%d states alone", len(states))
	}
	for _, s := range states {
		back := files.Mount(dir, s)
		if err := f.Verify(); err != nil {
			t.Error(err)
		}
		if data, err := f.ReadFile("file"); err == nil &&
			!slices.Contains([]string{"old", "new", "newest"}, string(data)) {
			t.Errorf("file holds %q", data)
		}
		back()
	}
}

func FuzzParseSums(f *testing.F) {
	const digest = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	f.Add([]byte(digest + "  lambda.npy\n"))
	f.Add([]byte(digest + " *lambda.npy\n"))
	f.Add([]byte(digest + "  ../lambda.npy\n" + digest))
	for _, text := range []string{digest + "00  a\n", digest[2:] + "  a\n", digest[2:] + "zz  a\n", digest + "  \n",
		digest + "\n", digest + "  a", digest + "  b/a\n", "\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parseSums(text)
		if err != nil {
			return
		}
		again := ""
		for _, s := range list {
			if again += fmt.Sprintf("%x  %s\n", s.digest, s.name); s.name != filepath.Base(s.name) {
				t.Errorf("%q is not beside the list", s.name)
			}
		}
		if !strings.EqualFold(again, string(text)) {
			t.Errorf("%q is read as %q", text, again)
		}
	})
}
