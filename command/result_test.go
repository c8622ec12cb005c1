package command

import (
	"bytes"
	"path/filepath"
	"testing"

	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestResultOfAnother: an agent that comes when the others have finished and gone ends with the
// result in the folder of one of them, and so do further starts.
func TestResultOfAnother(t *testing.T) {
	dir := t.TempDir()
	file := writeCluster(t, dir, 3, map[string]any{"quorum": 2, "absent_after": "1m"})
	c := testkit.Get(site.LoadCluster(file, testProgram().checkTask))
	finished := func(name, hash string) string {
		out := alone(t, filepath.Join(dir, name), "-agents=3", "-graph=complete")
		testkit.OK(runs.Folder(out).WriteMembership(runs.Membership{Run: c.Run, Hash: hash, Agents: 3}))
		return out
	}
	from := finished("own", c.Hash())
	late := func(from string) []string {
		return []string{"agent", "-agent=1", "-cluster=" + file, "-insecure", "-out=" + filepath.Join(dir, "out"),
			"-result=" + from}
	}
	for want, from := range map[string]string{
		"must be of run":  finished("other", "another"),
		"it holds no run": dir + "/none",
	} {
		_, err := command(t, late(from)...)
		wantError(t, err, cli.Usage, want)
	}
	runCommand(t, late(from)...)
	own := runs.Folder(filepath.Join(dir, "out", "agent-1"))
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
		if !bytes.Equal(testkit.Get(own.ReadFile(name)), testkit.Get(runs.Folder(from).ReadFile(name))) {
			t.Errorf("%s must be that of the other agent", name)
		}
	}
	runCommand(t, late(from)[:5]...) // it knows that the run is finished
	runCommand(t, "report", string(own))
}
