package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/runs/report"
)

func TestAgents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		more  map[string]any
		flags []string
	}{
		{"ring", nil, nil},
		// A graph that the cluster file gives as a matrix has the bits of the same graph by name.
		{"a matrix", map[string]any{"W": [][]float64{{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.25, 0.25, 0.5}}}, nil},
		{"star and a seed", map[string]any{"graph": "star", "seed": 5}, []string{"-graph=star", "-seed=5"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.more != nil {
				testkit.Long(t, "another cluster file")
			}
			dir := t.TempDir()
			file, certs, out := writeCertified(t, dir, 3, tt.more)
			command := run
			if tt.more != nil {
				command = withoutPage
			}
			stdout, stderr := atOnce(t, 3, command, func(i int) []string {
				return []string{"agent", fmt.Sprint("-agent=", i), "-cluster=" + file, "-out=" + out, "-certs=" + certs,
					"-log=json"}
			})
			same(t, out, alone(t, dir, append(tt.flags, "-agents=3")...), 3)
			if tt.more != nil {
				return
			}
			if !strings.Contains(stdout[0], "\nλ tuned ") || !strings.Contains(stdout[1], "\nλ tuned ") {
				t.Errorf("stdout of agents 0 and 1:\n%s\n%s", stdout[0], stdout[1])
			}
			for i, text := range stdout {
				page := filepath.Join(out, fmt.Sprintf("agent-%d", i), report.PageFile)
				if info, err := os.Stat(page); err != nil || info.Size() == 0 || !strings.Contains(text, page) {
					t.Errorf("agent %d says nothing of its page, or has none: %v\n%s", i, err, text)
				}
			}
			for i, text := range stderr {
				for line := range strings.Lines(text) {
					var entry struct {
						Msg   string
						Agent *int
					}
					if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg == "" ||
						entry.Agent == nil || *entry.Agent != i {
						t.Fatalf("agent %d logs %q (%v)", i, line, err)
					}
				}
			}
			// The same command again finds all done, and waits for nobody.
			runCommand(t, "agent", "-agent=1", "-cluster="+file, "-out="+out, "-certs="+certs)
			// An agent that does not know that all are done waits for the others.
			for _, path := range testkit.Get(filepath.Glob(filepath.Join(out, "agent-*", runs.MembershipFile))) {
				testkit.OK(os.Remove(path))
			}
			agents(t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet")
			// The folder is this run's alone.
			other := writeCluster(t, t.TempDir(), 3, map[string]any{"seed": 7})
			wantError(t, run(t.Context(), []string{"agent", "-agent=1", "-cluster=" + other, "-out=" + out}, io.Discard,
				io.Discard), cli.Usage, "agent-1 holds another run")
		})
	}
}

// TestAgentsFromBestStart: agents that look for their start together, with masks, find the constant
// of a run in one process, and end with its bits.
func TestAgentsFromBestStart(t *testing.T) {
	t.Parallel()
	flags := []string{"-best-start", "-rivals=false", "-algorithm=dsoba", "-alpha=0.1"}
	dir := t.TempDir()
	file, certs, out := writeCertified(t, dir, 3, map[string]any{"flags": append(slices.Clip(small), flags...)})
	agents(t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet")
	one := alone(t, dir, append(flags, "-agents=3")...)
	same(t, out, one, 3)
	start := testkit.Get(runs.Folder(one).ReadConfig())
	for i := range 3 {
		c := testkit.Get(runs.Folder(filepath.Join(out, fmt.Sprintf("agent-%d", i))).ReadConfig())
		if !c.X0Best || c.X0 != start.X0 || c.X0 == 0 {
			t.Errorf("agent %d starts at %g; the run in one process at %g, and not at 0", i, c.X0, start.X0)
		}
	}
}

func TestNumber(t *testing.T) {
	const slurm, job = "SLURM_PROCID", "JOB_COMPLETION_INDEX"
	for _, tt := range []struct {
		given string
		env   map[string]string
		want  int
		err   string
	}{
		{given: "3", env: map[string]string{slurm: "1"}, want: 3},
		{env: map[string]string{slurm: "1", job: "2"}, want: 1},
		{env: map[string]string{job: "2"}, want: 2},
		{err: "-agent is required, 0 to 3, as neither $SLURM_PROCID nor $JOB_COMPLETION_INDEX is set"},
		{given: "4", err: "-agent must be an agent of the cluster file, 0 to 3; it is 4"},
		{given: "-1", err: "-agent must be an agent of the cluster file, 0 to 3; it is -1"},
		{env: map[string]string{slurm: "4"},
			err: "$SLURM_PROCID must be an agent of the cluster file, 0 to 3; it is 4"},
		{env: map[string]string{job: "x"},
			err: "$JOB_COMPLETION_INDEX must be an agent of the cluster file, 0 to 3; it is x"},
	} {
		for _, v := range numberVariables {
			t.Setenv(v, tt.env[v])
		}
		got, err := agentNumber(tt.given, 4)
		if tt.err == "" && (err != nil || got != tt.want) {
			t.Errorf("%q, %v: %d, %v, want %d", tt.given, tt.env, got, err, tt.want)
		}
		if tt.err != "" {
			wantError(t, err, cli.Usage, tt.err)
		}
	}
}
