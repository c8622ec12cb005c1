package command

import (
	"os"
	"path/filepath"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// flip changes a bit in the middle of a file.
func flip(path string) {
	data := testkit.Get(os.ReadFile(path))
	data[len(data)/2] ^= 1
	testkit.OK(os.WriteFile(path, data, 0o666))
}

// TestDamagedFileIsNamed: whichever file of a run is damaged, the verbs that read the run say so
// and name it.
func TestDamagedFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	file, agentsOut, one := writeCluster(t, dir, 2, nil), filepath.Join(dir, "agents"), alone(t, t.TempDir())
	agents(t, 2, "-cluster="+file, "-out="+agentsOut, "-few-sites", "-quiet")
	for _, name := range []string{runs.ConfigFile, runs.MetricsFile, runs.SummaryFile, runs.LambdaFile,
		runs.OmegaFile} {
		for verb, c := range map[string]struct {
			from, damaged string // the folder, and the run in it that is damaged
			args          func(out string) []string
		}{
			"report": {one, "", func(out string) []string { return []string{"report", out} }},
			"collect": {agentsOut, "agent-1", func(out string) []string {
				return []string{"collect", "-out", filepath.Join(out, "all"), filepath.Join(out, "agent-0"),
					filepath.Join(out, "agent-1")}
			}},
			"resume": {one, "", func(out string) []string { return []string{"synthetic", "-resume", "-out", out} }},
		} {
			t.Run(verb+" "+name, func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "run")
				testkit.OK(os.CopyFS(out, os.DirFS(c.from)))
				if verb == "resume" && name != runs.SummaryFile {
					testkit.OK(os.Remove(filepath.Join(out, runs.SummaryFile))) // as of a run that was killed
				}
				flip(filepath.Join(out, c.damaged, name))
				_, err := command(t, c.args(out)...)
				wantError(t, err, cli.Usage, filepath.Join(out, c.damaged, name)+" is damaged or was changed")
			})
		}
	}
}
