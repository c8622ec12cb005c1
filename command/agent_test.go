package command

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/internal/cli"
	"dsbo/runs"
)

func TestAgents(t *testing.T) {
	for _, tt := range []struct {
		name  string
		more  map[string]any
		flags []string
	}{
		{"ring", nil, nil},
		{"star and a seed", map[string]any{"graph": "star", "seed": 5}, []string{"-graph=star", "-seed=5"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file, certs, out := writeCluster(t, dir, 3, tt.more), filepath.Join(dir, "certs"), filepath.Join(dir, "out")
			runCommand(t, "pki", "-cluster="+file, "-out="+certs)
			stdout, stderr := agents(t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-log=json")
			same(t, out, alone(t, dir, append(tt.flags, "-agents=3")...), 3)
			if !strings.Contains(stdout[0], "\nλ tuned ") || stdout[1] != "" {
				t.Errorf("stdout of agents 0 and 1:\n%s\n%s", stdout[0], stdout[1])
			}
			for i, text := range stderr {
				for line := range strings.Lines(text) {
					var entry struct {
						Msg   string
						Agent *int
					}
					if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg == "" || entry.Agent == nil || *entry.Agent != i {
						t.Fatalf("agent %d logs %q (%v)", i, line, err)
					}
				}
			}
			// The same command again finds all done, and waits for nobody.
			runCommand(t, "agent", "-agent=1", "-cluster="+file, "-out="+out, "-certs="+certs)
			// An agent that does not know that all are done waits for the others.
			memberships := value(filepath.Glob(filepath.Join(out, "agent-*", runs.MembershipFile)))(t)
			for _, path := range memberships {
				must(t, os.Remove(path))
			}
			agents(t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet")
			// The folder is this run's alone.
			other := writeCluster(t, t.TempDir(), 3, map[string]any{"seed": 7})
			_, err := command(t, "agent", "-agent=1", "-cluster="+other, "-out="+out, "-quiet")
			wantError(t, err, cli.Usage, "agent-1 holds another run")
		})
	}
}

// A graph that the cluster file gives as a matrix is that of the run, whose bits are those of the same graph by name.
func TestAgentsOnAMatrix(t *testing.T) {
	dir := t.TempDir()
	file := writeCluster(t, dir, 3, map[string]any{"W": [][]float64{{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.25, 0.25, 0.5}}})
	out := filepath.Join(dir, "out")
	_, stderr := agents(t, 3, "-cluster="+file, "-out="+out, "-quiet")
	same(t, out, alone(t, dir, "-agents=3"), 3)
	if text := strings.Join(stderr, ""); text != "" {
		t.Errorf("quiet agents log %s", text)
	}
}

// An agent that is stopped, while the others wait, resumes.
func TestInterruptedAgent(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 2, nil), filepath.Join(dir, "out")
	args := []string{"agent", "-cluster=" + file, "-out=" + out, "-log=json"}
	other := make(chan error, 1)
	go func() { other <- run(t.Context(), append(args, "-agent=1"), io.Discard, io.Discard) }()

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err := run(ctx, append(args, "-agent=0"), io.Discard, &stopAt{text: "iteration 3 ", stop: stop})
	wantError(t, err, cli.Interrupted, "the same command goes on")
	if _, err := os.Stat(filepath.Join(out, "agent-0", runs.MembershipFile)); err == nil {
		t.Error("the folder of an agent that was stopped says that all have finished")
	}
	runCommand(t, append(args, "-agent=0")...)
	must(t, <-other)
	same(t, out, alone(t, dir, "-agents=2"), 2)
}

// stopAt is a stderr that ends a context at the first line with a text.
type stopAt struct {
	text string
	stop context.CancelFunc
}

func (s *stopAt) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(s.text)) {
		s.stop()
	}
	return len(p), nil
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
		{env: map[string]string{slurm: "4"}, err: "$SLURM_PROCID must be an agent of the cluster file, 0 to 3; it is 4"},
		{env: map[string]string{job: "x"}, err: "$JOB_COMPLETION_INDEX must be an agent of the cluster file, 0 to 3; it is x"},
	} {
		got, err := number(tt.given, 4, func(name string) string { return tt.env[name] })
		if tt.err == "" && (err != nil || got != tt.want) {
			t.Errorf("%q, %v: %d, %v, want %d", tt.given, tt.env, got, err, tt.want)
		}
		if tt.err != "" {
			wantError(t, err, cli.Usage, tt.err)
		}
	}
}
