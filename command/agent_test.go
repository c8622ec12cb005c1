package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/runs"
	"dsbo/tasks"
)

// small are flags of a run of the synthetic task that takes a moment.
var small = strings.Fields("-p=4 -train=30 -val=30 -test=20 -K=6 -T=2 -N=2 -refit=60")

// writeCluster writes a cluster file of n agents on free ports of this machine.
func writeCluster(t *testing.T, dir string, n int, more map[string]any) string {
	t.Helper()
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		addresses = append(addresses, l.Addr().String())
	}
	file := map[string]any{"run": "small", "agents": addresses, "task": "synthetic", "flags": small}
	for k, v := range more {
		file[k] = v
	}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "c.json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// alone runs the same task in this process alone and returns its folder.
func alone(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	out := filepath.Join(dir, "alone")
	j, err := experiment.Parse(tasks.Synthetic(), append(append([]string{"-r=1", "-quiet", "-report=false", "-out=" + out}, small...), flags...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Run(t.Context(), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out
}

// agents runs all agents, each as the command would, and returns what they wrote to stdout and stderr.
func agents(ctx context.Context, t *testing.T, n int, args ...string) (stdout, stderr []string) {
	t.Helper()
	outs, errs := make([]bytes.Buffer, n), make([]bytes.Buffer, n)
	failed := make([]error, n)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range n {
		wg.Go(func() {
			failed[i] = run(ctx, append([]string{"agent", fmt.Sprintf("-agent=%d", i)}, args...), &outs[i], &errs[i])
			if failed[i] != nil {
				cancel() // the others would wait for it
			}
		})
	}
	wg.Wait()
	for i := range n {
		if failed[i] != nil && !errors.Is(failed[i], context.Canceled) {
			t.Fatalf("agent %d: %v\n%s", i, failed[i], errs[i].String())
		}
		stdout, stderr = append(stdout, outs[i].String()), append(stderr, errs[i].String())
	}
	return stdout, stderr
}

// same checks that each agent's metrics, λ and model are those of a run in one process.
func same(t *testing.T, out, want string, n int) {
	t.Helper()
	for i := range n {
		sameRun(t, filepath.Join(out, fmt.Sprintf("agent-%d", i)), want)
	}
}

// sameRun checks that a run folder has the metrics, λ and model of another.
func sameRun(t *testing.T, got, want string) {
	t.Helper()
	if diff, err := experimenttest.Difference(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v %s", got, err, diff)
	}
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
		a, err := os.ReadFile(filepath.Join(want, name))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(got, name)); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s has another %s (%v)", got, name, err)
		}
	}
}

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
			if err := run(t.Context(), []string{"pki", "-cluster=" + file, "-out=" + certs}, io.Discard, io.Discard); err != nil {
				t.Fatal(err)
			}
			stdout, stderr := agents(t.Context(), t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-log=json")
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
			if err := run(t.Context(), []string{"agent", "-agent=1", "-cluster=" + file, "-out=" + out, "-certs=" + certs}, io.Discard, io.Discard); err != nil {
				t.Error(err)
			}
			// One that does not know that all are done waits for the others.
			for i := range 3 {
				if err := os.Remove(filepath.Join(out, fmt.Sprintf("agent-%d", i), runs.MembershipFile)); err != nil {
					t.Fatal(err)
				}
			}
			agents(t.Context(), t, 3, "-cluster="+file, "-out="+out, "-certs="+certs, "-quiet")
			// The folder is this run's alone.
			other := writeCluster(t, t.TempDir(), 3, map[string]any{"seed": 7})
			err := run(t.Context(), []string{"agent", "-agent=1", "-cluster=" + other, "-out=" + out, "-quiet"}, io.Discard, io.Discard)
			if cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "agent-1 holds another run") {
				t.Errorf("another run in the same folder: %v", err)
			}
		})
	}
}

// A graph that the cluster file gives whole is that of the run, whose bits are those of the same graph by name.
func TestAgentsOnAMatrix(t *testing.T) {
	dir := t.TempDir()
	file := writeCluster(t, dir, 3, map[string]any{"W": [][]float64{{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.25, 0.25, 0.5}}})
	out := filepath.Join(dir, "out")
	_, stderr := agents(t.Context(), t, 3, "-cluster="+file, "-out="+out, "-quiet")
	same(t, out, alone(t, dir, "-agents=3"), 3)
	for i, text := range stderr {
		if text != "" {
			t.Errorf("agent %d says %s", i, text)
		}
	}
}

// An agent that is stopped, while the others wait, goes on from where it was.
func TestInterruptedAgent(t *testing.T) {
	dir := t.TempDir()
	file, out := writeCluster(t, dir, 2, nil), filepath.Join(dir, "out")
	args := []string{"agent", "-cluster=" + file, "-out=" + out, "-log=json"}
	other := make(chan error, 1)
	go func() { other <- run(t.Context(), append(args, "-agent=1"), io.Discard, io.Discard) }()

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	err := run(ctx, append(args, "-agent=0"), io.Discard, &breaker{text: "iteration 3 ", end: stop})
	if cli.Code(err) != cli.Interrupted {
		t.Fatalf("error %v, want one of an interrupt", err)
	}
	if _, err := os.Stat(filepath.Join(out, "agent-0", runs.MembershipFile)); err == nil {
		t.Error("an agent that was stopped says that it has come to its end")
	}
	if err := run(t.Context(), append(args, "-agent=0"), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := <-other; err != nil {
		t.Fatal(err)
	}
	same(t, out, alone(t, dir, "-agents=2"), 2)
}

// A breaker takes stderr and ends a context at the first line with a text.
type breaker struct {
	text string
	end  context.CancelFunc
}

func (b *breaker) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(b.text)) {
		b.end()
	}
	return len(p), nil
}

func TestNumber(t *testing.T) {
	for _, tt := range []struct {
		given int
		is    bool
		env   map[string]string
		want  int
		err   string
	}{
		{given: 3, is: true, env: map[string]string{"SLURM_PROCID": "1"}, want: 3},
		{given: -1, env: map[string]string{"SLURM_PROCID": "1", "JOB_COMPLETION_INDEX": "2"}, want: 1},
		{given: -1, env: map[string]string{"JOB_COMPLETION_INDEX": "2"}, want: 2},
		{given: -1, err: "-agent is required, 0 to 3, as neither $SLURM_PROCID nor $JOB_COMPLETION_INDEX is set"},
		{given: 4, is: true, err: "-agent must be an agent of the cluster file, 0 to 3; it is 4"},
		{given: -1, is: true, err: "-agent must be an agent of the cluster file, 0 to 3; it is -1"},
		{given: -1, env: map[string]string{"SLURM_PROCID": "4"}, err: "$SLURM_PROCID must be an agent of the cluster file, 0 to 3; it is 4"},
		{given: -1, env: map[string]string{"JOB_COMPLETION_INDEX": "x"}, err: "$JOB_COMPLETION_INDEX must be an agent of the cluster file, 0 to 3; it is x"},
	} {
		got, err := number(tt.given, tt.is, 4, func(name string) string { return tt.env[name] })
		if tt.err == "" && (err != nil || got != tt.want) {
			t.Errorf("%d, %v: %d, %v, want %d", tt.given, tt.env, got, err, tt.want)
		}
		if tt.err != "" && (cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%d, %v: %v, want %s", tt.given, tt.env, err, tt.err)
		}
	}
}
